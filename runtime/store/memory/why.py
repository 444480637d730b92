"""Reasons of a run's memories: rows that it was given or found, and for the others of its reader why not."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, select

from runtime.contract.memory.facts import MemoryActor, Scope, ScopeKind
from runtime.contract.people import RunId
from runtime.domain.memory.forgetting import ID_MIN_CHARS
from runtime.domain.memory.reasons import why_unused
from runtime.domain.memory.scopes import may_read, reach_of
from runtime.store.common import escaped
from runtime.store.memory.listed import readable
from runtime.store.memory.readers import reader_at
from runtime.store.memory.uses import uses_of
from runtime.store.protocol.memory.memories import UnusedMemory, Why
from runtime.store.schema import forgotten, memories, runs, signals
from runtime.store.sql.driver import Op, moment

WHY_ROWS_MAX: Final = 1_000
RUN_BEGAN = select(runs.c.started_at).where(runs.c.id == bindparam("run"))
RUN_ASKED = select(signals.c.text).where(signals.c.run_id == bindparam("run")).order_by(signals.c.accepted_at)
COUNT_IN = (
    select(func.count())
    .select_from(memories)
    .where(memories.c.reach == bindparam("reach"), memories.c.valid_to.is_(None))
)
FORGOTTEN_AT = (
    select(forgotten.c.id, forgotten.c.at)
    .where(forgotten.c.id.like(bindparam("pattern"), escape="\\"))
    .order_by(forgotten.c.at.desc())
    .limit(10)
)


def why(run: RunId, by: MemoryActor, now: datetime) -> Op[Why]:
    """Told to somebody in a room: only of rows that they may read there. What they keep elsewhere is counted."""
    reader = yield from reader_at(by.agent, by.room, by.person.id if by.person else None)
    used = [one for one in (yield from uses_of(run)) if may_read(reader, one.memory.agent, one.memory.scope)]
    began = yield RUN_BEGAN, {"run": run}
    asked = " ".join(text for (text,) in (yield RUN_ASKED, {"run": run}))
    at, known = moment(began[0][0]) if began else now, {one.memory.id for one in used}
    every = yield from readable(reader, None, True, WHY_ROWS_MAX, now)
    unused = [UnusedMemory(one, why_unused(one, asked, at)) for one in every if one.id not in known]
    elsewhere = 0
    if by.person and reader.person is None:
        own = reach_of(by.agent, Scope(ScopeKind.PERSON, by.person.id))
        elsewhere = (yield COUNT_IN, {"reach": own})[0][0]
    return Why(tuple(used), tuple(unused), elsewhere)


def forgotten_at(name: str) -> Op[datetime | None]:
    """Time at which the row with this id, or whose id ends so, was forgotten."""
    name = name.strip().lstrip("#")
    if len(name) < ID_MIN_CHARS:
        return None
    rows = yield FORGOTTEN_AT, {"pattern": f"%{escaped(name)}"}
    return next((moment(at) for memory, at in rows if memory.endswith(name)), None)
