"""Schedules fire: each instant once, with a run of its own, whatever timers race or die."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.testing.scripted import held
from runtime.contract import (
    Choice,
    Effect,
    OccurrenceState,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    UserTurn,
)
from runtime.domain.schedules import OVERLAPS
from tests.contract.runtime.planning import ELSEWHERE, HOME, HOUR, desk
from tests.contract.runtime.stage import (
    OTTO,
    SHELL,
    Crash,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Strict


async def test_what_is_due_is_done_and_shown_once(any_stage: Stage) -> None:
    at = await desk(any_stage, model := Strict(["all is well"]))
    planned = await at.plan("every hour", task=Task(TaskKind.PROMPT, "What changed?\n\n# Here\nas written"))
    await at.fire(HOUR - timedelta(minutes=1))
    assert await any_stage.screen() == []
    await at.fire(timedelta(minutes=1))
    await at.fire(timedelta(minutes=1))
    assert await any_stage.screen() == ["all is well"]
    [one] = await at.history(planned)
    assert (one.state, one.attempts, one.shown, one.wanted) == (OccurrenceState.DONE, 1, 1, 1)
    assert one.planned_at == planned.next_at
    assert (await at.now(planned)).next_at == one.planned_at + HOUR
    [turn] = model.requests[0].turns
    assert isinstance(turn, UserTurn)
    assert "What changed?\n\n# Here\nas written" in turn.text, "the task stands as it was written"
    assert await any_stage.rows("SELECT 1 FROM signals WHERE answered_at IS NULL") == []


async def test_nothing_of_it_is_shown_before_its_end_and_the_room_goes_on_beside_it(stage: Stage) -> None:
    at = await desk(stage, Strict([slow := held("the report"), "hello"]))
    await at.plan()
    stage.clock.advance(HOUR)
    await at.process.timer.look()
    async with at.process.running():
        await slow.begun.wait()
        await at.process.say("hi")
        async with asyncio.timeout(30):
            while not await stage.answers():  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0)
        assert await stage.screen() == ["hello"]
        slow.until.set()
        await at.process.rest()
    assert await stage.screen() == ["hello", "the report"]


async def test_every_destination_gets_it_and_the_model_is_asked_once(any_stage: Stage) -> None:
    at = await desk(any_stage, model := Strict(["for all"]))
    planned = await at.plan(to=[HOME, ELSEWHERE])
    await at.fire()
    assert [await any_stage.screen(room) for room in ("r1", "r2")] == [["for all"], ["for all"]]
    assert len(model.requests) == 1
    [one] = await at.history(planned)
    assert (one.shown, one.wanted) == (2, 2)


async def test_a_report_knows_the_one_before(stage: Stage) -> None:
    at = await desk(stage, model := Strict(["three are open", "two are open"]))
    await at.plan()
    await at.fire()
    await at.fire()
    assert "three are open" not in str(model.requests[0].turns)
    assert "three are open" in str(model.requests[1].turns)


@pytest.mark.parametrize("point", ["fired", "model-answered", "step-recorded", "tool-finished", "delivery-stored"])
async def test_killed_anywhere_each_instant_is_fired_worked_on_and_shown_once(any_stage: Stage, point: str) -> None:
    from tests.contract.runtime.stage import READ

    first = await desk(
        any_stage, Strict([READ, "done", READ, "done"]), fake_tool("look", Effect.READ), probe=crash_at(point)
    )
    planned = await first.plan(to=[HOME, ELSEWHERE])
    any_stage.clock.advance(HOUR)
    if point == "fired":
        with pytest.raises(Crash):
            await first.process.timer.look()
    else:
        await first.process.timer.look()
        await first.process.until_crash()
    at = (
        await desk(
            any_stage,
            Strict([READ, "done"] if point in ("fired", "model-answered") else ["done"]),
            fake_tool("look", Effect.READ),
        )
        if point != "delivery-stored"
        else await desk(any_stage, Strict([]))
    )
    await at.process.timer.look()
    await at.process.answer_all()
    assert [await any_stage.screen(room) for room in ("r1", "r2")] == [["done"], ["done"]]
    assert await at.states(planned) == ["done"]


async def test_timers_that_race_fire_each_instant_once(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["x"] * 20))
    planned = [await at.plan(name=f"n{n}", at=address(f"room{n}")) for n in range(20)]
    any_stage.clock.advance(HOUR)
    await asyncio.gather(*(at.process.timer.look() for _ in range(4)))
    await at.process.answer_all()
    assert [await at.states(one) for one in planned] == [["done"]] * 20
    assert [await any_stage.screen(f"room{n}") for n in range(20)] == [["x"]] * 20


async def test_one_that_is_still_at_work_is_not_overtaken(stage: Stage) -> None:
    at = await desk(stage, Strict([SHELL, "done"]), fake_tool("shell", Effect.DANGER))
    planned = await at.plan()
    await at.fire()  # parked with its question
    await at.fire()
    assert [(one.state.value, one.reason) for one in await at.history(planned)] == [
        ("started", ""),
        ("skipped", OVERLAPS),
    ]
    [asked] = await stage.pending()
    assert asked.address == HOME, "cards are asked at home"
    await at.process.click(asked.id, Choice.APPROVE, who=OTTO)
    await at.process.answer_all()
    assert await at.states(planned) == ["done", "skipped"]
    assert (await stage.screen())[-1] == "done"


async def test_a_stop_in_its_home_ends_it_whether_it_works_or_waits(stage: Stage) -> None:
    at = await desk(stage, Strict([SHELL]), fake_tool("shell", Effect.DANGER))
    planned = await at.plan()
    await at.fire()
    await at.process.stop()
    await at.process.answer_all()
    [one] = await at.history(planned)
    assert one.state is OccurrenceState.FAILED
    assert "Stopped by" in one.reason
    assert (await at.now(planned)).failures == 0


async def test_a_paused_or_removed_one_is_not_fired_and_resuming_makes_up_for_nothing(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["again"]))
    planned, gone = await at.plan(), await at.plan(name="gone")
    await at.process.booking.pause(planned.id, await at.asker())
    await at.process.booking.remove(gone.id, await at.asker())
    await at.fire(5 * HOUR)
    assert await at.states(planned) == await at.states(gone) == []
    resumed = await at.process.booking.resume(planned.id, await at.asker())
    assert resumed.next_at
    assert any_stage.clock.at < resumed.next_at <= any_stage.clock.at + HOUR
    await at.fire()
    assert await at.states(planned) == ["done"]


async def test_a_one_off_ends_its_schedule(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["reminded"]))
    planned = await at.plan("in 20 minutes")
    await at.fire(timedelta(minutes=20))
    assert await any_stage.screen() == ["reminded"]
    assert (await at.now(planned)).state is ScheduleState.ENDED


async def test_start_and_end_bound_it(stage: Stage) -> None:
    at = await desk(stage, Strict(["x", "x"]))
    planned = await at.plan("0 * * * *", starts="2026-03-01 14:30", ends="2026-03-01 16:30")
    for _ in range(8):
        await at.fire()
    assert [f"{one.planned_at:%H:%M}" for one in await at.history(planned)] == ["15:00", "16:00"]
    assert (await at.now(planned)).state is ScheduleState.ENDED


async def test_jitter_moves_when_it_fires_and_not_what_it_is(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan(terms=Terms(jitter=timedelta(minutes=10)))
    await at.fire()
    await at.fire(HOUR + timedelta(minutes=4))
    assert len(await at.history(planned)) == 1
    at.process.ask(Strict(["y"]))
    await at.fire(timedelta(minutes=2))
    assert [one.planned_at for one in await at.history(planned)] == [
        planned.next_at,
        planned.next_at and planned.next_at + HOUR,
    ]


async def test_a_run_that_somebody_asks_for_is_marked_and_changes_no_plan(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["now"]))
    planned = await at.plan()
    await at.process.booking.run_now(planned.id, await at.asker())
    await at.process.answer_all()
    [one] = await at.history(planned)
    assert (one.manual, one.state) == (True, OccurrenceState.DONE)
    assert (await at.now(planned)).next_at == planned.next_at
