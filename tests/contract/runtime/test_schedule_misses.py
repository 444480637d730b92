"""What was missed, what failed, and what was too quiet or too dear."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.contract import (
    Misfire,
    OccurrenceState,
    ScheduleState,
    Terms,
    Usage,
)
from runtime.contract.models import ModelReply
from runtime.domain.schedules import MADE_UP, MISSED, NO_NEWS, PAUSED_AFTER, SPENT, WAITS
from runtime.errors import ModelFailed
from tests.contract.runtime.planning import HOUR, desk
from tests.contract.runtime.stage import (
    Stage,
)
from tests.contract.runtime.strict import Strict

# --------------------------------------------------------------------------------------------------------------- missed


@pytest.mark.parametrize(
    ("terms", "fired", "why"),
    [
        (Terms(misfire=Misfire.SKIP), [], MISSED),
        (Terms(misfire=Misfire.ONCE), [-1], MADE_UP),
        (Terms(misfire=Misfire.ALL, catch_up=3), [-3, -2, -1], MISSED),
        (Terms(misfire=Misfire.WINDOW, window=timedelta(minutes=100)), [-2, -1], MISSED),
    ],
    ids=["skip", "once", "all", "window"],
)
async def test_what_was_missed_follows_the_policy_and_every_skip_can_be_seen(
    any_stage: Stage, terms: Terms, fired: list[int], why: str
) -> None:
    at = await desk(any_stage, Strict(["x"] * len(fired)))
    planned = await at.plan(terms=terms)
    await at.fire(100 * HOUR + timedelta(minutes=10))
    history = await at.history(planned)
    assert len(history) == 100
    assert [n - 100 for n, one in enumerate(history) if one.state is OccurrenceState.DONE] == fired
    assert {one.reason for one in history if one.state is OccurrenceState.SKIPPED} == {why}


async def test_after_a_very_long_rest_the_skips_are_told_shortly(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan("every 5 minutes")
    await at.fire(timedelta(days=30))
    history = await at.history(planned)
    assert len(history) == 101
    assert history[0].reason == f"{MADE_UP}, and 8,539 before this"


# -------------------------------------------------------------------------------------------------------------- failing


async def test_a_failing_one_is_tried_again_later_and_later_then_paused_and_told(any_stage: Stage) -> None:
    """Scenario 35."""
    at = await desk(any_stage, Strict([ModelFailed("the model is away")] * PAUSED_AFTER))
    planned = await at.plan("every day at 9")
    any_stage.clock.at = planned.next_at or any_stage.clock.at
    await at.fire(timedelta())
    for wait in WAITS:
        await at.fire(wait - timedelta(seconds=1))
        [one] = await at.history(planned)
        assert one.state is OccurrenceState.PLANNED
        await at.fire(timedelta(seconds=2))
    [one] = await at.history(planned)
    assert (one.state, one.attempts) == (OccurrenceState.FAILED, PAUSED_AFTER)
    stopped = await at.now(planned)
    assert (stopped.state, stopped.failures) == (ScheduleState.PAUSED, PAUSED_AFTER)
    [told] = await any_stage.screen()
    assert all(words in told for words in ("news", "5 times in a row", "the model is away")), told
    resumed = await at.process.booking.resume(planned.id, await at.asker())
    assert (resumed.state, resumed.failures, resumed.reason) == (ScheduleState.ACTIVE, 0, "")


async def test_a_success_forgets_the_failures_before_it(stage: Stage) -> None:
    at = await desk(stage, Strict([ModelFailed("away"), "back"]))
    planned = await at.plan("every day at 9")
    stage.clock.at = planned.next_at or stage.clock.at
    await at.fire(timedelta())
    await at.fire(WAITS[0])
    assert await stage.screen() == ["back"]
    assert await at.states(planned) == ["done"]
    assert (await at.now(planned)).failures == 0


async def test_the_next_instant_comes_before_another_try(stage: Stage) -> None:
    at = await desk(stage, Strict([ModelFailed("away")] * 2 + ["back"]))
    planned = await at.plan("every 3 minutes")
    await at.fire(timedelta(minutes=3))
    await at.fire(WAITS[0])  # fails again: five minutes are too long now
    assert await at.states(planned) == ["failed"]
    await at.fire(timedelta(minutes=2))
    assert await at.states(planned) == ["failed", "done"]


# ----------------------------------------------------------------------------------------------------- quiet and costly


@pytest.mark.parametrize("text", [NO_NEWS, f"**{NO_NEWS}.**", "no news"])
async def test_without_news_a_quiet_one_is_silent(any_stage: Stage, text: str) -> None:
    at = await desk(any_stage, model := Strict([text, "news!"]))
    planned = await at.plan(terms=Terms(quiet=True))
    await at.fire()
    assert await any_stage.screen() == []
    assert NO_NEWS in str(model.requests[0].turns)
    await at.fire()
    assert await any_stage.screen() == ["news!"]
    assert [one.silent for one in await at.history(planned)] == [True, False]
    assert await any_stage.rows("SELECT 1 FROM signals WHERE answered_at IS NULL") == []


async def test_money_for_a_day_is_a_bound(any_stage: Stage) -> None:
    dear = ModelReply("dear", (), Usage("m", 1, 1, cost_micros=600_000))
    at = await desk(any_stage, Strict([dear, dear, dear]))
    planned = await at.plan(terms=Terms(most_micros=1_000_000))
    for _ in range(3):
        await at.fire()
    assert await at.states(planned) == ["done", "done", "skipped"]
    assert (await at.history(planned))[-1].reason == SPENT
    await at.fire(timedelta(hours=23))
    assert (await at.states(planned))[-1] == "done"
