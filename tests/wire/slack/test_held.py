"""Gaps by hand: what waits for what, and that nothing waits for ever, with each moment of a repair held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from adapters.slack.bot_user import BotUser
from adapters.slack.incoming.backfill import DOUBT, RESENT, Gaps
from adapters.slack.incoming.unread import Look
from adapters.slack.outgoing.best_effort import Work
from adapters.slack.settings import SlackSettings
from adapters.slack.web import Web
from bot.testing.clocks import Clock
from runtime.contract import Address, Seen
from runtime.errors import StoreError
from tests.contract.adapters.stage import FakePlaces, FakeSink, alone, until
from tests.wire.slack.stage import TEAM

ME: Final = BotUser(TEAM, "U0BOT", "B0BOT", "signalbox")
ROOM, OTHER = (Address("slack", TEAM, room) for room in ("C1", "C2"))


@pytest.fixture(autouse=True)
def hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.incoming.backfill.HOLD", timedelta(seconds=0.05))


class Held(FakePlaces):
    """The store tells places once they are `known`, and a history that was asked for comes once it is `read`."""

    def __init__(self) -> None:
        super().__init__(FakeSink())
        self.clock = Clock()
        self.begun = self.clock()
        self.newest: list[Seen] = []
        self.said: list[str] = []
        self.known, self.read = asyncio.Event(), asyncio.Event()
        self.looked: list[Look] = []
        self.taken: list[str] = []
        self.fault: Exception | None = None
        self.last: datetime | None = None
        self.begun_works: list[Work] = []
        web = Web(SlackSettings("work", "xoxb-1"), self.clock)
        begin = self.begun_works.append
        self.gaps = Gaps(web, self.history, self, self.clock, self.take_in, begin=begin)

    async def lets_in(self, place: Address, *, to_us: bool = False) -> bool:
        """Whether a message of that place may come in."""
        return await self.gaps.lets_in(place, comes_again=True, to_us=to_us)

    def ts(self, number: int) -> str:
        """That of a message of this number."""
        return f"{self.begun.timestamp() + number:.6f}"

    def heard(self, *places: Address, number: int = 0) -> None:
        """The newest message in each of them."""
        self.newest = [Seen(place, self.ts(number), self.clock()) for place in places]

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        await self.known.wait()
        if isinstance(self.fault, StoreError):
            raise self.fault
        return self.newest

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        return self.last

    async def history(self, place: Address, oldest: str) -> AsyncIterator[Mapping[str, Any]]:
        self.looked.append((place, oldest))
        there = list(self.said)
        await self.read.wait()
        for ts in there:
            yield {"ts": ts}

    async def take_in(self, message: Mapping[str, Any], room: str) -> None:
        if self.fault:
            raise self.fault
        self.taken.append(message["ts"])


async def test_where_nothing_was_missed_everything_comes_in_at_once() -> None:
    assert await Held().lets_in(ROOM)


async def test_while_the_places_are_not_known_each_may_be_one() -> None:
    held = Held()
    async with asyncio.TaskGroup() as group:
        held.gaps.expect()
        repair = group.create_task(held.gaps.repair(ME))
        assert not await held.lets_in(ROOM)
        held.known.set()
        await repair
        assert await held.lets_in(ROOM)


async def test_a_repair_that_is_never_reached_keeps_nobody_out() -> None:
    """The connection was opened, and ended before it heard."""
    held = Held()
    held.gaps.expect()
    assert await held.lets_in(ROOM)


async def test_an_earlier_repair_does_not_answer_for_what_was_missed_later() -> None:
    held = Held()
    async with asyncio.TaskGroup() as group:
        held.gaps.expect()
        repair = group.create_task(held.gaps.repair(ME))
        await asyncio.sleep(0)
        held.gaps.expect()
        held.known.set()
        await repair
        assert not await held.lets_in(ROOM)
        await held.gaps.repair(ME)
        assert await held.lets_in(ROOM)


async def test_what_was_declined_while_the_room_was_read_is_read_before_anything_follows_it() -> None:
    held = Held()
    held.heard(ROOM)
    held.known.set()
    async with asyncio.TaskGroup() as group:
        repair = group.create_task(held.gaps.repair(ME))
        await until(lambda: len(held.looked) == 1, "look")
        held.said.append(held.ts(1))  # too late for the answer that is on its way
        assert not await held.lets_in(ROOM)
        held.read.set()
        assert await held.lets_in(ROOM)
        await repair
    assert held.looked == [(ROOM, held.ts(0))] * 2
    assert held.taken == [held.ts(1)]


async def test_a_second_repair_reads_from_where_the_first_would_have_begun() -> None:
    """An event that was let in meanwhile is no mark: what was said before it is not read yet."""
    held = Held()
    held.heard(OTHER, ROOM)
    held.known.set()
    async with asyncio.TaskGroup() as group:
        group.create_task(held.gaps.repair(ME))
        await until(lambda: len(held.looked) == 1, "look")
        [(being_read, _)] = held.looked
        [waiting] = {OTHER, ROOM} - {being_read}
        held.heard(waiting, number=9)
        group.create_task(held.gaps.repair(ME))
        await asyncio.sleep(0.01)
        held.read.set()
    assert held.looked == [(being_read, held.ts(0)), (waiting, held.ts(0))]


async def test_coming_and_going_connections_keep_nobody_out_for_longer() -> None:
    held = Held()
    held.heard(ROOM)
    held.known.set()
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            held.gaps.expect()
            group.create_task(held.gaps.repair(ME))
            assert not await held.lets_in(ROOM)
            held.clock.ahead += RESENT / 3
        assert await held.lets_in(ROOM)
        held.read.set()


async def test_a_clock_that_is_set_back_keeps_nobody_out() -> None:
    held = Held()
    held.heard(ROOM)
    held.known.set()
    async with asyncio.TaskGroup() as group:
        group.create_task(held.gaps.repair(ME))
        await until(lambda: len(held.looked) == 1, "look")
        held.clock.ahead -= timedelta(hours=1)
        assert await held.lets_in(ROOM)
        held.read.set()


async def test_where_the_store_does_not_tell_its_places_nobody_waits() -> None:
    held = Held()
    held.known.set()
    held.fault = StoreError("away")
    held.gaps.expect()
    await held.gaps.repair(ME)
    assert await held.lets_in(ROOM)


async def test_after_a_fault_of_ours_nobody_waits() -> None:
    held = Held()
    held.heard(ROOM, OTHER)
    held.known.set()
    held.read.set()
    held.said, held.fault = [held.ts(1)], ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        async with alone():
            await held.gaps.repair(ME)
    assert await held.lets_in(ROOM)
    assert await held.lets_in(OTHER)


async def test_where_nobody_was_heard_before_it_is_looked_once_somebody_speaks_to_us() -> None:
    held = Held()
    held.last = held.clock()
    held.known.set()
    held.read.set()
    await held.gaps.repair(ME)
    assert await held.lets_in(ROOM)
    assert held.begun_works == []
    held.said.append(held.ts(-60))
    assert not await held.lets_in(ROOM, to_us=True)
    [read] = held.begun_works
    await read()
    assert held.taken == [held.ts(-60)]
    assert [place for place, _ in held.looked] == [ROOM]
    assert abs(float(held.looked[0][1]) - (held.last - DOUBT).timestamp()) < 1
    assert await held.lets_in(ROOM, to_us=True)
    assert len(held.begun_works) == 1


async def test_at_a_first_start_and_after_a_minute_there_is_no_such_look() -> None:
    held = Held()
    held.known.set()
    await held.gaps.repair(ME)
    assert await held.lets_in(ROOM, to_us=True)
    held.last = held.clock()
    await held.gaps.repair(ME)
    held.clock.ahead += RESENT
    assert await held.lets_in(ROOM, to_us=True)
    assert held.begun_works == []
