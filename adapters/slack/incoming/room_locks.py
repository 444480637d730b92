"""One thing at a time in each room, in the order it came."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class RoomLocks:
    """Of all rooms. A room that nobody waits for leaves nothing behind."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: Counter[str] = Counter()

    @asynccontextmanager
    async def of(self, room: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(room, asyncio.Lock())
        self._wanted[room] += 1
        try:
            async with lock:
                yield
        finally:
            self._wanted[room] -= 1
            if not self._wanted[room]:
                del self._wanted[room], self._locks[room]
