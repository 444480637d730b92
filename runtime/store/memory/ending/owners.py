"""Memories whose owner goes: a person is removed or is one with another, an agent is ended for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, ColumnElement, Executable, bindparam, delete, select, update

from runtime.contract.memory.facts import MemoryKind, Scope, ScopeKind, Trust
from runtime.contract.people import PersonId
from runtime.domain.memory.keeping import ends
from runtime.domain.memory.scopes import reach_of
from runtime.store.common import fact
from runtime.store.memory.ending.tombstones import bury
from runtime.store.memory.ending.traces import clear_traces
from runtime.store.memory.keeping import END_MEMORY
from runtime.store.memory.rows import DROP_VECTORS, MEMORIES, Row
from runtime.store.schema import forgotten, memories, memory_uses, memory_vectors, person_summaries, state_values
from runtime.store.sql.driver import Op, micros
from runtime.store.sql.upsert import insert

OF_PERSON: Final = memories.c.scope == bindparam("scope")
OF_AGENT: Final = memories.c.agent == bindparam("agent")


def _removal(which: ColumnElement[bool]) -> Sequence[Executable]:
    """Statements that remove such rows with all that belongs to them, and keep their ids for backups."""
    ids = select(memories.c.id).where(which)
    noted = select(memories.c.id, bindparam("at", type_=BigInteger)).where(which)
    return (
        insert(forgotten).from_select(["id", "at"], noted).on_conflict_do_nothing(),
        delete(memory_vectors).where(memory_vectors.c.memory_id.in_(ids)),
        delete(memory_uses).where(memory_uses.c.memory_id.in_(ids)),
        delete(memories).where(which).returning(memories.c.id),
    )


REMOVE_OF_PERSON: Final = _removal(OF_PERSON)
REMOVE_OF_PERSON_AND_AGENT: Final = _removal(OF_PERSON & OF_AGENT)
REMOVE_OF_AGENT: Final = _removal(OF_AGENT)
TEXTS_IN = select(memories.c.text).where(memories.c.reach == bindparam("reach"))
UNNAME = update(memories).where(memories.c.by_person == bindparam("who")).values(by_person=None)
UNNAME_SUMMARIES = (
    update(person_summaries).where(person_summaries.c.changed_by == bindparam("who")).values(changed_by=None)
)
DROP_SUMMARIES_OF = delete(person_summaries).where(person_summaries.c.person_id == bindparam("who"))
DROP_SUMMARIES_BY = delete(person_summaries).where(person_summaries.c.agent == bindparam("agent"))
DROP_VALUES_IN = delete(state_values).where(state_values.c.scope == bindparam("scope"))
DROP_VALUES_BY = delete(state_values).where(state_values.c.agent == bindparam("agent"))


def forget_person(person: PersonId, actor: str, now: datetime) -> Op[None]:
    """A person is removed: what was kept for them goes; what they said for others stays, without their name."""
    scope = str(Scope(ScopeKind.PERSON, person))
    gone = yield from _removed(REMOVE_OF_PERSON, {"scope": scope}, now)
    yield UNNAME, {"who": person}
    yield UNNAME_SUMMARIES, {"who": person}
    yield DROP_SUMMARIES_OF, {"who": person}
    yield DROP_VALUES_IN, {"scope": scope}
    if gone:
        yield from fact(now, "memories forgotten", actor, scope, str(gone))


def forget_for_person(agent: str, person: PersonId, actor: str, now: datetime) -> Op[int]:
    """Everything that one agent keeps of a person for them alone; how many rows that was."""
    scope = str(Scope(ScopeKind.PERSON, person))
    reach = reach_of(agent, Scope(ScopeKind.PERSON, person))
    for (text,) in (yield TEXTS_IN, {"reach": reach}):
        yield from bury(reach, text, now)
    gone = yield from _removed(REMOVE_OF_PERSON_AND_AGENT, {"scope": scope, "agent": agent}, now)
    if gone:
        yield from fact(now, "memories forgotten", actor, scope, f"{agent} {gone}")
    return gone


def forget_agent(agent: str, actor: str, now: datetime) -> Op[None]:
    """An agent is ended for good: nobody will read what it kept, so nothing of it stays."""
    gone = yield from _removed(REMOVE_OF_AGENT, {"agent": agent}, now)
    yield DROP_SUMMARIES_BY, {"agent": agent}
    yield DROP_VALUES_BY, {"agent": agent}
    if gone:
        yield from fact(now, "memories forgotten", actor, agent, str(gone))


def _removed(statements: Sequence[Executable], which: dict[str, object], now: datetime) -> Op[int]:
    note, *below, last = statements
    yield note, which | {"at": micros(now)}
    for statement in below:
        yield statement, which
    gone = len((yield last, which))
    if gone:
        yield from clear_traces()
    return gone


# --------------------------------------------------------------------------------------------------------- two are one

AGENTS_OF = (
    select(memories.c.agent)
    .where(OF_PERSON)
    .union(select(state_values.c.agent).where(state_values.c.scope == bindparam("scope")))
)
CURRENT_IN = MEMORIES.where(memories.c.reach == bindparam("reach"), memories.c.valid_to.is_(None)).order_by(
    memories.c.number
)
MOVE_ROWS = (
    update(memories)
    .where(memories.c.reach == bindparam("old"))
    .values(reach=bindparam("new"), scope=bindparam("new_scope"))
)
MOVE_VECTORS = update(memory_vectors).where(memory_vectors.c.reach == bindparam("old")).values(reach=bindparam("new"))
_known = state_values.alias("known")
DROP_KNOWN_VALUES = delete(state_values).where(
    state_values.c.reach == bindparam("old"),
    state_values.c.key.in_(select(_known.c.key).where(_known.c.reach == bindparam("new"))),
)
MOVE_VALUES = (
    update(state_values)
    .where(state_values.c.reach == bindparam("old"))
    .values(reach=bindparam("new"), scope=bindparam("new_scope"))
)
HASHES = select(memories.c.id, memories.c.hash).where(
    memories.c.reach == bindparam("reach"), memories.c.valid_to.is_(None)
)
_theirs = person_summaries.alias("theirs")
DROP_SECOND_SUMMARIES = delete(person_summaries).where(
    person_summaries.c.person_id == bindparam("old"),
    person_summaries.c.agent.in_(select(_theirs.c.agent).where(_theirs.c.person_id == bindparam("new"))),
)
MOVE_SUMMARIES = (
    update(person_summaries).where(person_summaries.c.person_id == bindparam("old")).values(person_id=bindparam("new"))
)


def merge_memories(old: PersonId, new: PersonId, now: datetime) -> Op[None]:
    """Two people are one: memories of the first are the second's. Of two values of one thing the newer one stands."""
    before, after = Scope(ScopeKind.PERSON, old), Scope(ScopeKind.PERSON, new)
    for (agent,) in sorted((yield AGENTS_OF, {"scope": str(before)})):
        reaches = {"old": reach_of(agent, before), "new": reach_of(agent, after)}
        yield from _settle(reaches["old"], reaches["new"], now)
        yield MOVE_ROWS, {**reaches, "new_scope": str(after)}
        yield MOVE_VECTORS, reaches
        yield DROP_KNOWN_VALUES, reaches
        yield MOVE_VALUES, {**reaches, "new_scope": str(after)}
    yield DROP_SECOND_SUMMARIES, {"old": old, "new": new}
    yield MOVE_SUMMARIES, {"old": old, "new": new}


def _settle(old: str, new: str, now: datetime) -> Op[None]:
    """End what both have, so that each value stands once."""
    hashes: dict[str, str] = dict([*(yield HASHES, {"reach": new}), *(yield HASHES, {"reach": old})])
    theirs = [Row(*row) for row in (yield CURRENT_IN, {"reach": new})]
    texts = {hashes[row.id]: row for row in theirs}
    values = {_topic(row): row for row in theirs if _topic(row)}
    for row in [Row(*row) for row in (yield CURRENT_IN, {"reach": old})]:
        same, other = texts.get(hashes[row.id]), values.get(_topic(row))
        if same and ends(Trust(same.trust), Trust(row.trust)):
            yield from _end(row.id, same.id, now)
            continue
        if same:  # nobody said that one
            yield from _end(same.id, row.id, now)
        if other:
            older, newer = sorted((row, other), key=lambda one: one.valid_from)
            yield from _end(older.id, newer.id, now)


def _topic(row: Row) -> tuple[str, str] | None:
    """Subject and relation for which a row is the one value; None for any other row."""
    is_value = row.trust == Trust.SAID and row.kind != MemoryKind.RELATION and row.subject_key and row.relation_key
    return (row.subject_key, row.relation_key) if is_value else None


def _end(memory: str, instead: str, now: datetime) -> Op[None]:
    yield END_MEMORY, {"memory": memory, "at": micros(now), "new": instead}
    yield DROP_VECTORS, {"memory": memory}
