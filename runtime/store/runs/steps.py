"""Steps of a run: one committed record for each model call, a marker and a result for each tool call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, case, exists, func, select, update

from runtime.chat.cards import settled_cards
from runtime.contract import Address, ApprovalKind, Call, Effect, FileRef, ModelReply, NewId, NodeId, RunId, files_json
from runtime.domain.machines import move
from runtime.domain.runs import NOT_DONE, STEP_MOVES, StepEvent, StepState
from runtime.domain.transcript import ERROR
from runtime.policy.modes import Mode
from runtime.store.approvals.granted.rows import use
from runtime.store.approvals.modes import is_read_only, mode_at
from runtime.store.approvals.rulings import ONE, approval_of, came_of, changed_words
from runtime.store.approvals.undo_offers import offer
from runtime.store.common import add, at_once, fact, fence_of, owned
from runtime.store.protocol import Lane, NewStep, Recorded, ToolStep
from runtime.store.runs.turns import SET_FILES, SET_TURN, add_turn
from runtime.store.schema import approvals, runs, sessions, steps, usage
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.text.outside import unfenced

OPEN_STEPS = (
    select(
        steps.c.number,
        steps.c.call_id,
        steps.c.tool,
        steps.c.arguments,
        steps.c.effect,
        steps.c.arguments_hash,
        steps.c.state,
        steps.c.turn,
        steps.c.caution,
        steps.c.sealed,
        exists().where(
            approvals.c.run_id == steps.c.run_id,
            approvals.c.step == steps.c.number,
            is_word(approvals.c.state, "pending"),
        ),
    )
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.state, *NOT_DONE))
    .order_by(steps.c.number)
)

CALLS = (
    select(steps.c.call_id, steps.c.tool, steps.c.arguments, steps.c.state, steps.c.result)
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.kind, "tool"))
    .order_by(steps.c.number)
)

ADD_STEP = add(steps)
BLANK_STEP: Mapping[str, object] = {
    **dict.fromkeys(("call_id", "effect", "arguments", "arguments_hash", "result", "caution", "sealed"), ""),
    "started_at": None,
    "trusted": 0,
    "called_at": None,
}
ADD_USAGE = add(usage)
ADVANCE_LANE = update(sessions).where(sessions.c.key == bindparam("k")).values(next_turn=bindparam("next"))
ADVANCE_RUN = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(
        iterations=runs.c.iterations + bindparam("calls"),
        next_step=bindparam("step"),
        last_turn=bindparam("turn"),
        model=bindparam("model"),
        crashes=0,
    )
    .returning(runs.c.stop)
)
LAST_TURN = update(runs).where(runs.c.id == bindparam("run")).values(last_turn=bindparam("turn")).returning(runs.c.stop)
STOP = select(runs.c.stop, runs.c.crashes).where(runs.c.id == bindparam("run"))
CLEARED = update(runs).where(runs.c.id == bindparam("run")).values(crashes=0)
RUN_FACTS = (
    select(sessions.c.agent, runs.c.address, runs.c.requester, runs.c.state, runs.c.trigger)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(runs.c.id == bindparam("run"))
)
STEP_STATE = select(
    steps.c.state,
    steps.c.turn,
    steps.c.tool,
    steps.c.arguments_hash,
    steps.c.started_at,
    steps.c.trusted,
    select(func.max(approvals.c.id))
    .where(
        approvals.c.run_id == steps.c.run_id,
        approvals.c.step == steps.c.number,
        is_word(approvals.c.state, "approved", "answered"),
    )
    .scalar_subquery(),
).where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"))
"""With the newest question about it that was answered, if there was one: ids sort by time."""
SET_STEP = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"))
    .values(
        state=bindparam("new_state"),
        result=bindparam("text"),
        started_at=case((bindparam("starts") == 1, bindparam("at")), else_=steps.c.started_at),
        ended_at=case((bindparam("starts") == 0, bindparam("at")), else_=steps.c.ended_at),
        node=bindparam("by"),
    )
)
LAPSE_STEP = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"))
    .values(state=bindparam("new_state"), started_at=None)
)


def tool_steps(rows: Sequence[Any]) -> tuple[ToolStep, ...]:
    """Calls from the rows of `OPEN_STEPS`."""
    return tuple(
        ToolStep(
            *(number, Call(call, tool, arguments, sealed), Effect(effect), hashed, StepState(state), turn, caution),
            is_asked=bool(is_asked),
        )
        for number, call, tool, arguments, effect, hashed, state, turn, caution, sealed, is_asked in rows
    )


def calls_of(run: RunId) -> Op[list[tuple[Call, str | None]]]:
    rows = yield CALLS, {"run": run}
    return [
        (Call(call, tool, arguments), result if state == StepState.DONE else None)
        for call, tool, arguments, state, result in rows
    ]


def record_model(
    lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep], now: datetime
) -> Op[Recorded | None]:
    """The model's turn, its calls as steps, and a turn for each result, so that the history is valid at any time."""
    held, facts = yield at_once(fence_of(lane), (RUN_FACTS, {"run": run}))
    if not held:
        return None
    next_turn, waiting, _ = held[0]
    yield from model_step(lane.node, run, number, reply, next_turn, now, facts=facts[0])
    written = json.dumps([[s.call.id, s.call.tool, s.call.arguments] for s in calls], ensure_ascii=False)
    thought = reply.reasoning.to_json() if reply.reasoning else ""
    yield from add_turn(lane.session, next_turn, run, "assistant", reply.text, now, calls=written, reasoning=thought)
    for offset, step in enumerate(calls, 1):
        if step.grant and not (yield from use(step.grant, run, number + offset, step.call.tool, lane.node, now)):
            step = replace(step, state=StepState.ASKED)
        yield from _call_step(lane, run, number + offset, next_turn + offset, step, now)
    last = next_turn + len(calls)
    yield ADVANCE_LANE, {"k": lane.session, "next": last + 1}
    advance = {"run": run, "calls": 1, "step": number + len(calls) + 1, "turn": last, "model": reply.choice.model}
    stop, unfinished = yield at_once((ADVANCE_RUN, advance), (OPEN_STEPS, {"run": run}), last=True)
    return Recorded(bool(stop[0][0]), waiting, tool_steps(unfinished))


def model_step(
    node: NodeId,
    run: RunId,
    number: int,
    reply: ModelReply,
    turn: int,
    now: datetime,
    about: str = "",
    facts: Sequence[Any] = (),
) -> Op[None]:
    """A model call that was answered, and what it cost. `about` says what it was for, where it does not lead the run on.
    `facts` are the row of `RUN_FACTS`, where it was read."""
    used = reply.usage
    yield (
        ADD_STEP,
        {
            **BLANK_STEP,
            "run_id": run,
            "number": number,
            "kind": "model",
            "state": "done",
            "tool": used.model,
            "result": about,
            "caution": reply.choice.why,
            "turn": turn,
            "ended_at": micros(now),
            "node": node,
        },
    )
    agent, address, requester, *_ = facts or (yield RUN_FACTS, {"run": run})[0]
    yield (
        ADD_USAGE,
        {
            "run_id": run,
            "step": number,
            "agent": agent,
            "address": address,
            "person_id": requester,
            "model": used.model,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cost_micros": used.cost_micros,
            "at": micros(now),
            "cached_tokens": used.cached_tokens,
            "instead_of": reply.choice.instead_of,
            "unpriced": int(used.unpriced),
        },
    )


def _call_step(lane: Lane, run: RunId, number: int, turn: int, step: NewStep, now: datetime) -> Op[None]:
    done = step.state is StepState.DONE
    yield (
        ADD_STEP,
        {
            **BLANK_STEP,
            "run_id": run,
            "number": number,
            "kind": "tool",
            "state": step.state.value,
            "call_id": step.call.id,
            "tool": step.call.tool,
            "effect": step.effect.value,
            "arguments": step.call.arguments,
            "arguments_hash": step.arguments_hash,
            "result": step.result,
            "caution": step.caution,
            "turn": turn,
            "ended_at": micros(now) if done else None,
            "node": lane.node,
            "trusted": int(bool(step.unasked)),
            "sealed": step.call.sealed,
            "called_at": None if done else micros(now),
        },
    )
    if step.unasked:
        detail = f"{step.call.tool} {step.arguments_hash[:12]}"
        yield from fact(now, "call allowed by mode", step.unasked, f"{run}/{number}", detail)
    text = step.result if done else step.meanwhile
    yield from add_turn(lane.session, turn, run, "tool", text, now, call_id=step.call.id, tool=step.call.tool)


def mark_tool(lane: Lane, run: RunId, number: int, now: datetime, *, changes: bool = False) -> Op[Recorded | None]:
    """The marker: after it, a kill leaves the outcome unknown unless the tool is repeatable.

    What `changes` something and nobody approved is barred where the conversation is read-only by now, and lapses where the
    trust is over that let it run.
    """
    held, known, (stop, *_) = yield at_once(
        fence_of(lane), (STEP_STATE, {"run": run, "n": number}), (STOP, {"run": run})
    )
    if not held:
        return None
    *_, trusted, asked = yield from move_step(lane.node, run, number, StepEvent.MARK, "", now, known=known)
    barred = changes and not asked and (yield from is_read_only(lane.session, now))
    lapsed = bool(trusted) and not asked and not barred and not (yield from _is_trusted(run, now))
    if lapsed:
        after = move(STEP_MOVES, StepState.MARKED, StepEvent.LAPSE)
        yield LAPSE_STEP, {"run": run, "n": number, "new_state": after.value}
    return Recorded(bool(stop[0]), held[0][1], barred=barred, lapsed=lapsed)


def _is_trusted(run: RunId, now: datetime) -> Op[bool]:
    """True if the run's requester is trusted where it works, still or again."""
    agent, address, requester, *_ = (yield RUN_FACTS, {"run": run})[0]
    mode = yield from mode_at(agent, Address.parse(address), now)
    return mode.mode is Mode.TRUSTED and mode.person == requester


class Finished(NamedTuple):
    """Outcome of a call: its result, its files, and `kept`, which an undo needs."""

    result: str
    files: Sequence[FileRef] = ()
    kept: str | None = None


def finish_tool(
    lane: Lane, run: RunId, number: int, finished: Finished, now: datetime, new_id: NewId
) -> Op[Recorded | None]:
    """The result, for the model and on the card of its question."""
    held, known, (stop, *_) = yield at_once(
        fence_of(lane), (STEP_STATE, {"run": run, "n": number}), (STOP, {"run": run})
    )
    if not held:
        return None
    result, files, kept = finished
    moved = yield from move_step(lane.node, run, number, StepEvent.RESULT, result, now, known=known)
    turn, tool, hashed, started, _, asked = moved
    approval = approval_of((yield ONE, {"id": asked})[0]) if asked else None
    is_changed = approval is not None and (approval.asked_arguments or approval.kind is ApprovalKind.OUTCOME)
    said = result + (yield from changed_words(approval)) if approval and is_changed else result
    yield SET_TURN, {"s": lane.session, "n": turn, "new_text": said}
    if files:
        yield SET_FILES, {"s": lane.session, "n": turn, "new_files": files_json(files)}
    kind = "tool failed" if unfenced(result).startswith(ERROR) else "tool ran"
    yield from fact(now, kind, lane.node, f"{run}/{number}", f"{tool} {hashed[:12]}")
    told: tuple[Address, ...] = ()
    if approval:
        took = now - moment(started)
        outcome = settled_cards.outcome(result, took)
        if kept is not None:
            outcome = yield from offer(approval, outcome, kept, now)
        told = yield from came_of(approval, outcome, now, new_id)
    return Recorded((yield from _got_on(run, stop)), held[0][1], told=told)


def refuse_tool(
    lane: Lane, run: RunId, number: int, result: str, whose: str, reason: str, now: datetime, new_id: NewId
) -> Op[Recorded | None]:
    """A call that was allowed is not made: `whose` denies it by now. The model and the card of its question are told."""
    held, known, (stop, *_) = yield at_once(
        fence_of(lane), (STEP_STATE, {"run": run, "n": number}), (STOP, {"run": run})
    )
    if not held:
        return None
    moved = yield from move_step(lane.node, run, number, StepEvent.REFUSE, result, now, known=known)
    turn, tool, hashed, *_, asked = moved
    yield SET_TURN, {"s": lane.session, "n": turn, "new_text": result}
    yield from fact(now, "call refused by a rule", lane.node, f"{run}/{number}", f"{tool} {hashed[:12]}: {whose}")
    told: tuple[Address, ...] = ()
    if asked:
        approval = approval_of((yield ONE, {"id": asked})[0])
        told = yield from came_of(approval, settled_cards.refused(whose, reason), now, new_id)
    return Recorded((yield from _got_on(run, stop)), held[0][1], told=told)


def move_step(
    node: NodeId, run: RunId, number: int, event: StepEvent, text: str, now: datetime, *, known: Sequence[Any] = ()
) -> Op[tuple[int, str, str, int, int, str | None]]:
    """The step moves; its turn, tool and hash, when it started before, if it needs trust, and the answered question about it.
    `known` are the rows of `STEP_STATE`, where it was read."""
    rows = known or (yield STEP_STATE, {"run": run, "n": number})
    state, turn, tool, hashed, started, trusted, asked = rows[0]
    after = move(STEP_MOVES, StepState(state), event)
    starts = 1 if event is StepEvent.MARK else 0
    given = {"run": run, "n": number, "new_state": after.value, "text": text, "starts": starts, "at": micros(now)}
    yield SET_STEP, given | {"by": node}
    return turn, tool, hashed, started, trusted, asked


def _got_on(run: RunId, standing: Sequence[Any]) -> Op[bool]:
    """A recorded result clears the run of the deaths before it. Whether it was asked to stop."""
    stop, crashes = standing
    if crashes:
        yield CLEARED, {"run": run}
    return bool(stop)


def note(lane: Lane, run: RunId, text: str, now: datetime) -> Op[Recorded | None]:
    mine = yield from owned(lane)
    if mine is None:
        return None
    yield from add_turn(lane.session, mine[0], run, "user", text, now, author="")
    yield ADVANCE_LANE, {"k": lane.session, "next": mine[0] + 1}
    rows = yield LAST_TURN, {"run": run, "turn": mine[0]}
    return Recorded(bool(rows[0][0]), mine[1])
