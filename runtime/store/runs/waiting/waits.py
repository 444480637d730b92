"""Waits of parked runs: written as a run parks; after the last one is settled it is ready for its lane."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text, and_, bindparam, exists, literal_column, or_, select, update

from runtime.contract import RunId, SessionKey
from runtime.domain.machines import move
from runtime.domain.runs import RUN_MOVES, RunEvent, RunState, WaitKind
from runtime.domain.workflows.calls import BEGIN
from runtime.store.common import RESUMABLE
from runtime.store.schema import approvals, runs, steps, waits
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.sql.upsert import insert

APPROVAL = literal_column(f"'{WaitKind.APPROVAL}'", Text)
_QUESTIONS = select(approvals.c.run_id, approvals.c.step, APPROVAL, approvals.c.id, approvals.c.decided_at).where(
    approvals.c.run_id == bindparam("run")
)
_ADD = insert(waits).from_select(list(waits.columns), _QUESTIONS)
AS_ASKED = _ADD.on_conflict_do_update(
    index_elements=[waits.c.run_id, waits.c.kind, waits.c.subject],
    set_={"settled_at": _ADD.excluded.settled_at},
    where=waits.c.settled_at.is_(None) & _ADD.excluded.settled_at.is_not(None),
)
"""Every question of a run as a wait, settled when it was decided. So those are known too that a node of an older version
asked or decided, which writes no waits."""
SETTLE_ALL = (
    update(waits)
    .where(waits.c.run_id == bindparam("run"), waits.c.settled_at.is_(None))
    .values(settled_at=bindparam("at"))
)
_OPEN = exists().where(waits.c.run_id == bindparam("run"), waits.c.settled_at.is_(None))
_NEWLY_SETTLED = exists().where(waits.c.run_id == bindparam("run"), waits.c.settled_at > runs.c.ready_at)
_IS_FLOW = exists().where(steps.c.run_id == bindparam("run"), is_word(steps.c.tool, BEGIN))
READY = move(RUN_MOVES, RunState.PARKED, RunEvent.SETTLE)
SET_READY = (
    update(runs)
    .where(
        runs.c.id == bindparam("run"),
        is_word(runs.c.state, "parked"),
        or_(~_OPEN, and_(_NEWLY_SETTLED, _IS_FLOW)),
    )
    .values(state=READY.value, ready_at=bindparam("at"))
    .returning(runs.c.id)
)


GO_ON = (
    update(runs)
    .where(runs.c.id == bindparam("run"), is_word(runs.c.state, "parked"))
    .values(state=READY.value, ready_at=bindparam("at"))
)


def wait_for_answers(run: RunId) -> Op[None]:
    """Make waits of the questions of `run`, as they stand."""
    yield AS_ASKED, {"run": run}


def settled(session: SessionKey, run: RunId, now: datetime) -> Op[bool]:
    """Make `run` ready if its last wait is settled; whether its lane became ready by that. The lane is locked.

    A workflow is ready once any is that it has not seen: its other steps needn't wait for the slowest.
    """
    yield AS_ASKED, {"run": run}
    if not (yield SET_READY, {"run": run, "at": micros(now)}):
        return False
    lanes = yield RESUMABLE, {"k": session, "at": micros(now)}
    return bool(lanes[0][0] == "ready")


def go_on(session: SessionKey, run: RunId, now: datetime) -> Op[None]:
    """Make `run` ready though it waits: it has other work."""
    yield AS_ASKED, {"run": run}
    yield GO_ON, {"run": run, "at": micros(now)}
    yield RESUMABLE, {"k": session, "at": micros(now)}


def wait_no_more(run: RunId, now: datetime) -> Op[None]:
    """Settle what `run` still waits for, since it ends."""
    yield SETTLE_ALL, {"run": run, "at": micros(now)}
