"""The events that a task's end is for triggers."""

from __future__ import annotations

from datetime import datetime

from runtime.contract import Address, NewId, RunId, TaskState
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.trigger import EventKind
from runtime.store.sql.driver import Op
from runtime.store.tasks.rows import Row
from runtime.store.triggers.firing import happened

EVENT_OF_STATE = {TaskState.DONE: EventKind.TASK_DONE, TaskState.FAILED: EventKind.TASK_FAILED}


def task_over(row: Row, now: datetime, new_id: NewId) -> Op[None]:
    """Fire triggers that wait for a task as it is now."""
    kind = EVENT_OF_STATE.get(TaskState(row.state))
    if kind is None:
        return
    told, key = f"{row.title}\n\n{row.result}", f"{row.id}:{row.attempts}"
    run = RunId(row.run_id) if row.run_id else None
    yield from happened(Happening(kind, key, Address.parse(row.room), told, row.owner or row.agent, run), now, new_id)
