"""Waits of parked runs are a row each, and a run is ready when the last of its own is settled."""

from __future__ import annotations

from datetime import timedelta

from runtime.contract import Busy, Outcome, RunId
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.store.operations.after_restore import Origin, after_restore
from runtime.store.protocol import Stock
from runtime.store.runs.waiting.waits import settled
from runtime.store.sql.driver import micros
from tests.contract.store.stage import OTTO, SHELL, START, WRITE, Parked, Stage
from tests.contract.store.test_retention import sweep

OPEN = "SELECT step, kind, subject FROM waits WHERE settled_at IS NULL ORDER BY step"


async def state_of(stage: Stage, run: RunId) -> RunState:
    found = await stage.store.operations.run(run)
    assert found
    return found[0].state


async def wait_for_a_child(stage: Stage, parked: Parked) -> None:
    """What a later version may write: a wait that no click settles."""
    await stage.write("INSERT INTO waits VALUES (:run, 2, 'child', 'c1', NULL)", run=parked.run)


async def settle_the_child(stage: Stage, parked: Parked) -> bool:
    now = stage.clock()
    await stage.write("UPDATE waits SET settled_at = :at WHERE kind = 'child'", at=micros(now))
    return await stage.store.driver.write(lambda: settled(parked.lane.session, parked.run, now))


async def test_a_run_parks_with_a_wait_for_each_question(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    one, two = parked.approvals
    assert await stage.rows(OPEN) == [(2, "approval", one), (3, "approval", two)]


async def test_a_message_without_questions_waits_for_nothing(stage: Stage) -> None:
    await stage.finish(await stage.begin())
    assert await stage.rows("SELECT * FROM waits") == []


async def test_each_answer_settles_its_wait_and_the_last_one_makes_the_run_ready(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    one, two = parked.approvals
    assert not (await stage.click(one, actor=OTTO)).lane_ready
    assert await stage.rows(OPEN) == [(3, "approval", two)]
    assert await state_of(stage, parked.run) is RunState.PARKED
    stage.clock.advance(seconds=5)
    assert (await stage.click(two, actor=OTTO)).lane_ready
    assert await stage.rows(OPEN) == []
    assert await stage.column("SELECT settled_at FROM waits WHERE subject = :s", s=two) == [micros(stage.clock())]
    assert await state_of(stage, parked.run) is RunState.READY


async def test_a_question_that_expires_is_settled_too(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=24 * 365)
    (decided,) = await stage.store.approvals.expire()
    assert decided.lane_ready
    assert await stage.rows(OPEN) == []
    assert await state_of(stage, parked.run) is RunState.READY


async def test_a_run_may_wait_for_something_else_than_a_person(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await wait_for_a_child(stage, parked)
    taken = await stage.click(parked.approvals[0], actor=OTTO)
    assert (taken.verdict.outcome, taken.lane_ready) == (Outcome.DECIDED, False)
    assert await state_of(stage, parked.run) is RunState.PARKED
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    assert await settle_the_child(stage, parked)
    assert (await stage.claim()).run_id == parked.run


async def test_a_run_that_goes_on_already_is_not_made_ready_twice(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0], actor=OTTO)
    assert not await settle_the_child(stage, parked)
    assert await stage.column("SELECT resumable FROM sessions") == [1]


async def test_a_run_that_an_older_node_parked_goes_on_after_its_last_question(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    await stage.write("DELETE FROM waits")  # older versions write none
    one, two = parked.approvals
    assert not (await stage.click(one, actor=OTTO)).lane_ready
    assert await stage.rows(OPEN) == [(3, "approval", two)]
    assert (await stage.click(two, actor=OTTO)).lane_ready


async def test_a_question_that_an_older_node_decided_holds_up_nothing(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    one, two = parked.approvals
    decided = "UPDATE approvals SET state = 'approved', choice = 'approve', decided_at = :at WHERE id = :a"
    await stage.write(decided, at=micros(stage.clock()), a=one)  # and leaves the wait as it was
    assert (await stage.click(two, actor=OTTO)).lane_ready
    assert await stage.rows(OPEN) == []


async def test_a_stopped_run_waits_for_nothing(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    await wait_for_a_child(stage, parked)
    await stage.stop()
    assert await stage.rows(OPEN) == []


async def test_after_a_restore_the_run_waits_for_the_new_question(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    now = stage.clock()
    await stage.store.driver.write(lambda: after_restore(Origin("b1", START, "1.0"), "kim", now, new_id))
    (fresh,) = await stage.column("SELECT id FROM approvals WHERE state = 'pending'")
    assert fresh != parked.approvals[0]
    assert await stage.rows(OPEN) == [(2, "approval", fresh)]
    assert (await stage.click(fresh, actor=OTTO)).lane_ready


async def test_waits_go_with_their_run(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(hours=72)
    await sweep(stage, Stock.RUNS)
    assert len(await stage.rows(OPEN)) == 1
    await stage.stop()
    await stage.drain()
    stage.clock.advance(hours=72)
    assert await sweep(stage, Stock.RUNS, age=timedelta(days=1)) == 1
    assert await stage.rows("SELECT * FROM waits") == []
