"""Booking: who may plan what, where and how often."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from runtime.contract import (
    Address,
    Identity,
    ScheduleRequest,
    Task,
    TaskKind,
)
from runtime.domain.runs import RunState
from runtime.errors import ToolRetry
from runtime.schedules.service import Quotas
from tests.contract.runtime.planning import ELSEWHERE, HOME, desk
from tests.contract.runtime.stage import (
    ADA,
    OTTO,
    UMA,
    VERA,
    Stage,
)
from tests.contract.runtime.strict import Strict


async def refused(work: Any) -> str:
    with pytest.raises(ToolRetry) as told:
        await work
    return str(told.value)


async def test_what_is_wrong_is_refused_in_words(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    await at.plan()
    assert "called 'news'" in await refused(at.plan())
    assert "0 9 * * 1-5" in await refused(at.plan("whenever", name="a")) or "example" in await refused(
        at.plan("whenever", name="a")
    )
    assert "Europe/Berlin" in await refused(at.plan(zone="Europe/Berln", name="b"))
    assert "what the agent should do" in await refused(at.plan(task=Task(TaskKind.PROMPT, " \n"), name="c"))
    assert "characters" in await refused(at.plan(task=Task(TaskKind.PROMPT, "x" * 20_001), name="d"))
    assert "can plan work" in await refused(at.plan(who=VERA, name="e"))
    assert "would never run" in await refused(at.plan(ends="2026-03-01 12:30", name="f"))
    at.process.booking._serves = lambda room: room == HOME
    assert "no account" in await refused(at.plan(to=[HOME, ELSEWHERE], name="g"))


async def test_a_room_that_cannot_be_posted_to_is_told_when_the_schedule_is_made(stage: Stage) -> None:
    at = await desk(stage, Strict([]))

    async def reach(room: Address) -> str | None:
        return "the bot is no member: /invite it." if room == ELSEWHERE else None

    at.process.booking._reach = reach
    assert "/invite" in await refused(at.plan(to=[ELSEWHERE]))
    await at.plan()


async def test_people_and_rooms_have_so_many_and_no_more_often(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    at.process.booking._quotas = lambda: Quotas(per_person=2, per_room=3, least_interval=timedelta(minutes=10))
    assert "at least 0:10:00" in await refused(at.plan("*/5 * * * *"))
    assert "at least 0:10:00" in await refused(at.plan("0,5 9 * * *"))
    for name in ("a", "b"):
        await at.plan(name=name)
    assert "One person" in await refused(at.plan(name="c", at=ELSEWHERE))
    await at.plan(name="c", who=OTTO)
    assert "One room" in await refused(at.plan(name="d", who=OTTO))


async def test_the_same_wish_once_more_is_the_same_schedule(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    once, again = await at.plan(key="run:call"), await at.plan(key="run:call")
    assert once == again
    assert len(await at.process.booking.listed()) == 1


async def test_names_are_made_of_the_task_and_told_apart(stage: Stage) -> None:
    at = await desk(stage, Strict([]))
    made = [await at.plan(name="", task=Task(TaskKind.PROMPT, "Call Ada about the boat, please")) for _ in range(3)]
    assert [one.name for one in made] == ["call ada about the", "call ada about the 2", "call ada about the 3"]


async def test_only_whoever_made_it_and_operators_change_it(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    planned = await at.plan(who=UMA)
    theirs = await at.plan(name="ada's", at=ELSEWHERE)
    booking = at.process.booking
    assert "somebody else" in await refused(booking.pause(theirs.id, await at.asker(UMA)))
    for who in (UMA, OTTO, ADA):
        changed = await booking.change(planned.id, ScheduleRequest(when="daily at 10"), await at.asker(who))
        assert changed.next_at
        assert changed.next_at.hour == 10
    assert [s.name for s in await booking.listed(await at.asker(UMA))] == ["news"], (
        "others' rooms are not theirs to see"
    )
    assert len(await booking.listed(await at.asker(OTTO))) == 2
    assert (await booking.find("NEWS", await at.asker(UMA))).id == planned.id
    assert "no schedule called" in await refused(booking.find("ada's", await at.asker(UMA)))


async def test_people_and_rooms_have_zones_of_their_own(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))

    async def first_hour(who: Identity, name: str) -> datetime | None:
        return (await at.plan("daily at 9", who=who, name=name)).next_at

    booking = at.process.booking
    assert await booking.set_zone("berlin", await at.asker(UMA), whole_room=True) == "Europe/Berlin"
    assert await booking.set_zone("America/New_York", await at.asker(ADA)) == "America/New_York"
    hours = [moment.hour for who, name in ((UMA, "a"), (ADA, "b")) if (moment := await first_hour(who, name))]
    assert hours == [8, 14]


async def test_every_change_is_in_the_audit(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan()
    await at.fire()
    await at.process.booking.pause(planned.id, await at.asker())
    await at.process.booking.remove(planned.id, await at.asker())
    rows = await stage.rows("SELECT kind FROM audit WHERE kind LIKE 'schedule%' ORDER BY entry")
    assert [kind for (kind,) in rows] == ["schedule added", "schedule fired", "schedule pause", "schedule remove"]
    assert await stage.states() == [RunState.DONE]


async def test_what_is_foreseen_is_what_fires(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    wish = ScheduleRequest(name="soon", when="first monday of the month at 8:30", zone="Asia/Tokyo", to=[HOME])
    asker = await at.asker(ADA, HOME, "")
    seen = await at.process.booking.foresee(wish, asker)
    assert (seen.faults, seen.zone, len(seen.instants)) == ({}, "Asia/Tokyo", 5)
    assert await at.process.booking.listed() == [], "nothing is kept"
    made = await at.process.booking.add(replace(wish, task=Task(TaskKind.PROMPT, "x")), asker)
    assert at.process.booking.upcoming(made) == list(seen.instants)
    await at.process.booking.pause(made.id, asker)
    paused = await at.process.booking.foresee(ScheduleRequest(), asker, made.id)
    assert paused.instants == seen.instants, "as it goes on once it is resumed"
    taken = await at.process.booking.foresee(replace(wish, ends="2001-01-01 at 9:00"), asker)
    assert {*taken.faults} == {"name", "ends"}
