"""A change of a schedule names some fields; all others are as they were, whichever way it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.calendar import read
from runtime.contract import (
    DataCall,
    Misfire,
    RunId,
    Schedule,
    ScheduleRequest,
    ScheduleState,
    SessionKey,
    Task,
    TaskKind,
    Terms,
    Thread,
    ToolContext,
)
from runtime.errors import ToolRetry
from tests.contract.runtime.planning import ELSEWHERE, HOME, Desk, desk
from tests.contract.runtime.stage import ADA, OTTO, UMA, Stage
from tests.contract.runtime.strict import Strict
from tools.schedules import schedule_tools

TERMS: Final = Terms(Misfire.ALL, 3, timedelta(minutes=7), timedelta(seconds=5), Thread.OWN, True, 250_000)
TASK: Final = Task(TaskKind.TEMPLATE, "{{ files }}", (DataCall("files", "list_files"),), {"days": 7})
NEW_TASK: Final = Task(TaskKind.PROMPT, "What is old?")
NEW_TERMS: Final = Terms(quiet=False)

# What each field of a wish may change of a schedule, its zone apart from its rule.
CHANGES: Final[Mapping[str, tuple[Any, frozenset[str]]]] = {
    "name": ("old news", frozenset({"name"})),
    "when": ("every weekday at 10", frozenset({"rule", "when_text", "next_at"})),
    "zone": ("Asia/Tokyo", frozenset({"zone", "next_at"})),
    "task": (NEW_TASK, frozenset({"task"})),
    "to": ((ELSEWHERE,), frozenset({"to"})),
    "terms": (NEW_TERMS, frozenset({"terms"})),
    "starts": ("2026-04-01 at 6:00", frozenset({"starts_at", "anchor_at", "next_at"})),
    "ends": ("2026-05-01 at 6:00", frozenset({"ends_at"})),
}
# What the arguments of the tool may change, and of its terms `quiet` alone.
SAID: Final[Mapping[str, tuple[Any, frozenset[str]]]] = {
    "when": CHANGES["when"],
    "task": ("What is old?", CHANGES["task"][1]),
    "zone": CHANGES["zone"],
    "quiet": (False, frozenset({"terms"})),
    "new_name": ("old news", CHANGES["name"][1]),
}


def leaves(one: Schedule) -> dict[str, Any]:
    """Its fields, the zone of its rule as one of its own."""
    rule = read(one.when)
    return {each.name: getattr(one, each.name) for each in fields(one) if each.name != "when"} | {
        "rule": rule.when,
        "zone": rule.zone,
    }


def different(before: Schedule, after: Schedule) -> set[str]:
    old, new = leaves(before), leaves(after)
    return {name for name in old if old[name] != new[name]}


async def nine_in_berlin(at: Desk, name: str = "news") -> Schedule:
    """One of which nothing is as it would be by itself."""
    return await at.plan(
        "every weekday at 9",
        zone="Europe/Berlin",
        who=UMA,
        to=[HOME, ELSEWHERE],
        terms=TERMS,
        task=TASK,
        name=name,
        starts="2026-03-02 at 6:00",
        ends="2026-06-01 at 6:00",
    )


def test_the_tables_name_all_there_is_to_change() -> None:
    assert set(CHANGES) == {each.name for each in fields(ScheduleRequest)}
    change = next(one for one in schedule_tools(None) if one.spec.name == "schedule_change")  # type: ignore[arg-type]
    assert {*SAID, "name"} == set(change.spec.schema["properties"])


async def test_what_a_change_does_not_name_stays(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    for number, (field, (value, may)) in enumerate(CHANGES.items()):
        before = await nine_in_berlin(at, f"news {number}")
        asker = await at.asker(OTTO)  # somebody else changes it, who did not say where they read clocks
        await at.process.booking.change(before.id, replace(ScheduleRequest(), **{field: value}), asker)
        assert different(before, await at.now(before)) == may, f"{field} was changed"
        await at.process.booking.remove(before.id, asker)


async def test_what_the_tool_does_not_name_stays(stage: Stage) -> None:
    at = await desk(stage, Strict([]))
    tool = next(one for one in schedule_tools(at.process.booking) if one.spec.name == "schedule_change")
    ada = await at.stage.store.people.identified(ADA)
    for number, (argument, (value, may)) in enumerate(SAID.items()):
        before = await nine_in_berlin(at, f"news {number}")
        context = ToolContext(Path(), SessionKey("r1"), RunId("run"), "call", HOME, ada)
        await tool.call({"name": before.name, argument: value}, context)
        after = await at.now(before)
        assert different(before, after) == may, f"{argument} was changed"
        if argument == "quiet":
            assert after.terms == replace(before.terms, quiet=False)


@pytest.mark.parametrize("when", ["every weekday at 10", "0 10 * * 1-5", "10am on weekdays"])
async def test_nine_in_berlin_moved_to_ten_is_ten_in_berlin(stage: Stage, when: str) -> None:
    at = await desk(stage, Strict([]))
    before = await nine_in_berlin(at)
    after = await at.process.booking.change(before.id, ScheduleRequest(when=when), await at.asker(ADA))
    assert at.process.booking.words(after) == "every weekday at 10:00 (Europe/Berlin)"
    named = await at.process.booking.change(before.id, ScheduleRequest(when=f"{when} in Tokyo"), await at.asker(ADA))
    assert read(named.when).zone == "Asia/Tokyo", "new words that name a zone mean it"


async def test_one_that_is_due_at_this_moment_is_still_due_under_another_name(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["x"]))
    planned = await at.plan("every hour")
    any_stage.clock.advance(timedelta(hours=1, seconds=1))
    await at.process.booking.change(planned.id, ScheduleRequest(name="old news"), await at.asker())
    await at.fire(timedelta())
    assert await at.states(planned) == ["done"], "a new name moves no instant"


async def test_one_that_is_over_can_be_named_anew_and_stays_over(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan("in 20 minutes")
    await at.fire()
    over = await at.now(planned)
    assert over.state is ScheduleState.ENDED
    await at.process.booking.change(planned.id, ScheduleRequest(name="old news"), await at.asker())
    assert different(over, await at.now(planned)) == {"name"}


async def test_an_agent_plans_work_of_its_own_alone(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    of_main, ada = await at.plan(name="main's"), await at.asker()
    as_ops = replace(ada, agent="ops")
    own = await at.process.booking.add(ScheduleRequest(name="own", when="every hour", task=NEW_TASK), as_ops)
    assert (of_main.agent, own.agent) == ("main", "ops")
    await at.process.booking.change(own.id, ScheduleRequest(name="mine"), as_ops)
    await at.process.booking.change(own.id, ScheduleRequest(name="hers"), ada)
    for turn in (
        at.process.booking.change(of_main.id, ScheduleRequest(task=NEW_TASK), as_ops),
        at.process.booking.pause(of_main.id, as_ops),
        at.process.booking.resume(of_main.id, as_ops),
        at.process.booking.run_now(of_main.id, as_ops),
        at.process.booking.remove(of_main.id, as_ops),
    ):
        with pytest.raises(ToolRetry, match="is work of the agent main"):
            await turn
    assert await at.now(of_main) == of_main
