"""Decisions: once, by someone allowed, for the frozen call alone."""

from __future__ import annotations

import pytest

from runtime.contract import (
    ApprovalId,
    Busy,
    Choice,
    NodeId,
    Outcome,
    ToolTurn,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import StepState
from runtime.domain.transcript import WAITING_FOR_APPROVAL
from tests.contract.store.asking import doubted, result_of
from tests.contract.store.stage import (
    LIFE,
    OTTO,
    ROOM,
    SHELL,
    TTL,
    UMA,
    WRITE,
    Stage,
)

# ------------------------------------------------------------------------------------------------------------ decisions


async def test_a_question_freezes_the_call(stage: Stage) -> None:
    parked = await stage.park(SHELL, actor=UMA)
    approval = await stage.store.approvals.approval(parked.approvals[0])
    assert approval is not None
    requester = await stage.store.people.person_named("Uma")
    assert requester is not None
    assert (approval.tool, approval.arguments, approval.state) == (SHELL.tool, SHELL.arguments, ApprovalState.PENDING)
    assert (approval.run_id, approval.step, approval.address) == (parked.run, 2, ROOM)
    assert (approval.requester, approval.expires_at) == (requester.person.id, stage.clock() + LIFE)
    assert approval.policy_version == "policy-1"


async def test_an_approved_call_may_run(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    taken = await stage.click(parked.approvals[0])
    assert (taken.verdict.outcome, taken.session, taken.lane_ready) == (Outcome.DECIDED, parked.lane.session, True)
    claim = await stage.claim()
    assert (claim.run_id, claim.resumed) == (parked.run, True)
    assert [(s.call, s.state) for s in claim.steps] == [(SHELL, StepState.OPEN)]


async def test_a_denied_call_does_not_run_and_the_model_is_told_why(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0], Choice.DENY, "too risky")
    assert (await stage.claim()).steps == ()
    result = await result_of(stage, parked)
    assert "too risky" in result
    assert "Ada" in result


@pytest.mark.parametrize(
    ("choice", "state", "word"),
    [
        (Choice.AGAIN, StepState.OPEN, WAITING_FOR_APPROVAL),
        (Choice.DONE, None, "carried out"),
        (Choice.SKIP, None, "go on without"),
    ],
)
async def test_a_person_says_what_became_of_a_cut_call(
    stage: Stage, choice: Choice, state: StepState | None, word: str
) -> None:
    question = await doubted(stage)
    await stage.click(question, choice)
    approval = await stage.store.approvals.approval(question)
    assert approval is not None
    assert (approval.state, approval.choice) == (ApprovalState.ANSWERED, choice)
    claim = await stage.claim()
    assert [s.state for s in claim.steps] == ([state] if state else [])
    assert any(isinstance(t, ToolTurn) and word in t.text for t in await stage.store.runs.turns(claim.lane.session))


async def test_a_decision_says_who_and_when(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=2)
    await stage.click(parked.approvals[0], actor=OTTO)
    approval = await stage.store.approvals.approval(parked.approvals[0])
    assert approval is not None
    assert (approval.state, approval.decided_name, approval.decided_at) == (
        ApprovalState.APPROVED,
        "Otto",
        stage.clock(),
    )


async def test_a_vote_is_kept(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0], Choice.DENY, "no")
    assert await stage.rows("SELECT approval_id, choice, reason FROM votes") == [(parked.approvals[0], "deny", "no")]


async def test_a_decision_is_audited(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    assert [(actor, about) for actor, about, _ in await stage.audit("approval approved")] == [
        ("Ada", parked.approvals[0])
    ]


async def test_a_run_goes_on_only_when_all_is_decided(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    first = await stage.click(parked.approvals[1])
    assert not first.lane_ready
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    second = await stage.click(parked.approvals[0], Choice.DENY)
    assert second.lane_ready
    assert [s.call for s in (await stage.claim()).steps] == [WRITE]


async def test_a_decided_run_waits_for_the_working_lane(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    other = await stage.begin("something else")
    taken = await stage.click(parked.approvals[0])
    assert not taken.lane_ready
    released = await stage.finish(other)
    assert released is not None
    assert released.more
    assert (await stage.claim()).run_id == parked.run


async def test_a_decided_run_goes_before_what_waits(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.say("something else")
    await stage.click(parked.approvals[0])
    assert (await stage.claim()).run_id == parked.run


async def test_two_decided_runs_of_one_session_take_turns(stage: Stage) -> None:
    one, two = await stage.park(SHELL, text="one"), await stage.park(SHELL, text="two")
    await stage.click(two.approvals[0])
    stage.clock.advance(seconds=1)
    await stage.click(one.approvals[0])
    first = await stage.claim()
    await stage.finish(first)
    assert [first.run_id, (await stage.claim()).run_id] == [two.run, one.run]


async def test_another_node_goes_on_two_hours_and_a_death_later(stage: Stage) -> None:
    doomed = stage.lease
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=2)
    stage.lease = await stage.store.cluster.join(NodeId("heir"), "", TTL, alone=True)
    assert not await stage.store.cluster.beat(doomed, TTL)
    await stage.click(parked.approvals[0])
    claim = await stage.claim()
    assert [s.call for s in claim.steps] == [SHELL]
    assert claim.address == ROOM


# -------------------------------------------------------------------------------------------------------------- reading


async def test_approvals_are_listed_newest_first(stage: Stage) -> None:
    one = await stage.park(SHELL, text="one")
    stage.clock.advance(seconds=1)
    two = await stage.park(SHELL, text="two")
    assert [a.id for a in await stage.store.approvals.approvals()] == [*two.approvals, *one.approvals]


async def test_approvals_are_listed_by_state(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    await stage.click(parked.approvals[0])
    assert [a.id for a in await stage.store.approvals.approvals(state=ApprovalState.PENDING)] == [parked.approvals[1]]
    assert [a.id for a in await stage.store.approvals.approvals(limit=1, state=ApprovalState.APPROVED)] == [
        parked.approvals[0]
    ]


async def test_an_unknown_approval_is_none(stage: Stage) -> None:
    assert await stage.store.approvals.approval(ApprovalId("nothing")) is None
