"""A process that is no node and does not become one ends, unless it is the store that keeps it from that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from bot.node.watchdog import Watchdog, last_end
from runtime.errors import StoreError

TICK = timedelta(seconds=0.01)
PATIENCE = timedelta(seconds=0.06)
LONG = 6 * PATIENCE.total_seconds()


class Store:
    away = False

    async def check(self) -> None:
        await asyncio.sleep(0)
        if self.away:
            raise StoreError("away")


class Watched:
    def __init__(self, place: Path) -> None:
        self.store = Store()
        self.codes: list[int] = []
        self.over = asyncio.Event()
        self.overdue: str | None = None
        self.dog = Watchdog(
            check=self.store.check,
            place=place,
            overdue=lambda: self.overdue,
            patience=PATIENCE,
            every=TICK,
            tells=TICK,
            end=self._end,
        )

    def _end(self, code: int) -> None:
        self.codes.append(code)
        self.over.set()


@asynccontextmanager
async def watched(place: Path) -> AsyncIterator[Watched]:
    made = Watched(place)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(made.dog.run())
        yield made
        task.cancel()


async def test_a_process_that_does_not_join_again_ends_and_says_why(tmp_path: Path) -> None:
    async with watched(tmp_path) as on:
        on.dog.lost()
        assert on.dog.reason is None
        async with asyncio.timeout(20):
            await on.over.wait()
        assert on.dog.reason
        assert "joining again" in on.dog.reason
    assert set(on.codes) == {1}
    ended = last_end(tmp_path)
    assert ended is not None
    assert ended.reason == on.dog.reason


async def test_a_process_that_never_tries_an_account_again_ends_and_says_which(tmp_path: Path) -> None:
    async with watched(tmp_path) as on:
        on.store.away, on.overdue = True, "web:main: The database cannot be reached."
        await asyncio.sleep(LONG)
        assert not on.codes
        on.store.away = False
        async with asyncio.timeout(20):
            await on.over.wait()
        assert on.dog.reason
        assert 'says "web:main: The database cannot be reached."' in on.dog.reason


async def test_one_that_joins_again_goes_on(tmp_path: Path) -> None:
    async with watched(tmp_path) as on:
        on.dog.lost()
        assert on.dog.trouble()
        on.dog.joined()
        await asyncio.sleep(LONG)
        assert on.dog.trouble() is None
    assert not on.codes


async def test_an_outage_of_the_store_never_counts(tmp_path: Path) -> None:
    async with watched(tmp_path) as on:
        on.store.away = True
        on.dog.lost()
        await asyncio.sleep(LONG)
        assert not on.codes
        assert on.dog.reason is None


async def test_a_process_that_never_lost_its_place_is_left_alone(tmp_path: Path) -> None:
    async with watched(tmp_path) as on:
        await asyncio.sleep(LONG)
    assert not on.codes
    assert last_end(tmp_path) is None
