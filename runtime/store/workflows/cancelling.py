"""The end of a workflow by an operator: its run, and what that handed on."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, select

from runtime.contract import Address, NewId, RunId, SessionKey
from runtime.domain.runs import RunEvent, RunState
from runtime.store.common import LOCK_LANE, fact, moved
from runtime.store.delegation.stopping import end_below
from runtime.store.intake.run_stop import OpenRun, end_parked
from runtime.store.protocol import Below
from runtime.store.runs.closing import ASK_STOP
from runtime.store.schema import runs
from runtime.store.sql.driver import Op

SESSION_OF = select(runs.c.session).where(runs.c.id == bindparam("run"))
STATE_OF = select(runs.c.state, runs.c.address).where(runs.c.id == bindparam("run"))


def session_of(run: RunId) -> Op[SessionKey | None]:
    """The session in which a run works; None for one that is not there."""
    rows = yield SESSION_OF, {"run": run}
    return SessionKey(rows[0][0]) if rows else None


def cancel(run: RunId, by: str, now: datetime, new_id: NewId) -> Op[Below | None]:
    """End a run with all below it; None where it is over, or has not begun."""
    session = yield from session_of(run)
    if session is None:
        return None
    yield LOCK_LANE, {"k": session}
    state, room = (yield STATE_OF, {"run": run})[0]
    if state not in (RunState.RUNNING, RunState.PARKED, RunState.READY):
        return None
    text, live, told = f"Stopped by {by}.", list[RunId](), list[Address]()
    yield from moved(now, run, None, RunEvent.STOP, by)
    yield from fact(now, "stop", by, run, room)
    if state == RunState.RUNNING:
        live.append(run)
        yield ASK_STOP, {"run": run}
    else:
        parked = yield from end_parked(OpenRun(run, RunState(state), session, Address.parse(room)), text, now, new_id)
        live += parked.live
        told += [*parked.told, Address.parse(room)]
    below = yield from end_below(run, text, now, new_id)
    return replace(below, live=(*live, *below.live), told=(*told, *below.told))
