"""Accepting: a proposal becomes a person's word, by a person or by being of use."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, update

from runtime.contract.memory.facts import Memory, MemoryActor, MemoryId, MemoryKind, Scope, ScopeKind, Trust
from runtime.contract.people import PersonId, RunId
from runtime.domain.approvals import Rights, approves
from runtime.domain.memory.keeping import refusal_to_change
from runtime.store.common import fact, names_of
from runtime.store.memory.forgetting import meant_by
from runtime.store.memory.keeping import SAME_TOPIC, end_same_topic
from runtime.store.memory.readers import reader_at
from runtime.store.memory.rows import LOCKED_OF_ID, Row, is_over, of_id
from runtime.store.schema import memories
from runtime.store.sql.driver import Op

ACCEPTED_BY_PEOPLE: Final = "A person does this, and nobody asked for this run."
UNKNOWN_MEMORY: Final = "No memory that you may read here is called {name!r}. `/memory` lists them with their ids."
MEMORY_OVER: Final = "This memory has ended meanwhile: another one took its place, or its time is over."
ROOM_FOR_OPERATORS: Final = "Others would read this too, so an operator or an owner accepts it. Please ask one of them."
ROOM_FOR_APPROVERS: Final = "Others would read this too, so an approver accepts it. Please ask one of them."
SEVERAL_MEANT: Final = "These words fit several memories. Name one by its id."
ACCEPT_MEMORY = (
    update(memories)
    .where(memories.c.id == bindparam("memory"))
    .values(trust=bindparam("said"), by_person=bindparam("person"), expires_at=None)
)
PIN_MEMORY = update(memories).where(memories.c.id == bindparam("memory")).values(pinned=bindparam("on"))


def accept(name: str, by: MemoryActor, rights: Rights, now: datetime) -> Op[Memory | str]:
    """A person accepts a row that they may read here and change; of what others read too somebody who may approve."""
    if by.person is None:
        return ACCEPTED_BY_PEOPLE
    row = yield from _one(name, by)
    if isinstance(row, str):
        return row
    if Scope.parse(row.scope).kind is not ScopeKind.PERSON:
        names = yield from names_of(by.person)
        if not approves(by.person, names, rights):
            return ROOM_FOR_APPROVERS if rights.approvers else ROOM_FOR_OPERATORS
    return (yield from accepted(MemoryId(row.id), by.person.id, by.person.name, now))


def pin(name: str, by: MemoryActor, now: datetime, *, on: bool) -> Op[Memory | str]:
    """Pin a row that a person may read here and change, or let go of it: a pinned one never counts as old."""
    if by.person is None:
        return ACCEPTED_BY_PEOPLE
    row = yield from _one(name, by)
    if isinstance(row, str):
        return row
    yield PIN_MEMORY, {"memory": row.id, "on": int(on)}
    yield from fact(now, f"memory {'pinned' if on else 'unpinned'}", by.person.name, row.id, row.scope)
    return row._replace(pinned=int(on)).memory


def _one(name: str, by: MemoryActor) -> Op[Row | str]:
    """The current row that a person means, may read here and may change."""
    reader = yield from reader_at(by.agent, by.room, by.person.id if by.person else None)
    found = yield from meant_by(name, reader)
    current = [row for row in found if row.valid_to is None]
    if not current:
        return MEMORY_OVER if found else UNKNOWN_MEMORY.format(name=name[:40])
    if len(current) > 1:
        return SEVERAL_MEANT
    return refusal_to_change(current[0].memory, reader, by.person) or current[0]


def accepted(memory: MemoryId, person: PersonId | None, actor: str, now: datetime) -> Op[Memory | str]:
    """Make a row a person's word, and end what had its subject and relation before."""
    rows = yield LOCKED_OF_ID, {"memory": memory}
    if not rows:
        return UNKNOWN_MEMORY.format(name=memory[:40])
    row = Row(*rows[0])
    if row.valid_to is not None or is_over(row, now):
        return MEMORY_OVER
    if row.trust == Trust.SAID:
        return row.memory
    ended = yield from end_same_topic(row, now)
    yield ACCEPT_MEMORY, {"memory": row.id, "said": Trust.SAID.value, "person": person or row.by_person}
    yield from fact(now, "memory accepted", actor, row.id, f"{row.scope}{f' instead of {ended.id}' if ended else ''}")
    rows = yield of_id(row.id)
    return Row(*rows[0]).memory


def accept_by_use(memory: MemoryId, run: RunId, now: datetime) -> Op[None]:
    """Accept a staged row of a person that was of use to another run than its own, unless it contradicts a person's word.

    What others read too a person accepts, as they are asked before it is kept: whoever has it recalled may have had it proposed.
    """
    rows = yield LOCKED_OF_ID, {"memory": memory}
    row = Row(*rows[0]) if rows else None
    if (
        row is None
        or row.trust != Trust.STAGED
        or Scope.parse(row.scope).kind is not ScopeKind.PERSON
        or row.source_run == run
        or row.valid_to is not None
        or is_over(row, now)
    ):
        return
    if row.subject_key and row.relation_key and row.kind != MemoryKind.RELATION:
        topic = {"reach": row.reach, "subject": row.subject_key, "relation": row.relation_key}
        if any(Row(*other).trust == Trust.SAID for other in (yield SAME_TOPIC, topic)):
            return
    yield from accepted(memory, None, "use", now)
