"""How a question ends without a decision, and what its card says."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from runtime.chat.cards.settled_cards import settled
from runtime.contract import (
    Busy,
    Kind,
    Outcome,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import RunState, StepState
from runtime.domain.transcript import WAITING_FOR_APPROVAL
from runtime.store.approvals.decisions import EXPIRED_AT_ONCE
from runtime.store.protocol import Ended
from tests.contract.store.asking import result_of
from tests.contract.store.stage import (
    LIFE,
    OTHER_ROOM,
    OTTO,
    ROOM,
    SHELL,
    WRITE,
    Stage,
    step,
)

# --------------------------------------------------------------------------------------------------------- time is over


async def test_a_question_expires(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=12)
    (expired,) = await stage.store.approvals.expire()
    assert (expired.session, expired.lane_ready, expired.deliveries) == (parked.lane.session, True, (ROOM,))
    assert "expired" in await result_of(stage, parked)
    assert (await stage.claim()).run_id == parked.run


async def test_a_question_does_not_expire_early(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(hours=11.9)
    assert await stage.store.approvals.expire() == []


async def test_a_question_expires_once(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(hours=12)
    both = await asyncio.gather(stage.store.approvals.expire(), stage.store.approvals.expire())
    assert sorted(len(found) for found in both) == [0, 1]
    assert await stage.column("SELECT count(*) FROM deliveries WHERE ordinal = 1") == [1]


async def test_a_decided_question_does_not_expire(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    stage.clock.advance(hours=24)
    assert await stage.store.approvals.expire() == []


async def test_many_expire_a_hundred_at_a_time(stage: Stage) -> None:
    claim = await stage.begin()
    calls = [replace(SHELL, id=f"c{n}") for n in range(120)]
    await stage.record(claim, *(step(call, StepState.ASKED) for call in calls))
    await stage.store.runs.park(
        claim.lane, claim.run_id, [stage.ask(claim, n, call) for n, call in enumerate(calls, 2)]
    )
    stage.clock.advance(hours=12)
    assert [len(await stage.store.approvals.expire()) for _ in range(3)] == [100, 20, 0]
    assert (await stage.claim()).run_id == claim.run_id


# ---------------------------------------------------------------------------------------------------------------- cards


async def test_a_card_is_shown_before_its_question_is_answered(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    waiting = await stage.waiting()
    assert [d.delivery.content.buttons[0].approval_id for d in waiting] == list(parked.approvals)
    assert {d.delivery.kind for d in waiting} == {Kind.APPROVAL}


async def test_a_settled_card_replaces_the_first_once(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    (card,) = await stage.waiting()
    await stage.show(card.delivery.id, await stage.duty())
    taken = await asyncio.gather(*(stage.click(parked.approvals[0], actor=OTTO) for _ in range(5)))
    (edit,) = await stage.waiting()
    approval = await stage.store.approvals.approval(parked.approvals[0])
    assert approval is not None
    assert [t.deliveries for t in taken if t.verdict.outcome is Outcome.DECIDED] == [(ROOM,)]
    assert (edit.delivery.edits, edit.delivery.content) == (card.delivery.id, settled(approval))
    assert edit.delivery.content.buttons == ()


async def test_a_settled_card_waits_for_the_first(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    (only,) = await stage.waiting()
    assert (only.delivery.ordinal, only.delivery.edits) == (0, None)


# ----------------------------------------------------------------------------------------------------------------- stop


async def test_stop_with_nothing_to_stop_says_so(stage: Stage) -> None:
    taken = await stage.stop()
    assert taken.verdict.outcome is Outcome.UNCHANGED
    assert taken.verdict.notice


async def test_a_running_run_is_asked_to_stop(stage: Stage) -> None:
    claim = await stage.begin()
    taken = await stage.stop()
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.DECIDED, (claim.run_id,))
    assert (await stage.record(claim, step(SHELL))).stop


async def test_every_write_of_a_stopped_run_tells_so(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(SHELL))
    await stage.stop()
    store = stage.store
    told = [
        await store.runs.mark_tool(claim.lane, claim.run_id, 2),
        await store.runs.finish_tool(claim.lane, claim.run_id, 2, "x"),
        await store.runs.steer(claim.lane, claim.run_id),
        await store.runs.note(claim.lane, claim.run_id, "x"),
    ]
    assert [t.stop for t in told if t] == [True] * 4


async def test_a_stop_is_known_to_the_node_that_resumes(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.stop()
    await stage.store.runs.release(claim.lane)
    assert (await stage.claim()).stop


async def test_a_stop_in_another_room_stops_nothing_here(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.stop(at=OTHER_ROOM)
    assert not (await stage.record(claim, step(SHELL))).stop


async def test_a_parked_run_ends_when_stopped(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    taken = await stage.stop()
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.DECIDED, ())
    assert set(taken.deliveries) == {ROOM}
    assert taken.ended == (Ended(parked.run, planned=False),)
    (run,) = await stage.store.operations.runs()
    assert (run.id, run.state, run.ended_at) == (parked.run, RunState.STOPPED, stage.clock())
    assert {a.state for a in await stage.store.approvals.approvals()} == {ApprovalState.VOID}


async def test_a_stopped_parked_run_answers_its_message(stage: Stage) -> None:
    await stage.park(SHELL)
    await stage.stop()
    assert "Stopped by Ada." in await stage.drain()
    assert None not in await stage.column("SELECT answered_at FROM signals WHERE kind = 'said'")


async def test_a_stopped_parked_run_leaves_no_placeholder(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.stop()
    assert await result_of(stage, parked) != WAITING_FOR_APPROVAL
    assert await stage.column("SELECT state FROM steps WHERE kind = 'tool'") == ["done"]


@pytest.mark.parametrize("decided", [False, True])
async def test_after_a_stop_the_session_works_as_before(stage: Stage, decided: bool) -> None:
    parked = await stage.park(SHELL)
    if decided:
        await stage.click(parked.approvals[0])
    await stage.stop()
    assert await stage.rows("SELECT waiting, resumable FROM sessions") == [(0, 0)]
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    claim = await stage.begin("next")
    assert claim.run_id != parked.run
    assert await stage.finish(claim) is not None


async def test_a_stop_ends_the_running_and_the_parked(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="one")
    live = await stage.begin("two")
    taken = await stage.stop()
    assert (taken.stop_runs, [one.run for one in taken.ended]) == ((live.run_id,), [parked.run])
    await stage.finish(live, "Stopped.", RunState.STOPPED)
    assert {run.state for run in await stage.store.operations.runs()} == {RunState.STOPPED}


async def test_a_click_after_a_stop_changes_nothing(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.stop()
    assert (await stage.click(parked.approvals[0])).verdict.outcome is Outcome.UNCHANGED


async def test_a_click_and_a_stop_at_once_end_in_one_way(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.many()
    await asyncio.gather(stage.click(parked.approvals[0]), stage.stop())
    (run,) = await stage.store.operations.runs()
    assert run.state is RunState.STOPPED
    assert await stage.column("SELECT resumable FROM sessions") == [0]
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


async def test_many_that_are_overdue_end_in_several_transactions(stage: Stage) -> None:
    """An operation that takes longer than a database may be silent is cut off: of all at once none would ever end."""
    for number in range(EXPIRED_AT_ONCE):
        await stage.park(WRITE, SHELL, at=replace(ROOM, room=f"r{number}"))
    stage.clock.advance(seconds=LIFE.total_seconds() + 1)
    driver, write, sizes = stage.store.driver, stage.store.driver.write, list[int]()

    async def counted(make: Any, **more: Any) -> Any:
        ended = await write(make, **more)
        sizes.append(len(ended))
        return ended

    setattr(driver, "write", counted)  # noqa: B010 - a method is put in its place
    assert len(await stage.store.approvals.expire()) == 2 * EXPIRED_AT_ONCE
    assert sizes == [EXPIRED_AT_ONCE, EXPIRED_AT_ONCE, 0]
