"""Connections to PostgreSQL that may go silent, as when a firewall forgets them or a machine is gone.

Such a connection stays open for many minutes. Whoever waits on one for too long ends it, and with it all that are open,
since they lead the same way: the next operation makes a new one.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

import asyncpg

FRESH_SECONDS: Final = 1.0
"""Seconds: an operation that began later than so long ago is no sign that its connection is silent."""


class Ways:
    """The connections of one pool that are in use, and since when."""

    def __init__(self, pool: asyncpg.Pool[Any]) -> None:
        self.pool = pool
        self.used: dict[Any, float] = {}

    async def are_silent(self) -> None:
        """One of them did not answer in time: no other that waits for long is waited for, and none is used again."""
        await self.pool.expire_connections()
        now = asyncio.get_running_loop().time()
        for connection, since in list(self.used.items()):
            if now - since > FRESH_SECONDS:
                end(connection)


def end(connection: Any) -> None:
    with suppress(asyncpg.InterfaceError):  # it has ended
        connection.terminate()


class Way:
    """A connection for one operation, which ends the connection if it takes longer than `within` seconds."""

    def __init__(self, ways: Ways, within: float) -> None:
        self._ways = ways
        self._within = within
        self._connection: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_silent = False

    async def __aenter__(self) -> Any:
        """Errors: TimeoutError when none is to be had in time."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._within):
            self._connection = await self._ways.pool.acquire()
        self._ways.used[self._connection] = loop.time()
        self._timer = loop.call_later(self._within, self._end)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is asyncio.CancelledError:
            end(self._connection)  # whoever is told to end does not wait for a server that may be silent
        try:
            await self._ways.pool.release(self._connection)
        finally:
            if self._timer:
                self._timer.cancel()
            self._ways.used.pop(self._connection, None)
        if self._is_silent:
            await self._ways.are_silent()
            raise TimeoutError(f"no answer within {self._within:.1f} s") from error

    def _end(self) -> None:
        self._is_silent = True
        end(self._connection)
