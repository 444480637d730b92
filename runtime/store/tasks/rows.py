"""Rows of tasks: how one is read, moved from state to state, and given back where the run that claimed it is over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, exists, func, or_, select, update

from runtime.contract import Address, PostedTask, RunId, TaskId, TaskState
from runtime.domain.agents.tasks import TASK_MOVES, TaskEvent, unfinished
from runtime.domain.machines import move
from runtime.domain.runs import RunState
from runtime.store.common import add, fact
from runtime.store.schema import people, runs, signals, tasks
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment

NOT_FINISHED: Final = "Its run ended without completing it."
NOTHING_ELSE: Final[Mapping[str, Any]] = {}


class Row(NamedTuple):
    """A row of a task, in the order of its columns, then who posted it and how its run stands, where that was read."""

    id: str
    agent: str
    room: str
    title: str
    goal: str
    input: str
    criteria: str
    state: str
    posted_by: str | None
    owner: str | None
    run_id: str | None
    attempts: int
    due_at: int | None
    result: str
    created_at: int
    ended_at: int | None
    chain: str
    poster: str | None = None
    run_state: str | None = None

    @property
    def task(self) -> PostedTask:
        return PostedTask(
            *(TaskId(self.id), self.agent, Address.parse(self.room), self.title, self.goal, self.input, self.criteria),
            state=TaskState(self.state),
            posted_by=self.poster or "",
            owner=self.owner or "",
            run_id=RunId(self.run_id) if self.run_id else None,
            attempts=self.attempts,
            due_at=maybe_moment(self.due_at),
            result=self.result,
            created_at=moment(self.created_at),
            ended_at=maybe_moment(self.ended_at),
            asks=self.state == TaskState.CLAIMED and self.run_state == RunState.PARKED,
        )


ADD_TASK = add(tasks).on_conflict_do_nothing().returning(tasks.c.id)
TASK_OF_ID = select(*tasks.columns).where(tasks.c.id == bindparam("task"))
LOCKED_TASK = TASK_OF_ID.with_for_update()
TASK_OF_RUN = select(*tasks.columns).where(tasks.c.run_id == bindparam("run"), tasks.c.run_id.is_not(None))
LOCKED_TASK_OF_RUN = TASK_OF_RUN.with_for_update()
WITH_POSTER = (
    select(*tasks.columns, people.c.name, runs.c.state)
    .outerjoin(people, people.c.id == tasks.c.posted_by)
    .outerjoin(runs, runs.c.id == tasks.c.run_id)
)
TOLD_ONE = WITH_POSTER.where(tasks.c.id == bindparam("task"))
COLUMNS: Final = ("state", "owner", "run_id", "attempts", "result", "ended_at")
SET_TASK = (
    update(tasks).where(tasks.c.id == bindparam("task")).values(**{name: bindparam(f"new_{name}") for name in COLUMNS})
)
# A claim is a lease: it holds while its run is not over, or has not begun. No clock is asked.
_begins = exists().where(signals.c.id == tasks.c.run_id, is_word(signals.c.state, "waiting"))
_works = exists().where(runs.c.id == tasks.c.run_id, is_word(runs.c.state, "running", "parked", "ready"))
LAPSED = (
    select(*tasks.columns)
    .where(is_word(tasks.c.state, "claimed"), ~or_(_begins, _works))
    .order_by(tasks.c.id)
    .with_for_update()
)


OPEN_COUNT = (
    select(func.count())
    .select_from(tasks)
    .where(is_word(tasks.c.state, "open", "claimed"), tasks.c.room == bindparam("room"))
)


def one(task: str) -> Op[PostedTask | None]:
    rows = yield TOLD_ONE, {"task": task}
    return Row(*rows[0]).task if rows else None


def move_task(row: Row, event: TaskEvent, now: datetime, changes: Mapping[str, Any] = NOTHING_ELSE) -> Op[Row]:
    """The row after `event`, written. What is over has its time."""
    state = move(TASK_MOVES, TaskState(row.state), event)
    is_over = state in (TaskState.DONE, TaskState.FAILED, TaskState.DROPPED)
    after = row._replace(state=state.value, ended_at=micros(now) if is_over else None, **changes)
    yield SET_TASK, {"task": row.id, **{f"new_{name}": getattr(after, name) for name in COLUMNS}}
    return after


def give_back_lapsed(now: datetime) -> Op[None]:
    """Tasks whose claim is over go back, or count as failed after too many tries."""
    for found in (yield LAPSED, {}):
        row = Row(*found)
        event = unfinished(row.attempts)
        yield from move_task(row, event, now, {"result": NOT_FINISHED})
        yield from fact(now, f"task {event}", "", row.id, NOT_FINISHED)
