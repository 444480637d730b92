"""An event ends the wait of a run, in the event's own transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select, update

from runtime.contract import NodeId, RunId, SessionKey
from runtime.domain.runs import StepEvent, StepState, WaitKind
from runtime.domain.triggers.awaiting import event_read
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.kept import KeptTrigger
from runtime.store.common import LOCK_LANE
from runtime.store.runs.steps import STEP_STATE, move_step
from runtime.store.runs.turns import SET_TURN
from runtime.store.runs.waiting.waits import settled
from runtime.store.schema import runs, waits
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.triggers.rows import drop_trigger

AWAITING_RUN: Final = select(runs.c.session, runs.c.node).where(runs.c.id == bindparam("run"))
SETTLE_WAIT: Final = (
    update(waits)
    .where(
        waits.c.run_id == bindparam("run"),
        waits.c.step == bindparam("n"),
        is_word(waits.c.kind, WaitKind.TIMER),
        waits.c.settled_at.is_(None),
    )
    .values(settled_at=bindparam("at"))
    .returning(waits.c.run_id)
)


def wake_run(kept: KeptTrigger, event: Happening, now: datetime) -> Op[bool]:
    """End the wait that a trigger stands for; whether a lane became ready by that."""
    run, _, number = kept.trigger.wakes.partition("/")
    yield from drop_trigger(kept.trigger.id, "", now)
    rows = yield AWAITING_RUN, {"run": run}
    if not rows:
        return False
    session, node = rows[0]
    yield LOCK_LANE, {"k": session}
    if not (yield SETTLE_WAIT, {"run": run, "n": int(number), "at": micros(now)}):
        return False  # its time is over, or the run
    states = yield STEP_STATE, {"run": run, "n": int(number)}
    if states and states[0][0] == StepState.HANDED:
        told = event_read(event)
        turn, *_ = yield from move_step(NodeId(node), RunId(run), int(number), StepEvent.RESULT, told, now)
        yield SET_TURN, {"s": session, "n": turn, "new_text": told}
    return (yield from settled(SessionKey(session), RunId(run), now))
