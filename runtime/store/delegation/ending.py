"""A child is over: its parent's call has its result in the same transaction, or its conversation is told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select, update

from runtime.contract import Address, ChildState, NewId, RunId, SignalId, Trigger
from runtime.domain.agents import delegation
from runtime.domain.runs import RunState, StepEvent, StepState, WaitKind
from runtime.store.common import LOCK_LANE, OPEN_LANE, fact, fresh_lane
from runtime.store.delegation.rows import CHILD_KEPT, END_CHILD, OF_STEP, Kept, all_with_sources, child_of, with_sources
from runtime.store.delegation.showing import show_tree
from runtime.store.delegation.spawning import AGENTS_NAME, AGENTS_PLATFORM
from runtime.store.own_signals import OwnSignal, add_own
from runtime.store.runs.steps import STEP_STATE, move_step
from runtime.store.runs.turns import SET_TURN
from runtime.store.runs.waiting.waits import settled
from runtime.store.schema import runs, sessions, signals, waits
from runtime.store.sql.driver import Op, micros

CHILD_AFTER: Final[Mapping[RunState, ChildState]] = {
    RunState.DONE: ChildState.DONE,
    RunState.FAILED: ChildState.FAILED,
    RunState.STOPPED: ChildState.STOPPED,
}
ANSWER_CHILD = update(signals).where(signals.c.id == bindparam("child")).values(answered_at=bindparam("at"))
SETTLE = (
    update(waits)
    .where(
        waits.c.run_id == bindparam("run"),
        waits.c.kind == bindparam("of"),
        waits.c.subject == bindparam("child"),
        waits.c.settled_at.is_(None),
    )
    .values(settled_at=bindparam("at"))
)
PARENT_RUN = (
    select(sessions.c.agent, runs.c.requester, runs.c.address, runs.c.reply_to, runs.c.node)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(runs.c.id == bindparam("run"))
)


class Over(NamedTuple):
    """Outcome of a child's end: whether a lane became ready, and rooms whose couriers are to look."""

    woken: bool = False
    told: tuple[Address, ...] = ()


def child_over(
    run: RunId, state: ChildState, text: str, now: datetime, new_id: NewId, *, valid: bool = True, shown: bool = True
) -> Op[Over]:
    """End the child that `run` is, unless it is over. Not `shown`: whoever ends several shows the tree after the last."""
    rows = yield CHILD_KEPT, {"child": run}
    kept = Kept(*rows[0]) if rows else None
    if kept is None or kept.state != ChildState.OPEN:
        return Over()
    yield LOCK_LANE, {"k": kept.parent_session}
    yield END_CHILD, {"child": run, "new_state": state.value, "text": text, "fits": int(valid), "at": micros(now)}
    yield ANSWER_CHILD, {"child": run, "at": micros(now)}
    yield from fact(now, "child ended", "", run, state.value)
    told = (yield from show_tree(kept.root_run, now, new_id)) if shown else ()
    if not kept.awaits:
        return Over((yield from _tell(run, kept, now, new_id)), told)
    return Over((yield from settle(run, kept, now)), told)


def settle(run: RunId, kept: Kept, now: datetime) -> Op[bool]:
    """End the wait for a child that is over, the lane of its parent locked; whether that lane became ready."""
    yield SETTLE, {"run": kept.parent_run, "of": WaitKind.CHILD.value, "child": run, "at": micros(now)}
    yield from _give_result(kept, now)
    return (yield from settled(kept.parent_session, kept.parent_run, now))


def _give_result(kept: Kept, now: datetime) -> Op[None]:
    """The result of the parent's call, once all its children are over."""
    rows = yield OF_STEP, {"run": kept.parent_run, "step": kept.parent_step}
    if any(child_of(row).state is ChildState.OPEN for row in rows):
        return
    states = yield STEP_STATE, {"run": kept.parent_run, "n": kept.parent_step}
    if not states or states[0][0] != StepState.HANDED:  # the parent is over, and its calls have their results
        return
    result = delegation.result_of((yield from all_with_sources(rows)))
    node = (yield PARENT_RUN, {"run": kept.parent_run})[0][-1]
    turn, *_ = yield from move_step(node, kept.parent_run, kept.parent_step, StepEvent.RESULT, result, now)
    yield SET_TURN, {"s": kept.parent_session, "n": turn, "new_text": result}


def _tell(run: RunId, kept: Kept, now: datetime, new_id: NewId) -> Op[bool]:
    """A message to the conversation whose run did not wait; whether its lane became ready."""
    rows = yield OF_STEP, {"run": kept.parent_run, "step": kept.parent_step}
    mine = next(row for row in rows if row[0] == run)
    text = delegation.told_later((yield from with_sources(mine)))
    agent, requester, room, message, _ = (yield PARENT_RUN, {"run": kept.parent_run})[0]
    lanes = yield OPEN_LANE, fresh_lane(kept.parent_session, agent, Address.parse(room), now)
    seq, state, _ = lanes[0]
    yield from add_own(
        OwnSignal(
            id=SignalId(new_id()),
            platform=AGENTS_PLATFORM,
            key=f"{Trigger.CHILD_ENDED}:{run}",
            trigger=Trigger.CHILD_ENDED,
            session=kept.parent_session,
            room=room,
            text=text,
            actor=AGENTS_PLATFORM,
            actor_name=AGENTS_NAME,
            person=requester,
            seq=seq,
            reply_to=message,
        ),
        now,
    )
    return bool(state == "ready")
