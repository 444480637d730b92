"""Tasks that people end or have tried again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.contract import Address, NewId, Person, PostedTask, RunId, SessionKey, TaskState, Trigger
from runtime.domain.agents.tasks import TaskEvent, session_of
from runtime.domain.runs import RunEvent, RunState
from runtime.store.common import LOCK_LANE, fact, moved
from runtime.store.intake.run_stop import OpenRun, end_parked
from runtime.store.protocol import Ended
from runtime.store.runs.closing import ASK_STOP
from runtime.store.sql.driver import Op
from runtime.store.tasks.background import OPEN_RUN, POSTER_NAME, never_begin, start_again
from runtime.store.tasks.board import found, named
from runtime.store.tasks.rows import Row, give_back_lapsed, move_task

BEING_TRIED: Final = "This task is being tried again this very moment. Say it once more."

POSTER_GONE: Final = "Whoever asked for this was removed, so it would work for nobody. Ask for it anew."


@dataclass(frozen=True, slots=True)
class Turned:
    """A task that a person moved: runs to stop, rooms to look at, runs that are over; `lane_ready`: a run is to begin."""

    task: PostedTask
    stop_runs: tuple[RunId, ...] = ()
    rooms: tuple[Address, ...] = ()
    ended: tuple[Ended, ...] = ()
    lane_ready: bool = False


def drop(name: str, room: Address | None, who: Person, now: datetime, new_id: NewId) -> Op[Turned | str]:
    """Drop a task that is not over. A run that works on it in the background ends with it."""
    yield from give_back_lapsed(now)
    if known := (yield from found(name, room)):  # its lane first, as where its run ends
        yield LOCK_LANE, {"k": session_of(known.id, known.attempts)}
    row = yield from named(name, room)
    if known is None or row is None:
        return unknown(name)
    if row.attempts != known.attempts:
        return BEING_TRIED
    if row.state not in (TaskState.OPEN, TaskState.CLAIMED):
        return f"This task is already {row.state}."
    row = yield from move_task(row, TaskEvent.DROP, now, {"result": f"Dropped by {who.name}."})
    yield from fact(now, "task drop", who.name, row.id, row.room)
    return (yield from _stop(row, who, now, new_id))


def _stop(row: Row, who: Person, now: datetime, new_id: NewId) -> Op[Turned]:
    rows = (yield OPEN_RUN, {"run": row.run_id}) if row.run_id else []
    if not rows:
        yield from never_begin(row, now)
        return Turned(row.task)
    state, session, address, trigger = rows[0]
    if trigger != Trigger.TASK:  # a conversation claimed it, which goes on
        return Turned(row.task)
    run = OpenRun(RunId(str(row.run_id)), RunState(state), SessionKey(session), Address.parse(address))
    yield LOCK_LANE, {"k": session}
    yield from moved(now, run.id, None, RunEvent.STOP, who.name)
    if run.state is RunState.RUNNING:
        yield ASK_STOP, {"run": run.id}
        return Turned(row.task, stop_runs=(run.id,))
    parked = yield from end_parked(run, f"Stopped by {who.name}.", now, new_id)
    rooms, over = (*parked.told, run.address), (Ended(run.id, parked.planned),)
    return Turned(row.task, stop_runs=tuple(parked.live), rooms=rooms, ended=over)


def retry(name: str, room: Address | None, who: Person, now: datetime, new_id: NewId) -> Op[Turned | str]:
    """Have a task that failed or was dropped done after all, in the background."""
    row = yield from named(name, room)
    if row is None:
        return unknown(name)
    if row.state not in (TaskState.FAILED, TaskState.DROPPED):
        return f"This task is {row.state}: only one that failed or was dropped can be tried again."
    if row.posted_by and not (yield POSTER_NAME, {"person": row.posted_by}):
        return POSTER_GONE
    row = yield from move_task(row, TaskEvent.RETRY, now, {"result": ""})
    yield from fact(now, "task retry", who.name, row.id, row.room)
    row = yield from start_again(row, now, new_id)
    return Turned(row.task, lane_ready=True)


def unknown(name: str) -> str:
    return f"No task is called {name[:40]!r}. An id is at least four characters long: its end is enough."
