"""A run knows what began it, and nobody reads that out of a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from runtime.contract import (
    Identity,
    OccurrenceId,
    OccurrenceState,
    Report,
    Said,
    Schedule,
    ScheduleId,
    Task,
    TaskKind,
    Trigger,
)
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.store.protocol import Claim, Stock
from tests.contract.store.stage import ADA, OTHER_ROOM, ROOM, SHELL, Stage, step
from tests.contract.store.test_counted_schedules import HOUR, fire, planned
from tests.contract.store.test_retention import sweep

TRIGGERS: Final = "SELECT trigger FROM runs ORDER BY id"


async def fired(stage: Stage) -> tuple[Schedule, Claim]:
    """An instant that has come, and the run that works for it."""
    schedule = await planned(stage)
    stage.clock.advance(seconds=HOUR.total_seconds())
    await fire(stage, schedule)
    return schedule, await stage.claim()


async def state_of(stage: Stage, schedule: Schedule) -> OccurrenceState:
    (made,) = await stage.store.schedules.occurrences(schedule.id)
    return made.state


async def test_a_run_knows_what_began_it(stage: Stage) -> None:
    message = await stage.begin()
    await stage.finish(message)
    hook = replace(stage.signal(Said("a build failed")), trigger=Trigger.HOOK)
    await stage.take_in(hook)
    await stage.finish(await stage.claim())
    schedule, planned_one = await fired(stage)
    await stage.finish(planned_one)
    stage.clock.advance(seconds=1)
    await stage.store.schedules.run_schedule(schedule.id, "ada")
    await stage.finish(await stage.claim())
    assert await stage.column(TRIGGERS) == ["message", "hook", "schedule", "manual"]


async def test_a_run_of_a_schedule_is_known_by_no_key(stage: Stage) -> None:
    schedule = await planned(stage)
    stage.clock.advance(seconds=HOUR.total_seconds())
    await fire(stage, schedule)
    await stage.write("UPDATE sessions SET key = 'some key'")
    await stage.write("UPDATE signals SET session = 'some key'")
    claim = await stage.claim()
    assert claim.job
    assert claim.job.schedule == schedule.id
    await stage.finish(claim)
    assert await state_of(stage, schedule) is OccurrenceState.DONE


async def test_what_an_older_node_began_for_a_schedule_still_works_for_it(stage: Stage) -> None:
    schedule = await planned(stage)
    stage.clock.advance(seconds=HOUR.total_seconds())
    await fire(stage, schedule)
    await stage.write("UPDATE signals SET trigger = ''")  # older versions write none
    claim = await stage.claim()
    assert claim.job
    await stage.record(claim, step(SHELL))
    assert await stage.store.runs.park(claim.lane, claim.run_id, [stage.ask(claim, 2, SHELL)])
    await stage.stop(at=ROOM)
    assert await state_of(stage, schedule) is OccurrenceState.FAILED


async def test_what_an_older_node_began_for_a_message_works_for_no_schedule(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.write("UPDATE runs SET trigger = ''")
    released = await stage.finish(claim)
    assert released
    assert not released.planned
    (run,) = await stage.store.operations.runs()
    assert run.state is RunState.DONE


def test_a_trigger_of_a_newer_version_is_unknown() -> None:
    assert Trigger("delegation") is Trigger.UNKNOWN


async def report(stage: Stage) -> Report:
    """One that somebody asked for, at work."""
    task = Task(TaskKind.REPORT, "cost", options={"hours": 48})
    made = Report(OccurrenceId(new_id()), "cost", task, (ROOM, OTHER_ROOM), "Europe/Berlin", "main", ADA)
    await stage.store.schedules.begin_report(made, "Ada")
    return made


async def test_a_report_that_is_asked_for_has_its_work_and_no_schedule(stage: Stage) -> None:
    made = await report(stage)
    claim = await stage.claim()
    assert claim.job
    assert (claim.job.occurrence, claim.job.task, claim.job.to) == (made.id, made.task, made.to)
    assert (claim.job.zone, claim.address) == ("Europe/Berlin", ROOM)
    assert await stage.rows("SELECT * FROM schedules") == []
    assert await stage.column(TRIGGERS) == ["manual"]


async def test_a_report_that_fails_is_told_in_its_first_room_and_not_tried_again(stage: Stage) -> None:
    made = await report(stage)
    claim = await stage.claim()
    released = await stage.store.runs.finish(claim.lane, claim.run_id, 1, None, RunState.FAILED, "no data", [])
    assert released
    assert (released.told, released.planned) == ((ROOM,), True)
    (told,) = await stage.store.schedules.occurrences(ScheduleId(made.id))
    assert (told.state, told.reason, told.report) == (
        OccurrenceState.FAILED,
        "no data",
        replace(made, actor=Identity("")),
    )


async def test_a_report_is_counted_in_its_room_and_goes_when_it_is_old(stage: Stage) -> None:
    await report(stage)
    await stage.finish(await stage.claim())
    day = timedelta(days=1)
    assert (await stage.store.figures.activity(stage.clock() - day, room=ROOM)).occurrences == {"done": 1}
    assert (await stage.store.figures.activity(stage.clock() - day, room=OTHER_ROOM)).occurrences == {}
    stage.clock.advance(hours=72)
    assert await sweep(stage, Stock.OCCURRENCES) == 1
