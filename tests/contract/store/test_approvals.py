"""Approvals: decided once, by someone allowed, for the frozen call only; and everything else changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from runtime.approvals import ApprovalState, Rights
from runtime.cards import settled
from runtime.contract import (
    ApprovalId,
    ApprovalKind,
    Busy,
    Choice,
    Kind,
    NodeId,
    Outcome,
    ToolTurn,
)
from runtime.runs import RunState, StepState
from runtime.store.protocol import Taken
from runtime.transcript import WAITING
from tests.contract.store.stage import (
    ADA,
    GATE,
    LIFE,
    OTHER_ROOM,
    OTTO,
    ROOM,
    SHELL,
    STRANGER,
    TTL,
    UMA,
    VERA,
    WRITE,
    Parked,
    Stage,
    step,
)

NO_SELF = replace(GATE, rights=Rights(self_approval=False))
CHOSEN = replace(GATE, rights=Rights(approvers=frozenset({UMA})))


async def result_of(stage: Stage, parked: Parked) -> str:
    (result,) = [t.text for t in await stage.store.turns(parked.lane.session) if isinstance(t, ToolTurn)]
    return result


async def doubted(stage: Stage) -> ApprovalId:
    """A question about a call that was cut."""
    claim = await stage.begin("do it")
    await stage.record(claim, step(SHELL))
    await stage.store.mark_tool(claim.lane, claim.run_id, 2)
    question = stage.ask(claim, 2, SHELL, kind=ApprovalKind.OUTCOME)
    await stage.store.park(claim.lane, claim.run_id, [question])
    return question.id


# -------------------------------------------------------------------------------------------------------- decisions


async def test_a_question_freezes_the_call(stage: Stage) -> None:
    parked = await stage.park(SHELL, actor=UMA)
    approval = await stage.store.approval(parked.approvals[0])
    assert approval is not None
    requester = await stage.store.person_named("Uma")
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
    [(Choice.AGAIN, StepState.OPEN, WAITING), (Choice.DONE, None, "carried out"), (Choice.SKIP, None, "go on without")],
)
async def test_a_person_says_what_became_of_a_cut_call(
    stage: Stage, choice: Choice, state: StepState | None, word: str
) -> None:
    question = await doubted(stage)
    await stage.click(question, choice)
    approval = await stage.store.approval(question)
    assert approval is not None
    assert (approval.state, approval.choice) == (ApprovalState.ANSWERED, choice)
    claim = await stage.claim()
    assert [s.state for s in claim.steps] == ([state] if state else [])
    assert any(isinstance(t, ToolTurn) and word in t.text for t in await stage.store.turns(claim.lane.session))


async def test_a_decision_says_who_and_when(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=2)
    await stage.click(parked.approvals[0], actor=OTTO)
    approval = await stage.store.approval(parked.approvals[0])
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
    assert await stage.store.claim(stage.lease, Busy.STEER) is None
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
    stage.lease = await stage.store.join(NodeId("heir"), "", TTL, alone=True)
    assert not await stage.store.beat(doomed, TTL)
    await stage.click(parked.approvals[0])
    claim = await stage.claim()
    assert [s.call for s in claim.steps] == [SHELL]
    assert claim.address == ROOM


# --------------------------------------------------------------------------------------- clicks that change nothing


async def _late(stage: Stage, parked: Parked) -> Taken:
    stage.clock.advance(hours=12)
    return await stage.click(parked.approvals[0])


async def _again(stage: Stage, parked: Parked) -> Taken:
    await stage.click(parked.approvals[0], Choice.DENY)
    return await stage.click(parked.approvals[0])


Click = Callable[[Stage, Parked], Awaitable[Taken]]
REFUSED: dict[str, Click] = {
    "a stranger": lambda s, p: s.click(p.approvals[0], actor=STRANGER),
    "a viewer": lambda s, p: s.click(p.approvals[0], actor=VERA),
    "a user, for a dangerous call": lambda s, p: s.click(p.approvals[0], actor=UMA, gate=CHOSEN),
    "someone not among the approvers": lambda s, p: s.click(p.approvals[0], actor=ADA, gate=CHOSEN),
    "the requester, where that is off": lambda s, p: s.click(p.approvals[0], actor=ADA, gate=NO_SELF),
    "another room": lambda s, p: s.click(p.approvals[0], at=OTHER_ROOM),
    "another account": lambda s, p: s.click(p.approvals[0], at=replace(ROOM, account="two")),
    "a user at the console": lambda s, p: s.click(p.approvals[0], actor=UMA, gate=CHOSEN, console=True),
    "a forged id": lambda s, p: s.click(ApprovalId("0" * 22)),
    "an id with a nul": lambda s, p: s.click(ApprovalId("\0")),
    "an answer of another question": lambda s, p: s.click(p.approvals[0], Choice.DONE),
    "after its time": _late,
}


@pytest.mark.parametrize("who", REFUSED)
async def test_a_click_that_does_not_count_changes_nothing(stage: Stage, who: str) -> None:
    parked = await stage.park(SHELL)
    before = await stage.everything()
    taken = await REFUSED[who](stage, parked)
    after = await stage.everything()
    assert taken.verdict.outcome in (Outcome.UNCHANGED, Outcome.REFUSED)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"moves"} == {"signals", "audit"}  # moves keep for `trace` that somebody tried


@pytest.mark.parametrize("who", REFUSED)
async def test_a_click_that_does_not_count_is_explained_to_the_one_who_clicked(stage: Stage, who: str) -> None:
    taken = await REFUSED[who](stage, await stage.park(SHELL))
    assert taken.verdict.notice
    assert len(taken.verdict.notice) <= 200


@pytest.mark.parametrize("who", REFUSED)
async def test_a_click_that_does_not_count_is_audited(stage: Stage, who: str) -> None:
    before = len(await stage.audit("click refused")) + len(await stage.audit("refused"))
    await REFUSED[who](stage, await stage.park(SHELL))
    assert len(await stage.audit("click refused")) + len(await stage.audit("refused")) == before + 1


async def test_a_second_click_keeps_the_first_decision(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    taken = await _again(stage, parked)
    approval = await stage.store.approval(parked.approvals[0])
    assert taken.verdict.outcome is Outcome.UNCHANGED
    assert approval is not None
    assert approval.state is ApprovalState.DENIED


async def test_a_reason_with_a_long_text_still_gives_a_short_notice(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0], Choice.DENY, "because " * 100)
    notice = (await stage.click(parked.approvals[0])).verdict.notice
    assert notice is not None
    assert len(notice) <= 200


async def test_a_changed_call_cannot_be_approved(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.write("UPDATE approvals SET arguments = '{}'")
    assert (await stage.click(parked.approvals[0])).verdict.outcome is Outcome.UNCHANGED


async def test_a_user_may_answer_for_a_plain_write_when_named(stage: Stage) -> None:
    parked = await stage.park(WRITE)
    assert (await stage.click(parked.approvals[0], actor=UMA, gate=CHOSEN)).verdict.outcome is Outcome.DECIDED


async def test_an_operator_may_answer_from_the_console(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    taken = await stage.click(parked.approvals[0], actor=OTTO, at=OTHER_ROOM, console=True)
    assert taken.verdict.outcome is Outcome.DECIDED


async def test_a_click_in_another_thread_of_the_room_counts(stage: Stage) -> None:
    parked = await stage.park(SHELL, at=replace(ROOM, thread="1"))
    assert (await stage.click(parked.approvals[0], at=ROOM)).verdict.outcome is Outcome.DECIDED


@pytest.mark.parametrize("second", [Choice.APPROVE, Choice.DENY])
async def test_of_fifteen_clicks_at_once_one_decides(stage: Stage, second: Choice) -> None:
    parked = await stage.park(SHELL)
    await stage.many()
    clicks = [
        stage.click(parked.approvals[0], second if n % 2 else Choice.APPROVE, actor=OTTO if n % 2 else ADA)
        for n in range(15)
    ]
    outcomes = sorted(t.verdict.outcome for t in await asyncio.gather(*clicks))
    assert outcomes == [Outcome.DECIDED, *[Outcome.UNCHANGED] * 14]
    assert await stage.column("SELECT count(*) FROM votes") == [1]
    assert await stage.column("SELECT resumable FROM sessions") == [1]


async def test_the_last_two_questions_clicked_at_once_make_the_run_ready_once(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    await stage.many()
    taken = await asyncio.gather(*(stage.click(a, actor=OTTO) for a in parked.approvals))
    assert sorted(t.lane_ready for t in taken) == [False, True]
    assert await stage.column("SELECT resumable FROM sessions") == [1]


# ----------------------------------------------------------------------------------------------------- time is over


async def test_a_question_expires(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    stage.clock.advance(hours=12)
    (expired,) = await stage.store.expire()
    assert (expired.session, expired.lane_ready, expired.deliveries) == (parked.lane.session, True, (ROOM,))
    assert "expired" in await result_of(stage, parked)
    assert (await stage.claim()).run_id == parked.run


async def test_a_question_does_not_expire_early(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(hours=11.9)
    assert await stage.store.expire() == []


async def test_a_question_expires_once(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(hours=12)
    both = await asyncio.gather(stage.store.expire(), stage.store.expire())
    assert sorted(len(found) for found in both) == [0, 1]
    assert await stage.column("SELECT count(*) FROM deliveries WHERE ordinal = 1") == [1]


async def test_a_decided_question_does_not_expire(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    stage.clock.advance(hours=24)
    assert await stage.store.expire() == []


async def test_many_expire_a_hundred_at_a_time(stage: Stage) -> None:
    claim = await stage.begin()
    calls = [replace(SHELL, id=f"c{n}") for n in range(120)]
    await stage.record(claim, *(step(call, StepState.ASKED) for call in calls))
    await stage.store.park(claim.lane, claim.run_id, [stage.ask(claim, n, call) for n, call in enumerate(calls, 2)])
    stage.clock.advance(hours=12)
    assert [len(await stage.store.expire()) for _ in range(3)] == [100, 20, 0]
    assert (await stage.claim()).run_id == claim.run_id


# ----------------------------------------------------------------------------------------------------------- cards


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
    approval = await stage.store.approval(parked.approvals[0])
    assert approval is not None
    assert [t.deliveries for t in taken if t.verdict.outcome is Outcome.DECIDED] == [(ROOM,)]
    assert (edit.delivery.edits, edit.delivery.content) == (card.delivery.id, settled(approval))
    assert edit.delivery.content.buttons == ()


async def test_a_settled_card_waits_for_the_first(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    (only,) = await stage.waiting()
    assert (only.delivery.ordinal, only.delivery.edits) == (0, None)


# ---------------------------------------------------------------------------------------------------------- reading


async def test_approvals_are_listed_newest_first(stage: Stage) -> None:
    one = await stage.park(SHELL, text="one")
    stage.clock.advance(seconds=1)
    two = await stage.park(SHELL, text="two")
    assert [a.id for a in await stage.store.approvals()] == [*two.approvals, *one.approvals]


async def test_approvals_are_listed_by_state(stage: Stage) -> None:
    parked = await stage.park(SHELL, WRITE)
    await stage.click(parked.approvals[0])
    assert [a.id for a in await stage.store.approvals(state=ApprovalState.PENDING)] == [parked.approvals[1]]
    assert [a.id for a in await stage.store.approvals(limit=1, state=ApprovalState.APPROVED)] == [parked.approvals[0]]


async def test_an_unknown_approval_is_none(stage: Stage) -> None:
    assert await stage.store.approval(ApprovalId("nothing")) is None


# ------------------------------------------------------------------------------------------------------------- stop


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
        await store.mark_tool(claim.lane, claim.run_id, 2),
        await store.finish_tool(claim.lane, claim.run_id, 2, "x"),
        await store.steer(claim.lane, claim.run_id),
        await store.note(claim.lane, claim.run_id, "x"),
    ]
    assert [t.stop for t in told if t] == [True] * 4


async def test_a_stop_is_known_to_the_node_that_resumes(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.stop()
    await stage.store.release(claim.lane)
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
    (run,) = await stage.store.runs()
    assert (run.id, run.state, run.ended_at) == (parked.run, RunState.STOPPED, stage.clock())
    assert {a.state for a in await stage.store.approvals()} == {ApprovalState.VOID}


async def test_a_stopped_parked_run_answers_its_message(stage: Stage) -> None:
    await stage.park(SHELL)
    await stage.stop()
    assert "Stopped by Ada." in await stage.drain()
    assert None not in await stage.column("SELECT answered_at FROM signals WHERE kind = 'said'")


async def test_a_stopped_parked_run_leaves_no_placeholder(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.stop()
    assert await result_of(stage, parked) != WAITING
    assert await stage.column("SELECT state FROM steps WHERE kind = 'tool'") == ["done"]


@pytest.mark.parametrize("decided", [False, True])
async def test_after_a_stop_the_session_works_as_before(stage: Stage, decided: bool) -> None:
    parked = await stage.park(SHELL)
    if decided:
        await stage.click(parked.approvals[0])
    await stage.stop()
    assert await stage.rows("SELECT waiting, resumable FROM sessions") == [(0, 0)]
    assert await stage.store.claim(stage.lease, Busy.STEER) is None
    claim = await stage.begin("next")
    assert claim.run_id != parked.run
    assert await stage.finish(claim) is not None


async def test_a_stop_ends_the_running_and_the_parked(stage: Stage) -> None:
    await stage.park(SHELL, text="one")
    live = await stage.begin("two")
    assert (await stage.stop()).stop_runs == (live.run_id,)
    await stage.finish(live, "Stopped.", RunState.STOPPED)
    assert {run.state for run in await stage.store.runs()} == {RunState.STOPPED}


async def test_a_click_after_a_stop_changes_nothing(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.stop()
    assert (await stage.click(parked.approvals[0])).verdict.outcome is Outcome.UNCHANGED


async def test_a_click_and_a_stop_at_once_end_in_one_way(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.many()
    await asyncio.gather(stage.click(parked.approvals[0]), stage.stop())
    (run,) = await stage.store.runs()
    assert run.state is RunState.STOPPED
    assert await stage.column("SELECT resumable FROM sessions") == [0]
    assert await stage.store.claim(stage.lease, Busy.STEER) is None
