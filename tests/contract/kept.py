"""Connections to PostgreSQL that outlive a test: a new one costs the server and us more than most tests do on theirs.

A connection belongs to its event loop, so that one is kept too. All else of it goes as a loop does that is closed: tasks,
timers, sockets and signal handlers of one test are nothing to the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor
from typing import Any, Final

import asyncpg

SPARE_POOLS: Final = 2
"""Pools that wait for the next test; one that opens more stores at once makes its own."""

OpenPool = Callable[..., Awaitable["asyncpg.Pool[Any]"]]


class KeptLoop(asyncio.SelectorEventLoop):
    """An event loop that `close` only empties, so that it can be run again; `end` closes it."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        """The database to which connections are kept."""
        self.spare: list[asyncpg.Pool[Any]] = []

    def close(self) -> None:
        if self.is_running():
            raise RuntimeError("a running loop cannot be closed")
        for number in list(self._signal_handlers):  # type: ignore[attr-defined]  # of the loop on Unix
            self.remove_signal_handler(number)
        self._forget_sockets()
        for timer in self._scheduled:  # type: ignore[attr-defined]
            timer._scheduled = False
        self._scheduled.clear()  # type: ignore[attr-defined]
        self._ready.clear()  # type: ignore[attr-defined]
        executor: Executor | None = self._default_executor  # type: ignore[has-type]
        if executor is not None:
            executor.shutdown(wait=False)
        self._default_executor = None
        self._executor_shutdown_called = self._asyncgens_shutdown_called = False

    def end(self) -> None:
        for pool in self.spare:
            self.run_until_complete(pool.close())
        super().close()

    def _forget_sockets(self) -> None:
        """Of a transport that a test left open nothing else knows, so that it is told as left open."""
        kept = {self._ssock.fileno(), *(number for pool in self.spare for number in _sockets(pool))}  # type: ignore[attr-defined]
        for key in list(self._selector.get_map().values()):  # type: ignore[attr-defined]
            if key.fd not in kept:
                self._selector.unregister(key.fileobj)  # type: ignore[attr-defined]


def _sockets(pool: asyncpg.Pool[Any]) -> Iterator[int]:
    for holder in _holders(pool):
        if holder._con is not None:
            yield holder._con._transport.get_extra_info("socket").fileno()


def _holders(pool: asyncpg.Pool[Any]) -> list[Any]:
    """Of each connection the one who knows if it is used: asyncpg tells nobody else."""
    holders: list[Any] = pool._holders  # type: ignore[attr-defined]
    return holders


class Lent:
    """A pool as a test has it: what the test closes goes back to the spare ones once nothing of it is used."""

    def __init__(self, pool: asyncpg.Pool[Any], spare: list[asyncpg.Pool[Any]]) -> None:
        self._pool = pool
        self._spare = spare
        self._is_back = False

    def __getattr__(self, name: str) -> Any:
        if self._is_back:
            raise asyncpg.InterfaceError("pool is closed")
        return getattr(self._pool, name)

    async def close(self) -> None:
        """As the pool's own. Errors: CancelledError, once every connection is ended."""
        if self._is_back:
            return
        if len(self._spare) < SPARE_POOLS:
            await self._give_back()
        else:
            await self._pool.close()

    async def _give_back(self) -> None:
        try:
            await asyncio.gather(*(holder.wait_until_released() for holder in _holders(self._pool)))
        except asyncio.CancelledError:
            self.terminate()
            raise
        self._is_back = True
        self._spare.append(self._pool)

    def terminate(self) -> None:
        if not self._is_back:
            self._pool.terminate()


def lending(open_pool: OpenPool) -> OpenPool:
    """`open_pool`, but on a kept loop a spare pool of it if there is one."""

    async def lend(url: str, **more: Any) -> asyncpg.Pool[Any]:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, KeptLoop) or url != loop.url:
            return await open_pool(url, **more)
        pool = loop.spare.pop() if loop.spare else await open_pool(url, **more)
        return Lent(pool, loop.spare)  # type: ignore[return-value]  # it has all of a pool

    return lend
