"""A lane's life: claimed, one committed step after another, and given up. Every write of its owner repeats the fence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, case, or_, select, update

from runtime.contract import (
    Address,
    AssistantTurn,
    Busy,
    Call,
    Effect,
    ModelReply,
    Person,
    RunId,
    SessionKey,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from runtime.machines import move
from runtime.runs import RUN_MOVES, STEP_MOVES, RunEvent, RunState, StepEvent, StepState
from runtime.store.base import Base
from runtime.store.common import (
    ADD_DELIVERY,
    ADD_TURN,
    BLANK_TURN,
    PERSON,
    SET_TURN,
    add,
    delivery_row,
    fact,
    owned,
    person,
)
from runtime.store.desk import ADD_APPROVAL
from runtime.store.driver import Op, is_word, micros
from runtime.store.protocol import (
    Claim,
    Lane,
    Lease,
    NewDelivery,
    NewStep,
    Question,
    Recorded,
    Released,
    ToolStep,
)
from runtime.store.schema import nodes, runs, sessions, signals, steps, turns, usage
from runtime.transcript import WAITING

END_OF: Final[Mapping[RunState, RunEvent]] = {
    RunState.DONE: RunEvent.FINISH,
    RunState.FAILED: RunEvent.FAIL,
    RunState.STOPPED: RunEvent.STOP,
}

# ------------------------------------------------------------------------------------------------------------ claim

LIVE_NODE = (
    select(nodes.c.id)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("fence"), is_word(nodes.c.state, "live"))
    .with_for_update(read=True, key_share=True)
)
READY_LANE = (
    select(sessions.c.key)
    .where(is_word(sessions.c.state, "ready"), sessions.c.ready_at <= bindparam("now"))
    .order_by(sessions.c.ready_at)
    .limit(1)
    .with_for_update(skip_locked=True)
)
TAKE_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(state="running", owner=bindparam("node"), fence=sessions.c.fence + 1)
    .returning(sessions.c.fence, sessions.c.address, sessions.c.next_turn, sessions.c.waiting)
)
IDLE_LANE = (
    update(sessions).where(sessions.c.key == bindparam("k")).values(state="idle", owner=None, waiting=0, resumable=0)
)
RUN_COLUMNS = (
    runs.c.id,
    runs.c.requester,
    runs.c.claims,
    runs.c.iterations,
    runs.c.next_step,
    runs.c.stop,
    runs.c.last_turn,
    runs.c.address,
)
LIVE_RUN = select(*RUN_COLUMNS).where(runs.c.session == bindparam("s"), is_word(runs.c.state, "running"))
READY_RUN = (
    select(*RUN_COLUMNS)
    .where(runs.c.session == bindparam("s"), is_word(runs.c.state, "ready"))
    .order_by(runs.c.ready_at)
    .limit(1)
)
TAKE_RUN = update(runs).where(runs.c.id == bindparam("run")).values(state="running", claims=runs.c.claims + 1)
LESS_RESUMABLE = update(sessions).where(sessions.c.key == bindparam("k")).values(resumable=sessions.c.resumable - 1)
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
    )
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.state, "open", "asked", "marked"))
    .order_by(steps.c.number)
)
WAITING_SIGNALS = (
    select(signals.c.id, signals.c.text, signals.c.files, signals.c.actor_name, signals.c.person_id)
    .where(signals.c.session == bindparam("s"), is_word(signals.c.state, "waiting"))
    .order_by(signals.c.seq)
    .limit(1000)
)
CONSUME = (
    update(signals)
    .where(or_(signals.c.id == bindparam("one"), signals.c.merged_into == bindparam("one")))
    .values(run_id=bindparam("run"), state=case((signals.c.state == "waiting", "consumed"), else_=signals.c.state))
)
LESS_WAITING = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(waiting=sessions.c.waiting - bindparam("less"), next_turn=bindparam("next"))
    .returning(sessions.c.waiting)
)
ADD_RUN = add(runs)


def claim(lease: Lease, busy: Busy, now: datetime) -> Op[Claim | None]:
    """A ready session: its live run after a kill, else a decided one, else a new one for what waits."""
    if not (yield LIVE_NODE, {"node": lease.node, "fence": lease.fence}):
        return None
    while ready := (yield READY_LANE, {"now": micros(now)}):
        key = SessionKey(ready[0][0])
        taken = yield TAKE_LANE, {"k": key, "node": lease.node}
        fence, address, next_turn, _ = taken[0]
        claimed = yield from _run_of(Lane(key, lease.node, fence), address, next_turn, busy, now)
        if claimed:
            return claimed
        yield IDLE_LANE, {"k": key}  # what it was ready for is gone: a parked run was stopped
    return None


def _run_of(lane: Lane, address: str, next_turn: int, busy: Busy, now: datetime) -> Op[Claim | None]:
    if rows := (yield LIVE_RUN, {"s": lane.session}):
        return (yield from _resumed(lane, rows[0], overtaken=False))
    if rows := (yield READY_RUN, {"s": lane.session}):
        yield LESS_RESUMABLE, {"k": lane.session}
        return (yield from _resumed(lane, rows[0], overtaken=next_turn - 1 > rows[0][6]))
    return (yield from _begin(lane, address, next_turn, busy, now))


def _resumed(lane: Lane, row: tuple[Any, ...], *, overtaken: bool) -> Op[Claim]:
    run, requester, _, iterations, next_step, stop, _, address = row
    yield TAKE_RUN, {"run": run}
    unfinished = yield from _steps(RunId(run))
    who = yield from _person(requester)
    return Claim(
        lane,
        RunId(run),
        Address.parse(address),
        who,
        True,
        iterations,
        next_step,
        bool(stop),
        overtaken,
        unfinished,
    )


def _steps(run: RunId) -> Op[tuple[ToolStep, ...]]:
    rows = yield OPEN_STEPS, {"run": run}
    return tuple(
        ToolStep(number, Call(call, tool, arguments), Effect(effect), hashed, StepState(state), turn, caution)
        for number, call, tool, arguments, effect, hashed, state, turn, caution in rows
    )


def _person(person_id: str | None) -> Op[Person | None]:
    rows = yield PERSON, {"person_id": person_id}
    return person(rows[0]) if rows else None


def _begin(lane: Lane, address: str, next_turn: int, busy: Busy, now: datetime) -> Op[Claim | None]:
    waiting = yield WAITING_SIGNALS, {"s": lane.session}
    if not waiting:
        return None
    share = waiting[:1] if busy is Busy.FOLLOWUP else waiting
    run = RunId(share[0][0])  # the first signal's id: one id follows a message from its arrival to its reply
    yield (
        ADD_RUN,
        {
            "id": run,
            "session": lane.session,
            "address": address,
            "state": "running",
            "requester": share[0][4],
            "claims": 1,
            "iterations": 0,
            "next_step": 1,
            "stop": 0,
            "last_turn": next_turn + len(share) - 1,
            "error": "",
            "started_at": micros(now),
            "ready_at": micros(now),
            "ended_at": None,
        },
    )
    yield from _consume(lane, run, share, next_turn, now)
    who = yield from _person(share[0][4])
    return Claim(lane, run, Address.parse(address), who, False, 0, 1, False)


def _consume(lane: Lane, run: RunId, share: Sequence[tuple[Any, ...]], next_turn: int, now: datetime) -> Op[int]:
    """Signals become user turns of `run`; how many still wait."""
    for number, (signal_id, text, files, name, _) in enumerate(share, next_turn):
        yield CONSUME, {"one": signal_id, "run": run}
        yield from _turn(lane.session, number, run, "user", _with_files(text, files), now, author=name)
    less = {"k": lane.session, "less": len(share), "next": next_turn + len(share)}
    rows = yield LESS_WAITING, less
    return int(rows[0][0])


def _with_files(text: str, files: str) -> str:
    attached = [f"[attached file: {path} ({size:,} bytes)]" for _, path, size in json.loads(files)]
    return "\n".join([*filter(None, [text]), *attached])


def _turn(session: str, number: int, run: RunId, role: str, text: str, now: datetime, **more: str) -> Op[None]:
    yield (
        ADD_TURN,
        {
            **BLANK_TURN,
            "session": session,
            "number": number,
            "run_id": run,
            "role": role,
            "text": text,
            "at": micros(now),
            **more,
        },
    )


# ------------------------------------------------------------------------------------------------------- transcript

TURNS = (
    select(turns.c.role, turns.c.text, turns.c.author, turns.c.calls, turns.c.call_id, turns.c.tool)
    .where(turns.c.session == bindparam("s"))
    .order_by(turns.c.number)
)


def transcript(session: SessionKey) -> Op[list[Turn]]:
    rows = yield TURNS, {"s": session}
    return [_turn_of(row) for row in rows]


def _turn_of(row: tuple[Any, ...]) -> Turn:
    role, text, author, calls, call_id, tool = row
    match role:
        case "user":
            return UserTurn(text, author)
        case "assistant":
            return AssistantTurn(text, tuple(Call(*call) for call in json.loads(calls)))
        case _:
            return ToolTurn(call_id, tool, text)


# ------------------------------------------------------------------------------------------------------------ steps

ADD_STEP = add(steps)
ADD_USAGE = add(usage)
ADVANCE_LANE = update(sessions).where(sessions.c.key == bindparam("k")).values(next_turn=bindparam("next"))
ADVANCE_RUN = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(iterations=runs.c.iterations + bindparam("calls"), next_step=bindparam("step"), last_turn=bindparam("turn"))
    .returning(runs.c.stop)
)
LAST_TURN = update(runs).where(runs.c.id == bindparam("run")).values(last_turn=bindparam("turn")).returning(runs.c.stop)
STOP = select(runs.c.stop).where(runs.c.id == bindparam("run"))
STEP_STATE = select(steps.c.state, steps.c.turn, steps.c.tool, steps.c.arguments_hash).where(
    steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n")
)
SET_STEP = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"))
    .values(
        state=bindparam("new_state"),
        result=bindparam("text"),
        started_at=case((bindparam("starts") == 1, bindparam("at")), else_=steps.c.started_at),
        ended_at=case((bindparam("starts") == 0, bindparam("at")), else_=steps.c.ended_at),
    )
)


def record_model(
    lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep], now: datetime
) -> Op[Recorded | None]:
    """The model's turn, its calls as steps, and a turn for each result, so that the history is valid at any time."""
    mine = yield from owned(lane)
    if mine is None:
        return None
    next_turn, waiting, _ = mine
    yield from _model_step(run, number, reply, next_turn, now)
    written = json.dumps([[s.call.id, s.call.tool, s.call.arguments] for s in calls], ensure_ascii=False)
    yield from _turn(lane.session, next_turn, run, "assistant", reply.text, now, calls=written)
    for offset, step in enumerate(calls, 1):
        yield from _call_step(lane, run, number + offset, next_turn + offset, step, now)
    last = next_turn + len(calls)
    yield ADVANCE_LANE, {"k": lane.session, "next": last + 1}
    stop = yield ADVANCE_RUN, {"run": run, "calls": 1, "step": number + len(calls) + 1, "turn": last}
    return Recorded(bool(stop[0][0]), waiting, (yield from _steps(run)))


def _model_step(run: RunId, number: int, reply: ModelReply, turn: int, now: datetime) -> Op[None]:
    yield (
        ADD_STEP,
        {
            "run_id": run,
            "number": number,
            "kind": "model",
            "state": "done",
            "call_id": "",
            "tool": reply.usage.model,
            "effect": "",
            "arguments": "",
            "arguments_hash": "",
            "result": "",
            "caution": "",
            "turn": turn,
            "started_at": None,
            "ended_at": micros(now),
        },
    )
    yield from _use(run, number, reply.usage, now)


RUN_FACTS = (
    select(sessions.c.agent, runs.c.address, runs.c.requester)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(runs.c.id == bindparam("run"))
)


def _use(run: RunId, number: int, used: Usage, now: datetime) -> Op[None]:
    rows = yield RUN_FACTS, {"run": run}
    agent, address, requester = rows[0]
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
        },
    )


def _call_step(lane: Lane, run: RunId, number: int, turn: int, step: NewStep, now: datetime) -> Op[None]:
    done = step.state is StepState.DONE
    yield (
        ADD_STEP,
        {
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
            "started_at": None,
            "ended_at": micros(now) if done else None,
        },
    )
    text = step.result if done else WAITING
    yield from _turn(lane.session, turn, run, "tool", text, now, call_id=step.call.id, tool=step.call.tool)


def mark_tool(lane: Lane, run: RunId, number: int, now: datetime) -> Op[Recorded | None]:
    """The marker: after it, a kill leaves the outcome unknown unless the tool is repeatable."""
    mine = yield from owned(lane)
    if mine is None:
        return None
    yield from _move_step(run, number, StepEvent.MARK, "", now)
    return Recorded((yield from _stop(run)), mine[1])


def finish_tool(lane: Lane, run: RunId, number: int, result: str, now: datetime) -> Op[Recorded | None]:
    mine = yield from owned(lane)
    if mine is None:
        return None
    turn, tool, hashed = yield from _move_step(run, number, StepEvent.RESULT, result, now)
    yield SET_TURN, {"s": lane.session, "n": turn, "new_text": result}
    yield from fact(now, "tool ran", lane.node, f"{run}/{number}", f"{tool} {hashed[:12]}")
    return Recorded((yield from _stop(run)), mine[1])


def _move_step(run: RunId, number: int, event: StepEvent, text: str, now: datetime) -> Op[tuple[int, str, str]]:
    rows = yield STEP_STATE, {"run": run, "n": number}
    state, turn, tool, hashed = rows[0]
    after = move(STEP_MOVES, StepState(state), event)
    starts = 1 if event is StepEvent.MARK else 0
    yield (
        SET_STEP,
        {"run": run, "n": number, "new_state": after.value, "text": text, "starts": starts, "at": micros(now)},
    )
    return turn, tool, hashed


def _stop(run: RunId) -> Op[bool]:
    rows = yield STOP, {"run": run}
    return bool(rows[0][0])


def steer(lane: Lane, run: RunId, now: datetime) -> Op[Recorded | None]:
    """What people said meanwhile joins this run."""
    mine = yield from owned(lane)
    if mine is None:
        return None
    share = yield WAITING_SIGNALS, {"s": lane.session}
    waiting = yield from _consume(lane, run, share, mine[0], now)
    rows = yield LAST_TURN, {"run": run, "turn": mine[0] + len(share) - 1}
    return Recorded(bool(rows[0][0]), waiting)


def note(lane: Lane, run: RunId, text: str, now: datetime) -> Op[Recorded | None]:
    mine = yield from owned(lane)
    if mine is None:
        return None
    yield from _turn(lane.session, mine[0], run, "user", text, now, author="")
    yield ADVANCE_LANE, {"k": lane.session, "next": mine[0] + 1}
    rows = yield LAST_TURN, {"run": run, "turn": mine[0]}
    return Recorded(bool(rows[0][0]), mine[1])


# --------------------------------------------------------------------------------------------------- giving it up

SET_RUN = (
    update(runs)
    .where(runs.c.id == bindparam("run"), is_word(runs.c.state, "running"))
    .values(state=bindparam("new_state"), error=bindparam("why"), ended_at=bindparam("at"))
)
GIVE_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(
        state=case((sessions.c.waiting + sessions.c.resumable > 0, "ready"), else_="idle"),
        owner=None,
        ready_at=bindparam("at"),
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


def park(lane: Lane, run: RunId, questions: Sequence[Question], now: datetime) -> Op[Released | None]:
    """Every question with its card, the run parked and the lane given up: one transaction."""
    mine = yield from owned(lane)
    if mine is None:
        return None
    rows = yield RUN_FACTS, {"run": run}
    requester = rows[0][2]
    known = {step.number: step for step in (yield from _steps(run))}
    for question in questions:
        yield from _ask(lane, run, question, known[question.step], requester, now)
    after = move(RUN_MOVES, RunState.RUNNING, RunEvent.PARK)
    yield SET_RUN, {"run": run, "new_state": after.value, "why": "", "at": None}
    return (yield from _give_up(lane, now))


def _ask(lane: Lane, run: RunId, question: Question, step: ToolStep, requester: str | None, now: datetime) -> Op[None]:
    if step.state is StepState.MARKED:
        move(STEP_MOVES, step.state, StepEvent.DOUBT)
        yield DOUBT_STEP, {"run": run, "n": step.number}
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
        },
    )
    yield ADD_DELIVERY, delivery_row(question.card, now, run)
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
) -> Op[Released | None]:
    """The reply and everything that makes it: step, usage, turn, deliveries, the run's end, the lane."""
    mine = yield from owned(lane)
    if mine is None:
        return None
    if reply:
        yield from _model_step(run, number, reply, mine[0], now)
        yield ADVANCE_RUN, {"run": run, "calls": 1, "step": number + 1, "turn": mine[0]}
    yield from _close_steps(lane, run, text, now)
    yield from _turn(lane.session, mine[0], run, "assistant", text, now)
    yield ADVANCE_LANE, {"k": lane.session, "next": mine[0] + 1}
    after = move(RUN_MOVES, RunState.RUNNING, END_OF[state])
    why = "" if state is RunState.DONE else text
    yield SET_RUN, {"run": run, "new_state": after.value, "why": why, "at": micros(now)}
    for new in new_deliveries:
        yield ADD_DELIVERY, delivery_row(new, now, run)
    return (yield from _give_up(lane, now))


def _close_steps(lane: Lane, run: RunId, text: str, now: datetime) -> Op[None]:
    """Calls that will not run any more get a result, so that the history stays whole."""
    for step in (yield from _steps(run)):
        result = f"Not finished: {text}"
        key = {"run": run, "n": step.number, "new_state": "done", "text": result, "starts": 0, "at": micros(now)}
        yield SET_STEP, key
        yield SET_TURN, {"s": lane.session, "n": step.turn, "new_text": result}


def _give_up(lane: Lane, now: datetime) -> Op[Released]:
    rows = yield GIVE_LANE, {"k": lane.session, "at": micros(now)}
    return Released(rows[0][0] == "ready")


def release(lane: Lane) -> Op[None]:
    yield READY_AGAIN, {"k": lane.session, "node": lane.node, "old_fence": lane.fence}


class LaneStore(Base):
    """Implements `protocol.Lanes`."""

    async def claim(self, lease: Lease, busy: Busy) -> Claim | None:
        now = self.now()
        return await self._driver.write(lambda: claim(lease, busy, now))

    async def turns(self, session: SessionKey) -> list[Turn]:
        return await self._driver.read(lambda: transcript(session))

    async def record_model(
        self, lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep]
    ) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: record_model(lane, run, number, reply, calls, now))

    async def mark_tool(self, lane: Lane, run: RunId, number: int) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: mark_tool(lane, run, number, now))

    async def finish_tool(self, lane: Lane, run: RunId, number: int, result: str) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: finish_tool(lane, run, number, result, now))

    async def steer(self, lane: Lane, run: RunId) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: steer(lane, run, now))

    async def note(self, lane: Lane, run: RunId, text: str) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: note(lane, run, text, now))

    async def park(self, lane: Lane, run: RunId, questions: Sequence[Question]) -> Released | None:
        now = self.now()
        return await self._driver.write(lambda: park(lane, run, questions, now))

    async def finish(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        reply: ModelReply | None,
        state: RunState,
        text: str,
        deliveries: Sequence[NewDelivery],
    ) -> Released | None:
        now = self.now()
        return await self._driver.write(lambda: finish(lane, run, number, reply, state, text, deliveries, now))

    async def release(self, lane: Lane) -> None:
        await self._driver.write(lambda: release(lane))
