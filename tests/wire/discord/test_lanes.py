"""Lanes: in order within a channel, side by side between channels; what was missed goes between before and after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.discord.incoming.event_queues import EventQueues, Work
from tests.contract.adapters.stage import until


class Told:
    """What was taken in, and the works that do it; one that is `kept` waits until it is let go."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.going = asyncio.Event()

    def work(self, word: str, *, kept: bool = False) -> Work:
        async def take() -> None:
            self.began.append(word)
            if kept:
                await self.going.wait()
            self.ended.append(word)

        return take


@asynccontextmanager
async def lanes() -> AsyncIterator[tuple[EventQueues, Told]]:
    told = Told()
    async with asyncio.TaskGroup() as group:
        yield EventQueues(group, most=3), told
        told.going.set()


async def test_a_lane_keeps_its_order_and_no_other_waits_for_it() -> None:
    async with lanes() as (made, told):
        made.put("a", told.work("a1", kept=True))
        made.put("a", told.work("a2"))
        made.put("b", told.work("b1"))
        await until(lambda: told.ended == ["b1"], "other lane")
        assert told.began == ["a1", "b1"]
    assert told.ended == ["b1", "a1", "a2"]


async def test_what_was_missed_goes_behind_what_came_before_it_and_before_what_came_since() -> None:
    async with lanes() as (made, told):
        made.put("a", told.work("begun", kept=True))
        made.put("a", told.work("before"))
        await until(lambda: told.began == ["begun"], "begin")
        made.hold()
        made.put("a", told.work("since"))
        await asyncio.sleep(0.01)
        made.release({"a": told.work("missed")})
    assert told.ended == ["begun", "before", "missed", "since"]


async def test_lanes_in_which_nothing_waits_go_on_too() -> None:
    async with lanes() as (made, told):
        made.hold()
        made.put("a", told.work("since"))
        made.release({"b": told.work("missed")})
    assert sorted(told.ended) == ["missed", "since"]


async def test_what_came_in_a_gap_that_opened_again_is_behind_all_that_was_missed() -> None:
    async with lanes() as (made, told):
        made.hold()
        made.put("a", told.work("in the first"))
        made.hold()
        made.put("a", told.work("in the second"))
        made.release({"a": told.work("missed")})
    assert told.ended == ["missed", "in the first", "in the second"]


async def test_nothing_begins_while_it_is_held_and_all_that_waits_counts() -> None:
    async with lanes() as (made, told):
        made.put("a", told.work("1", kept=True))
        await until(lambda: told.began == ["1"], "begin")
        made.put("a", told.work("2"))
        made.hold()
        made.put("b", told.work("3"))
        assert made.is_full
        told.going.set()
        await until(lambda: told.ended == ["1"], "end of what was begun")
        await asyncio.sleep(0.01)
        assert told.began == ["1"]
        made.release({})
        await until(lambda: sorted(told.ended) == ["1", "2", "3"], "rest")
        assert not made.is_full


async def test_a_fault_of_ours_costs_one_event(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    async with lanes() as (made, told):
        made.put("a", fail)
        made.put("a", told.work("next"))
    assert told.ended == ["next"]
    assert "was not taken in" in caplog.text
