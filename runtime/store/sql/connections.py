"""Connections to PostgreSQL that may go silent, as when a firewall forgets them or a machine is gone.

Such a connection stays open for many minutes. Whoever waits on one for too long ends it, and with it all that are open,
since they lead the same way: the next operation makes a new one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

import asyncpg

FRESH_SECONDS: Final = 1.0
"""Seconds: an operation that began later than so long ago is no sign that its connection is silent."""
IDLE_SECONDS: Final = 60.0
"""Seconds after which one that nobody needed goes back to the pool, which closes it some minutes later."""
PATIENCE_FACTOR: Final = 1.4
"""A silent connection is ended after so many times the patience: by then the server would have dropped the statement."""


class Ways:
    """The connections of one pool: those that are in use, and since when, and those at hand for the next operation.

    They stay ours between two operations, at most `most`: to hand one back and ask for it again costs more than many a
    statement does. The newest is used first, so that the others may go.
    """

    def __init__(self, pool: asyncpg.Pool[Any], most: int) -> None:
        self.used: dict[Any, float] = {}
        self._pool = pool
        self._idle: deque[tuple[Any, float]] = deque()
        self._free = asyncio.Semaphore(most)

    async def take(self, within: float) -> Any:
        """Errors: TimeoutError when none is to be had in time."""
        if self._free.locked():
            async with asyncio.timeout(within):
                await self._free.acquire()
        else:
            await self._free.acquire()
        try:
            while self._idle:
                connection, _ = self._idle.pop()
                if is_open(connection):
                    return connection
            async with asyncio.timeout(within):
                return await self._pool.acquire()
        except BaseException:
            self._free.release()
            raise

    async def give_back(self, connection: Any) -> None:
        try:
            now = asyncio.get_running_loop().time()
            if is_open(connection):
                self._idle.append((connection, now))
            else:
                await self._pool.release(connection)
            if self._idle and now - self._idle[0][1] > IDLE_SECONDS:
                await self._pool.release(self._idle.popleft()[0])
        finally:
            self._free.release()

    async def expire(self) -> None:
        """None that is open now is used again."""
        await self._pool.expire_connections()
        while self._idle:
            end(self._idle.pop()[0])

    async def are_silent(self) -> None:
        """One of them did not answer in time: no other that waits for long is waited for, and none is used again."""
        await self.expire()
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection, since in list(self.used.items()):
            if now - since > FRESH_SECONDS:
                end(connection)
            else:  # it may have been at hand since before the silence, and a report would wait on it for long
                loop.call_later(FRESH_SECONDS - (now - since), self._end_unanswered, connection, since)

    def _end_unanswered(self, connection: Any, since: float) -> None:
        if self.used.get(connection) == since:
            end(connection)

    async def close(self) -> None:
        while self._idle:
            await self._pool.release(self._idle.pop()[0])
        await self._pool.close()


def is_open(connection: Any) -> bool:
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:  # it ended, and the pool has taken it back
        return False


def end(connection: Any) -> None:
    with suppress(asyncpg.InterfaceError):  # it has ended
        connection.terminate()


class Way:
    """A connection for one operation. After `within` seconds the server is told to drop what it does; a little later, the
    connection is ended."""

    def __init__(self, ways: Ways, within: float) -> None:
        self._ways = ways
        self._within = within
        self._connection: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_dropped = self._is_silent = False

    async def __aenter__(self) -> Any:
        """Errors: TimeoutError when none is to be had in time."""
        self._connection = await self._ways.take(self._within)
        loop = asyncio.get_running_loop()
        self._ways.used[self._connection] = loop.time()
        self._timer = loop.call_later(self._within, self._drop)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Whoever is told to end does not wait for a server that may be silent; and what is to be dropped could be the next.
        if kind is asyncio.CancelledError or self._is_dropped:
            end(self._connection)
        self._ways.used.pop(self._connection, None)
        try:
            await self._ways.give_back(self._connection)
        finally:
            if self._timer:
                self._timer.cancel()
        if self._is_silent:
            await self._ways.are_silent()
            raise TimeoutError(f"no answer within {self._within * PATIENCE_FACTOR:.1f} s") from error

    def _drop(self) -> None:
        self._is_dropped = True
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._within * (PATIENCE_FACTOR - 1), self._end)
        if is_open(self._connection):
            self._connection.drop_statement()

    def _end(self) -> None:
        self._is_silent = True
        end(self._connection)
