"""What is kept for the next test on PostgreSQL: connections, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest

from runtime.store.sql.postgres import open_pool
from tests.contract.database import EmptyDatabase
from tests.contract.kept import KeptLoop, lending


@pytest.fixture
def loop(database: EmptyDatabase) -> Iterator[KeptLoop]:
    loop = KeptLoop(database.emptied())
    yield loop
    loop.end()


async def process_of(pool: asyncpg.Pool[Any]) -> int:
    number: int = await pool.fetchval("SELECT pg_backend_pid()")
    return number


def test_what_one_test_closed_the_next_one_is_lent(loop: KeptLoop) -> None:
    async def one() -> int:
        pool = await lending(open_pool)(loop.url)
        number = await process_of(pool)
        await pool.close()
        with pytest.raises(asyncpg.InterfaceError):
            await process_of(pool)
        return number

    assert loop.run_until_complete(one()) == _then(loop, one())


def test_two_at_once_have_nothing_of_each_other(loop: KeptLoop) -> None:
    async def two() -> None:
        first, second = [await lending(open_pool)(loop.url) for _ in range(2)]
        assert await process_of(first) != await process_of(second)
        await first.close()
        await second.close()

    loop.run_until_complete(two())
    _then(loop, two())


def test_a_pool_that_is_used_is_not_given_back(loop: KeptLoop) -> None:
    async def leave() -> None:
        pool = await lending(open_pool)(loop.url)
        await pool.acquire()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await pool.close()
        pool.terminate()

    loop.run_until_complete(leave())
    assert not loop.spare


def test_timers_and_callbacks_of_one_test_are_nothing_to_the_next(loop: KeptLoop) -> None:
    came: list[str] = []

    async def leave() -> None:
        asyncio.get_running_loop().call_later(0.005, came.append, "timer")

    loop.run_until_complete(leave())
    loop.call_soon(came.append, "callback")
    _then(loop, asyncio.sleep(0.01))
    assert not came


def test_a_connection_that_a_test_left_open_is_told(loop: KeptLoop) -> None:
    one, other = socket.socketpair()

    async def leave() -> None:
        await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=one)

    loop.run_until_complete(leave())
    with pytest.warns(ResourceWarning, match="unclosed"):
        _then(loop, asyncio.sleep(0))
    other.close()


def _then(loop: KeptLoop, next_test: Any) -> Any:
    loop.close()
    gc.collect()
    return loop.run_until_complete(next_test)
