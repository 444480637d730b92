"""A pause of work that has no end: it is cut, and goes on when the pause is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

CUT_WITHIN: Final = timedelta(seconds=2)
"""How long a pause waits for what it cut to be gone; a platform that is stalled may keep a connection from closing."""


class Pause:
    """Work goes on outside of `hold`."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._over.set()
        self._working: set[asyncio.Task[None]] = set()

    async def over(self) -> None:
        """Wait until work may go on."""
        await self._over.wait()

    async def interrupt(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do `work` until a pause begins. Errors: those of `work`, in a group."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work())
            self._working.add(task)
            task.add_done_callback(self._working.discard)
            await self._begun.wait()
            task.cancel()

    @asynccontextmanager
    async def hold(self, within: timedelta = CUT_WITHIN) -> AsyncIterator[None]:
        """Inside the block there is a pause. It begins once the work was cut, or `within` this time."""
        self._over.clear()
        self._begun.set()
        try:
            if self._working:
                await asyncio.wait(self._working, timeout=within.total_seconds())
            yield
        finally:
            self._begun.clear()
            self._over.set()
