"""Whoever notices that the clock was set: by how much, once, and again until what waits was moved."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from runtime.domain.clock import Jumps, steady
from runtime.errors import StoreError

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class World:
    """A clock that can be set, beside one that cannot; and what was moved."""

    def __init__(self) -> None:
        self.at, self.tick = START, 1000.0
        self.moved: list[timedelta] = []
        self.unseen: list[timedelta] = []
        self.away = False

    def now(self) -> datetime:
        return self.at

    def steady(self) -> float:
        return self.tick

    def passes(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.tick += seconds

    async def mend(self, by: timedelta, unseen: timedelta) -> None:
        if self.away:
            raise StoreError("The database is away.")
        await asyncio.sleep(0)
        self.moved.append(by)
        self.unseen.append(unseen)

    def jumps(self, last: datetime | None = None) -> Jumps:
        return Jumps(now=self.now, mend=self.mend, last=last, steady=self.steady)


async def test_two_looks_at_once_mend_a_jump_once() -> None:
    """One before questions end, beside that of each second."""
    world = World()
    jumps = world.jumps()
    world.passes(1)
    world.at += HOUR
    await asyncio.gather(jumps.look(), jumps.look())
    await jumps.look()
    assert world.moved == [HOUR]


async def test_a_machine_whose_clock_is_wrong_beside_the_stores_is_told_once_and_once_when_it_is_right() -> None:
    world = World()
    off = [HOUR, HOUR, timedelta(seconds=1), timedelta(seconds=1)]
    jumps = Jumps(now=world.now, mend=world.mend, wall=lambda: world.at + off.pop(0), steady=world.steady)
    with capture_logs() as logs:
        while off:
            await jumps.look()
            world.passes(1)
    assert [log["event"] for log in logs] == [
        "the clock of this machine is wrong",
        "the clock of this machine agrees with the database's again",
    ]
    assert logs[0]["off"] == "3600 s ahead"
    assert world.moved == []


async def test_time_that_passes_is_no_jump() -> None:
    world = World()
    jumps = world.jumps()
    for seconds in (1, 0.1, 7200, 86400):
        world.passes(seconds)
        await jumps.look()
    assert world.moved == []


@pytest.mark.parametrize("jump", [HOUR, -HOUR, timedelta(days=400), timedelta(seconds=-3)])
async def test_a_jump_is_mended_once_by_its_length(jump: timedelta) -> None:
    world = World()
    jumps = world.jumps()
    with capture_logs() as logs:
        world.passes(1)
        world.at += jump
        for _ in range(3):
            await jumps.look()
            world.passes(1)
    assert world.moved == [jump]
    assert [entry["event"] for entry in logs] == ["the clock was set"]


async def test_it_is_told_in_words_which_way() -> None:
    world = World()
    jumps = world.jumps()
    with capture_logs() as logs:
        for jump in (HOUR, -HOUR):
            world.at += jump
            await jumps.look()
    assert [entry["by"] for entry in logs] == ["1:00:00 forward", "1:00:00 back"]


async def test_small_steps_are_left_alone_and_do_not_add_up() -> None:
    """A daemon that keeps the clock right moves it a little all the time."""
    world = World()
    jumps = world.jumps()
    for _ in range(100):
        world.passes(1)
        world.at += timedelta(seconds=0.5)
        await jumps.look()
    assert world.moved == []


async def test_with_a_jump_it_is_told_how_long_the_clock_was_not_looked_at() -> None:
    """A process that was frozen, or cut off, looks late, and what it reckoned meanwhile was no look."""
    world, seen = World(), [1000.0]
    jumps = Jumps(now=world.now, mend=world.mend, seen=lambda: seen[0], steady=world.steady)
    world.passes(600)
    await jumps.look()
    world.at += HOUR
    world.passes(1)
    seen[0] = world.tick
    world.away = True
    with pytest.raises(StoreError):
        await jumps.look()
    world.passes(5)
    world.away = False
    with capture_logs():
        await jumps.look()
        world.at += HOUR
        world.passes(1)
        seen[0] = world.tick
        await jumps.look()
    assert world.moved == [HOUR, HOUR]
    assert world.unseen == [timedelta(seconds=606), timedelta(seconds=6)]


async def test_a_store_that_is_away_is_mended_later() -> None:
    world = World()
    jumps = world.jumps()
    world.away = True
    for _ in range(2):
        world.at -= HOUR
        with pytest.raises(StoreError):
            await jumps.look()
    world.away = False
    with capture_logs():
        await jumps.look()
        await jumps.look()
    assert world.moved == [-2 * HOUR]


async def test_a_jump_that_was_taken_back_meanwhile_moves_nothing() -> None:
    world = World()
    jumps = world.jumps()
    world.away = True
    world.at += HOUR
    with pytest.raises(StoreError):
        await jumps.look()
    world.away = False
    world.at -= HOUR
    await jumps.look()
    await jumps.look()
    assert world.moved == []


async def test_a_start_before_what_was_written_finds_a_clock_set_back() -> None:
    world = World()
    jumps = world.jumps(last=START + HOUR)
    with capture_logs():
        await jumps.look()
        await jumps.look()
    assert world.moved == [-HOUR]


async def test_a_start_after_a_long_pause_finds_nothing() -> None:
    world = World()
    jumps = world.jumps(last=START - 1000 * HOUR)
    await jumps.look()
    assert world.moved == []


def test_the_steady_clock_grows() -> None:
    ticks = [steady() for _ in range(1000)]
    assert ticks == sorted(ticks)
