"""Ways to run a fake server as a separate process that a test may kill."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.fakes.forked import Forked, forked

ROOT = Path(__file__).parents[2]
"""Where `python -m tests.fakes.…` finds its modules."""


@asynccontextmanager
async def spawned(module: str, *arguments: str) -> AsyncIterator[tuple[Forked, str]]:
    """Run `python -m module` and give the process and the URL it prints; it is killed at the end."""
    async with forked(module, *arguments, folder=ROOT) as process:
        async with asyncio.timeout(20):
            url = (await process.stdout.readline()).decode().strip()
        if not url:
            raise RuntimeError(f"{module} ended before it printed its URL")
        yield process, url
