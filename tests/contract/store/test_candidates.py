"""Which message may be meant by what a person remembers of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import (
    Said,
)
from runtime.timeline.trail import Candidate, Thing
from tests.contract.store.stage import (
    ADA,
    OTHER_ROOM,
    ROOM,
    SHELL,
    Stage,
)
from tests.contract.store.tracing import trail


def ids(found: list[Candidate]) -> list[str]:
    return [one.id for one in found]


async def test_an_id_is_found_whatever_it_names(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    report = await stage.enqueue("the report")
    (signal,) = await stage.store.traces.find(parked.run)
    (approval,) = await stage.store.traces.find(parked.approvals[0])
    (delivery,) = await stage.store.traces.find(report)
    assert (signal.thing, signal.text, signal.who, signal.state) == (Thing.SIGNAL, "do it", "Ada", "in progress")
    assert (approval.thing, approval.text, approval.who, approval.state) == (Thing.APPROVAL, "shell", "Ada", "pending")
    assert (delivery.thing, delivery.text, delivery.state) == (Thing.DELIVERY, "the report", "queued")
    assert {one.address for one in (signal, approval, delivery)} == {ROOM}


async def test_a_run_is_found_when_its_message_is_not_kept_any_more(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.write("DELETE FROM signals")
    (found,) = await stage.store.traces.find(claim.run_id)
    assert (found.thing, found.who) == (Thing.RUN, "Ada")
    assert (await trail(stage, claim.run_id)).signals == ()


async def test_the_first_characters_are_enough_where_they_are_unlike_others(stage: Stage) -> None:
    ours = await stage.say("one")
    await stage.write("UPDATE signals SET id = 'QQ' || substr(id, 3)")
    await stage.say("two", at=OTHER_ROOM)
    begins = f"QQ{ours.verdict.signal_id[2:6]}"
    assert [one.text for one in await stage.store.traces.find(begins)] == ["one"]
    assert [one.text for one in await stage.store.traces.find(begins.lower())] == []


async def test_several_that_begin_alike_are_listed_newest_first_up_to_a_limit(stage: Stage) -> None:
    for number in range(4):
        await stage.say(f"m{number}", at=replace(ROOM, room=f"r{number}"))
        stage.clock.advance(seconds=1)
    await stage.write("UPDATE signals SET id = 'QQQQ' || text")
    assert [one.text for one in await stage.store.traces.find("QQQQ", limit=3)] == ["m3", "m2", "m1"]


@pytest.mark.parametrize("words", ["", "Q", "QQQ", "%%%%", "____", "QQQ%", "Q' OR 1=1", "QQ\0QQ", "é" * 30, "x" * 5000])
async def test_what_is_no_id_finds_nothing(stage: Stage, words: str) -> None:
    await stage.say("hello")
    await stage.write("UPDATE signals SET id = 'QQQQ' || id")
    assert await stage.store.traces.find(words) == []


async def test_the_id_that_the_page_gave_a_message_finds_it(stage: Stage) -> None:
    for key, text in (
        (f"{ADA}#page-id-0001", "by page"),
        (f"console:{ADA}#console-0001", "by command"),
        ("77", "by wire"),
    ):
        signal = replace(stage.signal(Said(text)), dedupe_key=key, platform=f"account of {key}")
        await stage.take_in(signal)
    found = [await stage.store.traces.find(words) for words in ("page-id-0001", "console-0001", "77", "page-id")]
    assert [[one.text for one in each] for each in found] == [["by page"], ["by command"], ["by wire"], []]


async def test_the_newest_messages_are_listed_of_all_rooms_or_of_one(stage: Stage) -> None:
    for number in range(6):
        room, text = (OTHER_ROOM, "there") if number % 2 else (ROOM, "here")
        taken = await stage.say(f"{text} {number // 2}", at=room)
        # Ids begin with their time; these are made in one and the same millisecond.
        await stage.write("UPDATE signals SET id = :n WHERE id = :id", n=f"{number}", id=taken.verdict.signal_id)
        stage.clock.advance(seconds=1)
    await stage.stop()
    assert [one.text for one in await stage.store.traces.recent(ROOM)] == ["here 2", "here 1", "here 0"]
    everywhere = [one.text for one in await stage.store.traces.recent(limit=4)]
    assert everywhere == ["there 2", "here 2", "there 1", "here 1"]


async def test_the_state_in_a_list_tells_how_far_it_came(stage: Stage) -> None:
    await stage.say("waits")
    assert [one.state for one in await stage.store.traces.recent()] == ["waiting"]
    claim = await stage.claim()
    assert [one.state for one in await stage.store.traces.recent()] == ["in progress"]
    await stage.finish(claim)
    await stage.drain()
    assert [one.state for one in await stage.store.traces.recent()] == ["answered"]


async def test_platforms_are_those_that_something_came_from(stage: Stage) -> None:
    assert await stage.store.traces.platforms() == []
    for platform in ("b", "a", "b"):
        await stage.take_in(replace(stage.signal(Said("x")), platform=platform))
    assert await stage.store.traces.platforms() == ["a", "b"]
