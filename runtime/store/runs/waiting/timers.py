"""Calls that wait for a time: the run parks on it as on a question, and nothing but a row is left of it until then."""

from __future__ import annotations

from datetime import datetime
from operator import itemgetter
from typing import Final

from sqlalchemy import Integer, and_, bindparam, select, update

from runtime.contract import NodeId, RunId, SessionKey
from runtime.domain.runs import StepEvent, StepState, WaitKind
from runtime.domain.transcript import ERROR, STILL_AT_WORK
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.workflows.calls import AWAIT_EVENT
from runtime.store.common import LOCK_LANE, add, owned
from runtime.store.protocol import Lane, Recorded
from runtime.store.runs.steps import STEP_STATE, STOP, move_step
from runtime.store.runs.turns import SET_TURN
from runtime.store.runs.waiting.waits import settled
from runtime.store.schema import runs, steps, waits
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.triggers.rows import ADD_TRIGGER, row_of

TIMERS_AT_ONCE: Final = 100
"""Timers of one transaction."""
DIGITS: Final = 20
"""A time as a text of so many digits, so that texts sort as times do."""
ADD_TIMER = add(waits).on_conflict_do_nothing()
DUE_TIMERS = (
    select(waits.c.run_id, waits.c.step, waits.c.subject, runs.c.session, runs.c.node, steps.c.tool)
    .join(runs, runs.c.id == waits.c.run_id)
    .join(steps, and_(steps.c.run_id == waits.c.run_id, steps.c.number == waits.c.step))
    .where(
        is_word(waits.c.kind, WaitKind.TIMER),
        waits.c.settled_at.is_(None),
        waits.c.subject <= bindparam("now"),
    )
    .order_by(waits.c.subject)
    .limit(bindparam("n", type_=Integer))
)
SETTLE_TIMER = (
    update(waits)
    .where(
        waits.c.run_id == bindparam("run"),
        is_word(waits.c.kind, WaitKind.TIMER),
        waits.c.subject == bindparam("timer"),
        waits.c.settled_at.is_(None),
    )
    .values(settled_at=bindparam("at"))
    .returning(waits.c.run_id)
)


def sleep(
    lane: Lane, run: RunId, number: int, until: datetime, trigger: KeptTrigger | None, now: datetime
) -> Op[Recorded | None]:
    """Put the call at step `number` to sleep; None when fenced. A run that was stopped meanwhile sleeps no more.

    What fires the `trigger` ends that before its time.
    """
    mine = yield from owned(lane)
    if mine is None:
        return None
    if (yield STOP, {"run": run})[0][0]:
        return Recorded(stop=True, waiting=mine[1])
    subject = f"{written(until)}/{number}"
    row = {"run_id": run, "step": number, "kind": WaitKind.TIMER.value, "subject": subject, "settled_at": None}
    yield ADD_TIMER, row
    if trigger:
        yield ADD_TRIGGER, row_of(trigger, now)
    turn, *_ = yield from move_step(lane.node, run, number, StepEvent.HAND, "", now)
    yield (
        SET_TURN,
        {"s": lane.session, "n": turn, "new_text": f"{STILL_AT_WORK}waits until {until:%Y-%m-%d %H:%M:%S} UTC"},
    )
    return Recorded(stop=False, waiting=mine[1])


def due(now: datetime) -> Op[list[tuple[str, int, str, str, str, str]]]:
    """Timers whose time has come: the run, its step, the timer, the run's session and node, and the tool."""
    rows = yield DUE_TIMERS, {"now": f"{written(now)}/~", "n": TIMERS_AT_ONCE}
    return [(run, step, timer, session, node, tool) for run, step, timer, session, node, tool in rows]


def wake(now: datetime) -> Op[bool]:
    """End the timers whose time has come; whether a lane became ready by that."""
    woken = False
    for run, step, timer, session, node, tool in sorted(
        (yield from due(now)), key=itemgetter(3)
    ):  # as a stop locks lanes
        yield LOCK_LANE, {"k": session}
        if not (yield SETTLE_TIMER, {"run": run, "timer": timer, "at": micros(now)}):
            continue  # another node did, or the run is over
        states = yield STEP_STATE, {"run": run, "n": step}
        if states and states[0][0] == StepState.HANDED:
            told = f"It is {now:%Y-%m-%d %H:%M:%S} UTC."
            if tool == AWAIT_EVENT:
                told = f"{ERROR}nothing happened in time. {told}"
            turn, *_ = yield from move_step(NodeId(node), RunId(run), step, StepEvent.RESULT, told, now)
            yield SET_TURN, {"s": session, "n": turn, "new_text": told}
        woken |= yield from settled(SessionKey(session), RunId(run), now)
    return woken


def written(at: datetime) -> str:
    return f"{micros(at):0{DIGITS}d}"
