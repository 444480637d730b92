"""The ways a run gives up its lane: parked with its questions, finished with its deliveries, or released unfinished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import and_, bindparam, case, update

from runtime.chat import inbox
from runtime.chat.cards import settled_cards
from runtime.contract import Address, ModelReply, NewId, NodeId, RunId, Trigger
from runtime.domain.machines import move
from runtime.domain.runs import FOR_SCHEDULES, RUN_MOVES, STEP_MOVES, RunEvent, RunState, StepEvent, StepState
from runtime.domain.transcript import NOT_FINISHED
from runtime.store.approvals.decisions import withdraw
from runtime.store.approvals.rulings import ADD_APPROVAL, undone
from runtime.store.approvals.waiting import full_chats
from runtime.store.common import at_once, fact, fence_of, owned
from runtime.store.delegation.ending import CHILD_AFTER, Over, child_over
from runtime.store.delegation.rows import LOCK_PARENT, is_of_child
from runtime.store.delegation.showing import show_change
from runtime.store.delegation.stopping import end_awaited
from runtime.store.delivery.enqueue import asks_free, put
from runtime.store.protocol import Below, Lane, NewDelivery, Question, Released, ToolStep
from runtime.store.runs.steps import OPEN_STEPS, RUN_FACTS, SET_STEP, model_step, tool_steps
from runtime.store.runs.suspects import keep_apart
from runtime.store.runs.turns import SET_TURN, add_turn
from runtime.store.runs.waiting.waits import go_on, settled, wait_for_answers, wait_no_more
from runtime.store.schedules.run_occurrence import ended
from runtime.store.schema import runs, sessions, steps
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.tasks.background import task_ended

ENDED: Final[Mapping[tuple[str, RunState], RunState]] = {
    (RunState.RUNNING, state): move(RUN_MOVES, RunState.RUNNING, event)
    for state, event in (
        (RunState.DONE, RunEvent.FINISH),
        (RunState.FAILED, RunEvent.FAIL),
        (RunState.STOPPED, RunEvent.STOP),
    )
}
"""By the state before, which is that of a run at work: the end of any other is a bug."""
REASON_OF_STATE: Final[Mapping[RunState, str]] = {RunState.DONE: "", RunState.STOPPED: "Stopped."}
"""What a run's row says of its end, where that is not its last words."""
FAILURE_MAX_CHARS: Final = 300
"""Characters of an error in the audit: its row is kept for longer than the run."""

_own_run = update(runs).where(runs.c.id == bindparam("run"), is_word(runs.c.state, "running"))
PARK_RUN = _own_run.values(state="parked", error="", ended_at=None, crashes=0).returning(runs.c.requester, runs.c.stop)
END_RUN = _own_run.values(
    state=bindparam("new_state"),
    error=bindparam("why"),
    ended_at=bindparam("at"),
    iterations=runs.c.iterations + bindparam("calls"),
    next_step=bindparam("step"),
    last_turn=bindparam("turn"),
    crashes=case((and_(is_word(bindparam("new_state"), "failed"), bindparam("calls") == 0), runs.c.crashes), else_=0),
)
"""With the last reply, if there was one: a process that brought it did not die of it."""
GIVE_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(
        state=case((sessions.c.waiting + sessions.c.resumable > 0, "ready"), else_="idle"),
        owner=None,
        ready_at=bindparam("at"),
        next_turn=bindparam("next"),
    )
    .returning(sessions.c.state)
)
READY_AGAIN = (
    update(sessions)
    .where(
        sessions.c.key == bindparam("k"),
        sessions.c.owner == bindparam("node"),
        sessions.c.fence == bindparam("old_fence"),
        is_word(sessions.c.state, "running"),
    )
    .values(state="ready", owner=None, fence=sessions.c.fence + 1)
)
DOUBT_STEP = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"), is_word(steps.c.state, "marked"))
    .values(state="asked")
)


def park(
    lane: Lane, run: RunId, questions: Sequence[Question], now: datetime, new_id: NewId, *, works_on: bool = False
) -> Op[Released | None]:
    """Every question with its card, the run parked until they are settled, the lane given up: one transaction.

    One that `works_on` is ready at once: its questions go up before the work that is left.
    """
    mine = yield from owned(lane)
    if mine is None:
        return None
    move(RUN_MOVES, RunState.RUNNING, RunEvent.PARK)
    rows = yield PARK_RUN, {"run": run}
    requester, is_stopped = rows[0]
    questions = () if is_stopped else questions  # whoever stopped it just now found it at work: the next claim ends it
    known = {step.number: step for step in tool_steps((yield OPEN_STEPS, {"run": run}))}
    begun = set()
    for question in questions:
        if (yield from _ask(lane, run, question, known, requester, now, new_id)):
            begun.add(question.card.id)
        yield from _copy(question, run, lane.node, known[question.step], now, new_id)
    if works_on or is_stopped:
        yield from go_on(lane.session, run, now)
    else:
        yield from wait_for_answers(run)
        yield from settled(lane.session, run, now)  # children may have ended before it parked
    rows = yield GIVE_LANE, {"k": lane.session, "at": micros(now), "next": mine[0]}
    elsewhere = dict.fromkeys(copy.address for question in questions for copy in question.copies)
    told = (yield from show_change(run, lane.session, now, new_id)) if questions else ()
    return Released(rows[0][0] == "ready", frozenset(begun), (*elsewhere, *told))


def _copy(question: Question, run: RunId, node: NodeId, step: ToolStep, now: datetime, new_id: NewId) -> Op[None]:
    """Its copies; in a private chat that is full the question joins those behind a line."""
    for copy in sorted(question.copies, key=lambda one: str(one.address)):  # chats are locked in this order everywhere
        mark = question.private.get(copy.address)
        if mark is not None and (yield from full_chats.is_full(copy.address)):
            newest = inbox.newest(question.requester_name, step.call.tool, len(question.further) + 1)
            yield from full_chats.defer(question.id, newest, copy.address, mark, now, new_id)
        else:
            yield from put(copy, (), now, run, node)


def _ask(
    lane: Lane,
    run: RunId,
    question: Question,
    known: Mapping[int, ToolStep],
    requester: str | None,
    now: datetime,
    new_id: NewId,
) -> Op[bool]:
    """The approval and its card, with those of further calls on it; whether showing it is begun."""
    step = known[question.step]
    if step.state is StepState.MARKED:
        move(STEP_MOVES, step.state, StepEvent.DOUBT)
        yield DOUBT_STEP, {"run": run, "n": step.number}
        yield from undone(run, settled_cards.CUT, now, new_id, step=step.number)
    yield from _add(lane, run, question, step, requester, now)
    for more in question.further:
        one = replace(question, id=more.id, step=more.step, caution=more.caution, shown=more.shown, next_call_at=None)
        yield from _add(lane, run, one, known[more.step], requester, now)
    answers = yield at_once(*asks_free(question.card))
    return (yield from put(question.card, answers, now, run, lane.node))


def _add(lane: Lane, run: RunId, question: Question, step: ToolStep, requester: str | None, now: datetime) -> Op[None]:
    """The approval about one call."""
    yield (
        ADD_APPROVAL,
        {
            "id": question.id,
            "kind": question.kind.value,
            "state": "pending",
            "run_id": run,
            "step": step.number,
            "session": lane.session,
            "address": str(question.card.address),
            "tool": step.call.tool,
            "effect": step.effect.value,
            "arguments": step.call.arguments,
            "arguments_hash": step.arguments_hash,
            "policy_version": question.policy_version,
            "caution": question.caution,
            "requester": requester,
            "asked_at": micros(now),
            "expires_at": micros(question.expires_at),
            "decided_by": None,
            "decided_name": "",
            "decided_at": None,
            "choice": None,
            "reason": "",
            "requester_name": question.requester_name,
            "request": question.request,
            "terms": question.terms.to_json(),
            "card": question.shown,
            "asked_arguments": "",
            "outcome": "",
            "calls": 0,
            "next_call_at": question.next_call_at and micros(question.next_call_at),
        },
    )
    yield from fact(now, "approval asked", requester or "", question.id, f"{step.call.tool} {step.arguments_hash[:12]}")


def finish(
    lane: Lane,
    run: RunId,
    number: int,
    reply: ModelReply | None,
    state: RunState,
    text: str,
    new_deliveries: Sequence[NewDelivery],
    now: datetime,
    new_id: NewId,
    until: datetime | None = None,
    *,
    valid: bool = True,
) -> Op[Released | None]:
    """The reply and everything that makes it: step, usage, turn, deliveries, the run's end, the lane."""
    if is_of_child(lane.session):
        yield LOCK_PARENT, {"child": run}
    free = [query for new in new_deliveries for query in asks_free(new)]
    held, facts, unfinished, *answers = yield at_once(
        fence_of(lane), (RUN_FACTS, {"run": run}), (OPEN_STEPS, {"run": run}), *free
    )
    if not held:
        return None
    mine, (*_, before, begun_by) = held[0], facts[0]
    after, trigger = ENDED[before, state], Trigger(begun_by)
    if reply:
        yield from model_step(lane.node, run, number, reply, mine[0], now, facts=facts[0])
    why = REASON_OF_STATE.get(state, text)
    cards_told = yield from _close_steps(lane, run, state, tool_steps(unfinished), why or text, now, new_id)
    thought = reply.reasoning.to_json() if reply and reply.reasoning else ""
    yield from add_turn(lane.session, mine[0], run, "assistant", text, now, reasoning=thought)
    calls = int(reply is not None)
    end = {"run": run, "new_state": after.value, "why": why, "at": micros(now)}
    yield END_RUN, end | {"calls": calls, "step": number + calls, "turn": mine[0]}
    left, begun = iter(answers), set()
    for new in new_deliveries:
        if (yield from put(new, [next(left) for _ in asks_free(new)], now, run, lane.node)):
            begun.add(new.id)
    is_task, count = trigger is Trigger.TASK, len(new_deliveries)
    of_task = (yield from task_ended(run, state, text, now, new_id, until)) if is_task else ()
    told = (
        (yield from ended(run, trigger, state, text, count, now, new_id, until)) if trigger in FOR_SCHEDULES else None
    )
    below = Below() if state is RunState.DONE else (yield from _broken_off(lane, run, state, why or text, now, new_id))
    over = Over()
    if trigger is Trigger.CHILD:
        over = yield from child_over(run, CHILD_AFTER[state], text, now, new_id, valid=valid)
    (rows,) = yield at_once((GIVE_LANE, {"k": lane.session, "at": micros(now), "next": mine[0] + 1}), last=True)
    is_ready, rooms = rows[0][0] == "ready", (*cards_told, *(told or ()), *of_task, *below.told, *over.told)
    return Released(is_ready, frozenset(begun), rooms, planned=told is not None, woken=over.woken)


def _broken_off(lane: Lane, run: RunId, state: RunState, why: str, now: datetime, new_id: NewId) -> Op[Below]:
    """End what it waits for; the audit is told of a failure."""
    if state is RunState.FAILED:
        yield from fact(now, "run failed", lane.node, run, why[:FAILURE_MAX_CHARS])
    below = yield from end_awaited(run, why, now, new_id)
    yield from wait_no_more(run, now)
    return below


def _close_steps(
    lane: Lane, run: RunId, state: RunState, unfinished: Sequence[ToolStep], text: str, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...]]:
    """Calls that will not run any more get a result, so that the history stays whole; rooms whose cards say so."""
    told: tuple[Address, ...] = ()
    if state is not RunState.DONE:  # a workflow asks while other steps of it go on
        told = yield from withdraw(run, text, now, new_id)
    for step in unfinished:
        result = f"{NOT_FINISHED}{text}"
        key = {"run": run, "n": step.number, "new_state": "done", "text": result, "starts": 0, "at": micros(now)}
        yield SET_STEP, key | {"by": lane.node}
        yield SET_TURN, {"s": lane.session, "n": step.turn, "new_text": result}
    return (*told, *(yield from undone(run, settled_cards.NOT_FINISHED, now, new_id))) if unfinished else told


def release(lane: Lane) -> Op[None]:
    yield READY_AGAIN, {"k": lane.session, "node": lane.node, "old_fence": lane.fence}
    yield from keep_apart([lane.session])
