"""Places that are told of tasks: kept, told and given up. Whoever tells them holds the duty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Integer, bindparam, delete, exists, func, literal_column, select, tuple_, update

from runtime.contract import SignalId
from runtime.domain.programs.followed import OpenQuestion
from runtime.domain.programs.stages import PUSH_TRIES_MAX, Push, PushDue, PutQuestion, Story, push_delay
from runtime.store.common import add, fact, held
from runtime.store.protocol import Duty
from runtime.store.schema import approvals, deliveries, pushes, runs, signals
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, maybe_moment, micros, moment

PUSHES_A_TASK: Final = 5
PLACES_A_PROGRAM: Final = 500
"""Places of all its tasks that aren't over: each is looked at twice a second."""
PUSHES_A_LOOK: Final = 200
STAGES_KNOWN: Final = 1
"""Stages that nobody needs to be told: that a message was taken in is what its answer says."""
PUSH_COLUMNS: Final = (
    pushes.c.task,
    pushes.c.name,
    pushes.c.program,
    pushes.c.dialect,
    pushes.c.sealed,
    pushes.c.told,
    pushes.c.tries,
    pushes.c.due_at,
    pushes.c.fault,
)
PUSHES_OF = select(*PUSH_COLUMNS).where(pushes.c.task == bindparam("of_task")).order_by(pushes.c.name)
PUSHES_OF_PROGRAM = select(func.count()).select_from(pushes).where(pushes.c.program == bindparam("of_program"))
ANY_PUSH = select(pushes.c.task).limit(1)
_named = (pushes.c.task == bindparam("of_task"), pushes.c.name == bindparam("of_name"))
_new = add(pushes)
# A place that is named again keeps what it took: only where it is, and how it is spoken to, is new.
PUT_PUSH = _new.on_conflict_do_update(
    index_elements=["task", "name"],
    set_={name: _new.excluded[name] for name in ("dialect", "sealed", "tries", "due_at", "fault")},
)
DROP_PUSH = delete(pushes).where(*_named).returning(pushes.c.task)
TOLD_PUSH = (
    update(pushes)
    .where(*_named, pushes.c.told < bindparam("count"))
    .values(told=bindparam("count"), tries=0, due_at=0, fault="")
)
PUSH_FAILED = (
    update(pushes).where(*_named).values(tries=bindparam("count"), due_at=bindparam("again"), fault=bindparam("why"))
)
_page = (
    select(*PUSH_COLUMNS)
    .where(
        tuple_(pushes.c.task, pushes.c.name) > tuple_(bindparam("after_task"), bindparam("after_name")),
        pushes.c.due_at <= bindparam("now"),
    )
    .order_by(pushes.c.task, pushes.c.name)
    .limit(bindparam("n", type_=Integer))
    .subquery()
)
_twins = signals.alias("twins")  # the message that a repeated one is answered with
_run = func.coalesce(signals.c.run_id, _twins.c.run_id)
PUSHES_DUE = (
    select(
        *_page.c,
        signals.c.state,
        signals.c.accepted_at,
        runs.c.state,
        runs.c.started_at,
        runs.c.ended_at,
        exists().where(deliveries.c.origin == literal_column("'signal:'").concat(signals.c.id)),
        approvals.c.id,
        approvals.c.kind,
        approvals.c.tool,
        approvals.c.expires_at,
        approvals.c.asked_at,
        approvals.c.decided_at,
        approvals.c.card,
    )
    .select_from(
        _page.outerjoin(signals, signals.c.id == _page.c.task)
        .outerjoin(_twins, _twins.c.id == signals.c.merged_into)
        .outerjoin(runs, runs.c.id == _run)
        .outerjoin(approvals, approvals.c.run_id == runs.c.id)
    )
    .order_by(_page.c.task, _page.c.name, approvals.c.id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPush:
    """A place that is to be told of a task."""

    task: SignalId
    name: str
    program: str
    dialect: str
    sealed: str = field(repr=False)


def put_push(new: NewPush, now: datetime) -> Op[bool]:
    """Keep a place, or its new address; false where the task or its program has as many as it may have."""
    known = [one.name for one in (yield from pushes_of(new.task))]
    if new.name not in known:
        held_now = (yield PUSHES_OF_PROGRAM, {"of_program": new.program})[0][0]
        if len(known) >= PUSHES_A_TASK or held_now >= PLACES_A_PROGRAM:
            return False
    row = {"task": new.task, "name": new.name, "program": new.program, "dialect": new.dialect, "sealed": new.sealed}
    yield PUT_PUSH, {**row, "told": STAGES_KNOWN, "tries": 0, "due_at": 0, "made_at": micros(now), "fault": ""}
    return True


def pushes_of(task: str) -> Op[list[Push]]:
    return [_push(row) for row in (yield PUSHES_OF, {"of_task": task})]


def any_push() -> Op[bool]:
    return bool((yield ANY_PUSH, {}))


def drop_push(task: str, name: str) -> Op[bool]:
    return bool((yield DROP_PUSH, {"of_task": task, "of_name": name}))


def due(after: tuple[str, str], now: datetime) -> Op[list[PushDue]]:
    """A page of the places that may be sent to, with the stories of their tasks."""
    given = {"after_task": after[0], "after_name": after[1], "now": micros(now), "n": PUSHES_A_LOOK}
    rows = yield PUSHES_DUE, given
    width = len(PUSH_COLUMNS)
    return [
        PushDue(_push(key), _story([row[width:] for row in own])) for key, own in groupby(rows, lambda row: row[:width])
    ]


def push_told(duty: Duty, push: Push, told: int, over: bool) -> Op[bool]:
    """So many stages were taken; with the last one the place is done. False when the duty was lost."""
    if not (yield from held(duty)):
        return False
    of = {"of_task": push.task, "of_name": push.name}
    yield (DROP_PUSH, of) if over else (TOLD_PUSH, {**of, "count": told})
    return True


def push_failed(duty: Duty, push: Push, why: str, now: datetime) -> Op[bool]:
    """It took nothing: tried again later, until it failed too often. True while it is not given up."""
    if not (yield from held(duty)):
        return True
    of, tries = {"of_task": push.task, "of_name": push.name}, push.tries + 1
    if tries < PUSH_TRIES_MAX:
        yield PUSH_FAILED, {**of, "count": tries, "again": micros(now + push_delay(tries)), "why": why}
        return True
    if (yield DROP_PUSH, of):
        yield from fact(now, "push dropped", push.program, push.task, why)
    return False


def _push(row: Sequence[Any]) -> Push:
    task, name, program, dialect, sealed, told, tries, due_at, fault = row
    return Push(
        task=SignalId(task),
        name=name,
        program=program,
        dialect=dialect,
        sealed=sealed,
        told=told,
        tries=tries,
        due_at=moment(due_at),
        fault=fault,
    )


def _story(rows: Sequence[Sequence[Any]]) -> Story | None:
    from runtime.store.programs.following import asked_in  # for who has a push to get

    state, taken, run, began, ended, answered = rows[0][:6]
    if state is None:
        return None
    asked = [row[6:] for row in rows if row[6] is not None]
    return Story(
        signal=state,
        taken_at=moment(taken),
        run=run or "",
        began_at=maybe_moment(began),
        ended_at=maybe_moment(ended),
        questions=[
            PutQuestion(
                OpenQuestion(one[0], one[1], one[2], moment(one[3]), asked_in(one[1], one[6])),
                moment(one[4]),
                maybe_moment(one[5]),
            )
            for one in asked
        ],
        answered=bool(answered),
    )


class PushStore(Base):
    """Places that are told of tasks, over an engine."""

    async def put_push(self, new: NewPush) -> bool:
        """Keep a place, or its new address; false where the task or its program has as many as it may have."""
        now = self.now()
        return await self._driver.write(lambda: put_push(new, now))

    async def pushes_of(self, task: str) -> list[Push]:
        return await self._driver.read(lambda: pushes_of(task))

    async def drop_push(self, task: str, name: str) -> bool:
        return await self._driver.write(lambda: drop_push(task, name))

    async def any_push(self) -> bool:
        return await self._driver.read(any_push)

    async def due(self, after: tuple[str, str] = ("", "")) -> list[PushDue]:
        """A page of the places that may be sent to, behind `after`, with the stories of their tasks."""
        now = self.now()
        return await self._driver.read(lambda: due(after, now))

    async def push_told(self, duty: Duty, push: Push, told: int, *, over: bool) -> bool:
        return await self._driver.write(lambda: push_told(duty, push, told, over))

    async def push_failed(self, duty: Duty, push: Push, why: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: push_failed(duty, push, why, now))
