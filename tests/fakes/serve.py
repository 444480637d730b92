"""Ways to run a fake server: inside a test, or as a separate process that a test may kill."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from tests.fakes.forked import Forked, forked

ROOT = Path(__file__).parents[2]
"""Where `python -m tests.fakes.…` finds its modules."""


@asynccontextmanager
async def serving(app: web.Application, port: int = 0) -> AsyncIterator[str]:
    """Serve `app` on this machine alone; gives its URL without a slash at the end."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def serve_until_told(app: web.Application, port: int) -> None:
    """Print the URL as the first line, then serve until SIGTERM or SIGINT."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    async with serving(app, port) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await told.wait()


@asynccontextmanager
async def spawned(module: str, *arguments: str) -> AsyncIterator[tuple[Forked, str]]:
    """Run `python -m module` and give the process and the URL it prints; it is killed at the end."""
    async with forked(module, *arguments, folder=ROOT) as process:
        async with asyncio.timeout(20):
            url = (await process.stdout.readline()).decode().strip()
        if not url:
            raise RuntimeError(f"{module} ended before it printed its URL")
        yield process, url


def abort(request: web.Request) -> web.Response:
    """Cut the connection under `request` without an answer, as a dying network does."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
