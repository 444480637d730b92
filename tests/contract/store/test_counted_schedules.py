"""Instants of schedules are counted by what became of them, and gauges read what is planned: on every store."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest

from bot.metrics.counting import Counting
from bot.metrics.labels import Labels
from bot.metrics.meters import Meters
from runtime.calendar import plan, written
from runtime.contract import Identity, Schedule, ScheduleId, ScheduleState, Task, TaskKind, Terms
from runtime.domain.events.event import Only
from runtime.domain.runs import RunState, StepState
from runtime.domain.schedules import MISSED, Firing, Instant, ScheduleEvent
from runtime.store.protocol import Ended
from tests.contract.store.stage import ROOM, SHELL, Stage, step

HOUR: Final = timedelta(hours=1)


@pytest.fixture
def meters() -> Meters:
    return Meters()


@pytest.fixture
def counted(stage: Stage, meters: Meters) -> Stage:
    stage.observe(Counting(meters, Labels(), clock=stage.clock))
    return stage


async def planned(stage: Stage, name: str = "news") -> Schedule:
    """One that is due each hour."""
    now = stage.clock()
    schedule = Schedule(
        id=ScheduleId(name),
        name=name,
        when=written(plan("every hour", zone="UTC", now=now)),
        when_text="every hour",
        task=Task(TaskKind.PROMPT, "What is new?"),
        to=(ROOM,),
        terms=Terms(),
        state=ScheduleState.ACTIVE,
        created_at=now,
        anchor_at=now,
        actor=Identity(""),
        agent="main",
        next_at=now + HOUR,
    )
    assert await stage.store.schedules.add_schedule(schedule, schedule.next_at, "ada")
    return schedule


async def fire(stage: Stage, schedule: Schedule, *skips: str) -> None:
    """Its first instant, and before it as many as there are reasons to skip one."""
    assert schedule.next_at
    instants = [Instant(schedule.next_at - HOUR * (number + 1), skip) for number, skip in enumerate(skips)]
    after = schedule.next_at + HOUR
    await stage.store.schedules.fire(
        Firing(schedule.id, schedule.next_at, [*instants, Instant(schedule.next_at)], after, after)
    )


def counts(meters: Meters) -> dict[str, float]:
    return {outcome: count for (outcome,), count in meters.instants if count}


async def test_instants_are_counted_when_they_come_with_their_lag(counted: Stage, meters: Meters) -> None:
    schedule = await planned(counted)
    counted.clock.advance(hours=1, seconds=3)
    await fire(counted, schedule, MISSED, MISSED)
    assert counts(meters) == {"started": 1, "skipped": 2}
    assert (meters.schedule_lag.count(), round(meters.schedule_lag.sum())) == (1, 3)
    await fire(counted, schedule)
    assert counts(meters) == {"started": 1, "skipped": 2}, "another process was faster"


async def test_what_waits_for_the_one_before_is_counted_as_skipped(counted: Stage, meters: Meters) -> None:
    schedule = await planned(counted)
    await counted.store.schedules.run_schedule(schedule.id, "ada")
    counted.clock.advance(hours=1)
    await fire(counted, schedule)
    assert counts(meters) == {"started": 1, "skipped": 1}
    assert meters.schedule_lag.count() == 0


@pytest.mark.parametrize(
    ("state", "outcome"), [(RunState.DONE, "done"), (RunState.FAILED, "failed"), (RunState.STOPPED, "stopped")]
)
async def test_each_try_is_counted_with_its_end(counted: Stage, meters: Meters, state: RunState, outcome: str) -> None:
    schedule = await planned(counted)
    await counted.store.schedules.run_schedule(schedule.id, "ada")
    await counted.finish(await counted.claim(), state=state)
    assert counts(meters) == {"started": 1, outcome: 1}


async def test_a_try_that_waits_for_people_is_counted_when_a_person_stops_it(counted: Stage, meters: Meters) -> None:
    schedule = await planned(counted)
    await counted.store.schedules.run_schedule(schedule.id, "ada")
    claim = await counted.claim()
    await counted.record(claim, step(SHELL, StepState.ASKED))
    question = counted.ask(claim, claim.next_step + 1, SHELL)
    assert await counted.store.runs.park(claim.lane, claim.run_id, [question])
    assert counts(meters) == {"started": 1}
    taken = await counted.stop()
    assert taken.ended == (Ended(claim.run_id, planned=True),)
    assert counts(meters) == {"started": 1, "stopped": 1}
    assert dict(meters.runs) | {("parked",): 1, ("stopped",): 1} == dict(meters.runs)


async def test_silence_is_an_end_of_its_own(counted: Stage, meters: Meters) -> None:
    schedule = await planned(counted)
    await counted.store.schedules.run_schedule(schedule.id, "ada")
    claim = await counted.claim()
    await counted.store.runs.finish(claim.lane, claim.run_id, 1, None, RunState.DONE, "NO NEWS", [])
    assert counts(meters) == {"started": 1, "silent": 1}


async def test_what_people_say_is_no_instant(counted: Stage, meters: Meters) -> None:
    await counted.finish(await counted.begin())
    assert counts(meters) == {}


async def test_gauges_read_what_is_planned_late_and_failing(stage: Stage) -> None:
    await planned(stage)
    for name, event in (("b", ScheduleEvent.PAUSE), ("c", ScheduleEvent.END), ("d", ScheduleEvent.REMOVE)):
        await stage.store.schedules.turn_schedule((await planned(stage, name)).id, event)
    found = await stage.store.queues.depths()
    assert found.schedules == {ScheduleState.ACTIVE: 1, ScheduleState.PAUSED: 1}
    assert (found.schedules_failing, found.schedules_late) == (0, timedelta())
    await stage.write("UPDATE schedules SET failures = 2 WHERE id IN ('b', 'c', 'd')")
    stage.clock.advance(hours=1, seconds=9)
    found = await stage.store.queues.depths()
    assert (found.schedules_failing, found.schedules_late) == (1, timedelta(seconds=9)), "what is over fails no more"


async def test_events_of_a_schedule_have_its_room(counted: Stage) -> None:
    schedule = await planned(counted)
    counted.clock.advance(hours=1, seconds=3)
    await fire(counted, schedule)
    duty = await counted.duty("sealer")
    assert await counted.store.audit.seal(duty, await counted.store.audit.audit_head())
    events = (await counted.store.events.page(0, only=Only(words=("schedule.*",)))).events
    assert [(one.word, one.place.room) for one in events] == [
        ("schedule.added", str(schedule.home)),
        ("schedule.fired", str(schedule.home)),
    ]
    assert str(schedule.home) == str(ROOM)
