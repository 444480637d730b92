"""Pinning: a row that its reader is reminded of first, however old it is."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, update

from runtime.contract.memory.facts import Memory, MemoryActor, Trust
from runtime.domain.memory.keeping import refusal_to_change
from runtime.store.common import fact
from runtime.store.memory.accepting import ACCEPTED_BY_PEOPLE, MEMORY_OVER, SEVERAL_MEANT, UNKNOWN_MEMORY
from runtime.store.memory.forgetting import meant_by
from runtime.store.memory.readers import reader_at
from runtime.store.memory.rows import Row, of_id
from runtime.store.schema import memories
from runtime.store.sql.driver import Op

NOT_ACCEPTED: Final = "Nobody has accepted this one: do that first."
PIN = update(memories).where(memories.c.id == bindparam("memory")).values(pinned=bindparam("new_pinned"))


def pin(name: str, by: MemoryActor, now: datetime, *, on: bool) -> Op[Memory | str]:
    """Pin or unpin a row that a person may read here and change."""
    if by.person is None:
        return ACCEPTED_BY_PEOPLE
    reader = yield from reader_at(by.agent, by.room, by.person.id)
    found = yield from meant_by(name, reader)
    current = [row for row in found if row.valid_to is None]
    if not current:
        return MEMORY_OVER if found else UNKNOWN_MEMORY.format(name=name[:40])
    if len(current) > 1:
        return SEVERAL_MEANT
    if refused := refusal_to_change(current[0].memory, reader, by.person):
        return refused
    if current[0].trust != Trust.SAID:
        return NOT_ACCEPTED
    yield PIN, {"memory": current[0].id, "new_pinned": int(on)}
    yield from fact(now, "memory pinned" if on else "memory unpinned", by.person.name, current[0].id, current[0].scope)
    rows = yield of_id(current[0].id)
    return Row(*rows[0]).memory
