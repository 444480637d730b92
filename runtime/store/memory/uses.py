"""Rows that runs were given or found: noted as they come, and told to whoever asks why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select, update

from runtime.contract.people import RunId, SessionKey
from runtime.store.common import add
from runtime.store.memory.accepting import accept_by_use
from runtime.store.memory.rows import MEMORY_COLUMNS, Row
from runtime.store.protocol.memory.memories import Use, UsedMemory
from runtime.store.schema import memories, memory_uses, people, turns
from runtime.store.sql.driver import Op, micros, moment

ADD_USE = add(memory_uses).on_conflict_do_nothing().returning(memory_uses.c.memory_id)
COUNT_USE = (
    update(memories)
    .where(memories.c.id == bindparam("memory"))
    .values(uses=memories.c.uses + 1, used_at=bindparam("at"))
    .returning(memories.c.id)
)
USED = (
    select(*MEMORY_COLUMNS, memory_uses.c.rank, memory_uses.c.how, memory_uses.c.at)
    .select_from(memory_uses)
    .join(memories, memories.c.id == memory_uses.c.memory_id)
    .outerjoin(people, people.c.id == memories.c.by_person)
    .where(memory_uses.c.run_id == bindparam("run"))
    .order_by(memory_uses.c.at, memory_uses.c.rank)
)
NEWEST_RUN = (
    select(turns.c.run_id).where(turns.c.session == bindparam("session")).order_by(turns.c.number.desc()).limit(1)
)


def record_uses(run: RunId, uses: Sequence[Use], now: datetime, *, accepts: bool) -> Op[None]:
    """Note rows that a run was given or found, each once a run; in the order of ids, as every writer locks them."""
    for use in sorted(uses, key=lambda use: use.memory):
        if not (yield COUNT_USE, {"memory": use.memory, "at": micros(now)}):
            continue  # forgotten since it was read
        values = {"run_id": run, "memory_id": use.memory, "rank": use.rank, "how": use.how, "at": micros(now)}
        if (yield ADD_USE, values) and accepts:
            yield from accept_by_use(use.memory, now)


def uses_of(run: RunId) -> Op[list[UsedMemory]]:
    rows = yield USED, {"run": run}
    return [UsedMemory(Row(*row[:-3]).memory, row[-3], row[-2], moment(row[-1])) for row in rows]


def last_uses(session: SessionKey) -> Op[tuple[RunId, list[UsedMemory]] | None]:
    """Uses of the newest run of a conversation, and which one that is."""
    newest = yield NEWEST_RUN, {"session": session}
    return (RunId(newest[0][0]), (yield from uses_of(RunId(newest[0][0])))) if newest else None
