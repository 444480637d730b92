"""What reports are made of, on every store: counted since an instant, in all rooms or in one with its threads."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import (
    Activity,
    Address,
    Call,
    ChosenModel,
    Cost,
    Costs,
    DayCost,
    Identity,
    ModelReply,
    Schedule,
    ScheduleId,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    Usage,
)
from runtime.domain.runs import RunState
from runtime.domain.schedules import NO_MODEL
from runtime.store.operations.figures import EXCERPT
from tests.contract.store.stage import ADA, OTHER_ROOM, ROOM, SHELL, UMA, Stage

DAY = timedelta(days=1)
THREAD = replace(ROOM, thread="17.0")


async def used(stage: Stage, at: Address, usage: Usage, times: int = 1) -> None:
    """A run of `times` model calls."""
    stage.clock.advance(seconds=61)  # else the same words are the same message
    claim = await stage.begin("work", at=at)
    for _ in range(times - 1):
        recorded = await stage.store.runs.record_model(
            claim.lane, claim.run_id, claim.next_step, ModelReply("", (), usage), []
        )
        assert recorded
        claim = replace(claim, next_step=claim.next_step + 1)
    last = ModelReply("done", (), usage)
    done = [stage.final(claim)]
    assert await stage.store.runs.finish(claim.lane, claim.run_id, claim.next_step, last, RunState.DONE, "done", done)


# ----------------------------------------------------------------------------------------------------------- activity


async def test_where_nothing_happened_there_is_nothing(stage: Stage) -> None:
    since = stage.clock() - DAY
    assert await stage.store.figures.activity(since) == Activity()
    assert await stage.store.figures.costs(since) == Costs()
    assert await stage.store.figures.pending_approvals() == (0, [])
    assert await stage.store.figures.dead_letters() == (0, [])


async def test_activity_is_counted_by_what_became_of_it(stage: Stage) -> None:
    await stage.finish(await stage.begin("one"))
    failed = await stage.begin("two", at=OTHER_ROOM)
    await stage.finish(failed, "it broke", RunState.FAILED)
    await stage.park(SHELL, at=THREAD)
    await stage.drain()
    found = await stage.store.figures.activity(stage.clock() - DAY)
    assert found.messages == {"consumed": 3}
    assert found.runs == {"done": 1, "failed": 1, "parked": 1}
    assert found.approvals == {"pending": 1}
    assert found.deliveries == {"shown": 1, "queued": 2}
    assert set(found.rooms) == {(ROOM, 1), (THREAD, 1), (OTHER_ROOM, 1)}
    [failure] = found.failures
    assert (failure.run, failure.address, failure.reason) == (failed.run_id, OTHER_ROOM, "it broke")


async def test_activity_of_a_room_is_that_of_its_threads_too_and_of_no_other(stage: Stage) -> None:
    await stage.finish(await stage.begin("one"))
    await stage.finish(await stage.begin("two", at=THREAD))
    await stage.finish(await stage.begin("three", at=OTHER_ROOM))
    await stage.finish(await stage.begin("four", at=replace(ROOM, room=f"{ROOM.room}x")))
    for asked in (ROOM, THREAD):
        found = await stage.store.figures.activity(stage.clock() - DAY, room=asked)
        assert (found.messages, found.runs, found.deliveries) == ({"consumed": 2}, {"done": 2}, {"queued": 2})
        assert {address for address, _ in found.rooms} == {ROOM, THREAD}


async def test_what_is_older_is_not_counted(stage: Stage) -> None:
    await stage.finish(await stage.begin("old"))
    stage.clock.advance(hours=25)
    await stage.finish(await stage.begin("new"))
    assert (await stage.store.figures.activity(stage.clock() - DAY)).runs == {"done": 1}
    assert (await stage.store.figures.activity(stage.clock() - 2 * DAY)).runs == {"done": 2}
    assert (await stage.store.figures.costs(stage.clock() - DAY)).runs == 1


async def test_lists_are_bounded_and_begin_with_the_newest(stage: Stage) -> None:
    for number in range(4):
        stage.clock.advance(seconds=1)
        claim = await stage.begin("work", at=replace(ROOM, room=f"room{number}"))
        await stage.finish(claim, f"reason {number} {'x' * 1000}", RunState.FAILED)
    found = await stage.store.figures.activity(stage.clock() - DAY, most=2)
    assert [failure.reason[:8] for failure in found.failures] == ["reason 3", "reason 2"]
    assert all(len(failure.reason) == EXCERPT for failure in found.failures)
    assert len(found.rooms) == 2


async def test_scheduled_work_is_counted(stage: Stage) -> None:
    schedule = Schedule(
        ScheduleId("s1"),
        "news",
        '{"at": "2026-03-01T12:00:00+00:00", "text": "", "zone": "UTC"}',
        "",
        Task(TaskKind.PROMPT, "What changed?"),
        (ROOM,),
        Terms(),
        ScheduleState.REMOVED,
        stage.clock(),
        stage.clock(),
        Identity("web:ada"),
        "main",
    )
    assert await stage.store.schedules.add_schedule(schedule, None, "Ada")
    assert await stage.store.schedules.run_schedule(schedule.id, "Ada")
    assert (await stage.store.figures.activity(stage.clock() - DAY)).occurrences == {"started": 1}
    assert (await stage.store.figures.activity(stage.clock() - DAY, room=ROOM)).occurrences == {"started": 1}
    assert (await stage.store.figures.activity(stage.clock() - DAY, room=OTHER_ROOM)).occurrences == {}


# -------------------------------------------------------------------------------------------------------------- costs


async def test_costs_are_summed_by_agent_and_room_the_dearest_first(stage: Stage) -> None:
    await used(stage, ROOM, Usage("m", 10, 1, 100), times=2)
    await used(stage, ROOM, Usage("m", 10, 1, 100))
    await used(stage, OTHER_ROOM, Usage("n", 5, 2, 900))
    found = await stage.store.figures.costs(stage.clock() - DAY)
    assert found == Costs(
        *(3, 4, 35, 5, 1200),
        rows=(Cost("main", OTHER_ROOM, 1, 1, 5, 2, 900), Cost("main", ROOM, 2, 3, 30, 3, 300)),
    )


async def test_costs_tell_what_came_from_a_cache_and_who_stood_in(stage: Stage) -> None:
    await used(stage, ROOM, Usage("m", 100, 10, 5, cached_tokens=80))
    claim = await stage.begin("again", at=ROOM)
    stood_in = ModelReply("done", (), Usage("n", 50, 5, 9, cached_tokens=7), ChosenModel("m", "n instead of m", "m"))
    await stage.store.runs.finish(
        claim.lane, claim.run_id, claim.next_step, stood_in, RunState.DONE, "done", [stage.final(claim)]
    )
    found = await stage.store.figures.costs(stage.clock() - DAY)
    assert (found.cached_tokens, found.fallbacks) == (87, 1)
    assert [(row.cached_tokens, row.fallbacks) for row in found.rows] == [(87, 1)]


async def test_costs_of_a_room_have_its_threads(stage: Stage) -> None:
    await used(stage, ROOM, Usage("m", 1, 1, 100))
    await used(stage, THREAD, Usage("m", 1, 1, 20))
    await used(stage, OTHER_ROOM, Usage("m", 1, 1, 3))
    found = await stage.store.figures.costs(stage.clock() - DAY, room=ROOM)
    assert (found.cost_micros, [row.cost_micros for row in found.rows]) == (120, [100, 20])


async def test_sums_are_over_all_rooms_also_those_not_listed(stage: Stage) -> None:
    for number in range(3):
        await used(stage, replace(ROOM, room=f"room{number}"), Usage("m", 1, 1, number + 1))
    found = await stage.store.figures.costs(stage.clock() - DAY, most=1)
    assert (found.cost_micros, [row.cost_micros for row in found.rows]) == (6, [3])


async def test_a_report_that_asked_no_model_is_no_model_call(stage: Stage) -> None:
    await used(stage, ROOM, Usage(NO_MODEL))
    assert await stage.store.figures.costs(stage.clock() - DAY) == Costs()


# ------------------------------------------------------------------------------------------------------- what waits


async def test_pending_approvals_are_listed_those_first_that_expire_first(stage: Stage) -> None:
    first = await stage.park(SHELL, actor=UMA)
    stage.clock.advance(hours=1)
    long = Call("c9", "shell", '{"command": "' + "x" * 1000 + '"}')
    second = await stage.park(long, at=OTHER_ROOM, actor=ADA)
    count, rows = await stage.store.figures.pending_approvals()
    assert count == 2
    assert [row.id for row in rows] == [first.approvals[0], second.approvals[0]]
    assert (rows[0].tool, rows[0].address, rows[0].requester, rows[0].effect) == ("shell", ROOM, "Uma", "danger")
    assert rows[1].asked_at - rows[0].asked_at == timedelta(hours=1)
    assert rows[0].expires_at > rows[0].asked_at
    assert len(rows[1].arguments) == EXCERPT
    assert await stage.store.figures.pending_approvals(most=1) == (2, rows[:1])
    assert await stage.store.figures.pending_approvals(room=OTHER_ROOM) == (1, rows[1:])


async def test_decided_approvals_are_not_pending(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    assert await stage.store.figures.pending_approvals() == (0, [])


@pytest.mark.parametrize("room", [None, ROOM])
async def test_dead_letters_are_listed_the_newest_first(stage: Stage, room: Address | None) -> None:
    duty = await stage.duty()
    made = [await stage.enqueue(f"text {number} {'y' * 1000}") for number in range(3)]
    for delivery in made[:2]:
        assert await stage.store.outbox.give_up(duty, delivery, None, "refused " + "z" * 1000) is not None
    count, rows = await stage.store.figures.dead_letters(room=room)
    assert (count, [row.id for row in rows]) == (2, [made[1], made[0]])
    assert (rows[0].state, rows[0].kind, rows[0].address) == ("dead", "report", ROOM)
    assert (rows[0].text[:6], len(rows[0].text), len(rows[0].reason)) == ("text 1", EXCERPT, EXCERPT)
    assert await stage.store.figures.dead_letters(room=room, most=1) == (2, rows[:1])
    assert await stage.store.figures.dead_letters(room=OTHER_ROOM) == (0, [])


async def test_the_cost_of_each_day_is_summed_also_of_a_day_without_any(stage: Stage) -> None:
    first = stage.clock()
    await used(stage, ROOM, Usage("m", 10, 5, 7), times=2)
    stage.clock.advance(seconds=2 * 24 * 3600)
    await used(stage, OTHER_ROOM, Usage("m", 1, 2, 3))
    assert await stage.store.figures.cost_by_day(first, 4) == [
        DayCost(first, 14, 30),
        DayCost(first + DAY),
        DayCost(first + 2 * DAY, 3, 3),
        DayCost(first + 3 * DAY),
    ]
