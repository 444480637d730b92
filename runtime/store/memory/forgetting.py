"""Forgetting: a row goes with its vectors, its uses and what it had ended; its id is kept, for backups that still have it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, select, update

from runtime.contract.memory.facts import Memory, MemoryActor, MemoryId, Reader, ScopeKind
from runtime.domain.memory.forgetting import FORGOTTEN_MAX, ID_MIN_CHARS, has_words, without
from runtime.domain.memory.keeping import refusal_to_change, words_of
from runtime.domain.memory.scopes import reaches_of
from runtime.store.common import escaped, fact
from runtime.store.memory.ending.owners import forget_for_person
from runtime.store.memory.ending.tombstones import NOTE_FORGOTTEN, bury
from runtime.store.memory.ending.traces import clear_traces
from runtime.store.memory.readers import reader_at
from runtime.store.memory.rows import DROP_USES, DROP_VECTORS, MEMORIES, Row, in_reaches, of_id, reaching
from runtime.store.schema import memories, person_summaries
from runtime.store.sql.driver import Op, micros

TOO_MANY_MEANT: Final = (
    "These words fit {count} memories, and at most {most} are forgotten at once. Say more, or name one by its id."
)
IN_REACHES = MEMORIES.where(in_reaches).order_by(memories.c.number.desc())
MEMORY_CALLED = (
    MEMORIES.where(memories.c.id.like(bindparam("pattern"), escape="\\")).order_by(memories.c.id.desc()).limit(10)
)
ENDED_BY = MEMORIES.where(memories.c.superseded_by == bindparam("memory"))
DROP_MEMORY = delete(memories).where(memories.c.id == bindparam("memory")).returning(memories.c.id)
SUMMARY_OF = (
    select(person_summaries.c.text)
    .where(person_summaries.c.person_id == bindparam("person"), person_summaries.c.agent == bindparam("agent"))
    .with_for_update()
)
SET_SUMMARY = (
    update(person_summaries)
    .where(person_summaries.c.person_id == bindparam("person"), person_summaries.c.agent == bindparam("agent"))
    .values(text=bindparam("new_text"), changed_at=bindparam("at"))
)


def forget(words: str, by: MemoryActor, now: datetime) -> Op[list[Memory] | str]:
    """Remove what a run or a person means, of what they may read here; words where they may not."""
    reader = (yield from reader_at(by.agent, by.room, by.person.id if by.person else None)).narrowed(by.kinds)
    meant = yield from meant_by(words, reader)
    if len(meant) > FORGOTTEN_MAX:
        return TOO_MANY_MEANT.format(count=len(meant), most=FORGOTTEN_MAX)
    refused = [why for row in meant if (why := refusal_to_change(row.memory, reader, by.person))]
    if refused:
        return refused[0]
    return (yield from remove(meant, by.person.name if by.person else by.agent, now))


def forget_own(by: MemoryActor, now: datetime) -> Op[int]:
    """Everything that an agent keeps of a person for them alone, with what it summed up; how many rows that was."""
    if by.person is None:
        return 0
    gone = yield from forget_for_person(by.agent, by.person.id, by.person.name, now)
    yield SET_SUMMARY, {"person": by.person.id, "agent": by.agent, "new_text": "", "at": micros(now)}
    return gone


def meant_by(words: str, reader: Reader) -> Op[list[Row]]:
    """Rows that a reader may see and means: the one with this id, or whose id ends so, else those with all these words."""
    found = [Row(*row) for row in (yield IN_REACHES, reaching(reaches_of(reader)))]
    name = words.strip().lstrip("#")
    if len(name) >= ID_MIN_CHARS and (called := [row for row in found if row.id.endswith(name)]):
        return called[:1]
    wanted = words_of(words)
    return [row for row in found if has_words(row.memory, wanted)]


def called(name: str) -> Op[Row | None]:
    """The row with this id, or the only one whose id ends so, wherever it is."""
    name = name.strip().lstrip("#")
    if len(name) < ID_MIN_CHARS:
        return None
    rows = yield MEMORY_CALLED, {"pattern": f"%{escaped(name)}"}
    found = [Row(*row) for row in rows if row[0].endswith(name)]  # not every database tells small letters from capitals
    return found[0] if len(found) == 1 else None


def remove_ids(ids: Collection[MemoryId], actor: str, now: datetime) -> Op[list[Memory]]:
    rows: list[Row] = []
    for memory in dict.fromkeys(ids):
        rows += [Row(*row) for row in (yield of_id(memory))]
    return (yield from remove(rows, actor, now))


def remove(rows: Iterable[Row], actor: str, now: datetime) -> Op[list[Memory]]:
    """Remove rows and everything that they had ended, so that nothing of them is left; those removed."""
    gone: dict[str, Memory] = {}
    waiting = list(rows)
    while waiting:
        row = waiting.pop(0)
        if row.id in gone or not (yield DROP_MEMORY, {"memory": row.id}):
            continue
        gone[row.id] = row.memory
        for statement in (DROP_VECTORS, DROP_USES):
            yield statement, {"memory": row.id}
        yield NOTE_FORGOTTEN, {"id": row.id, "at": micros(now)}
        yield from bury(row.reach, row.text, now)
        yield from fact(now, "memory forgotten", actor, row.id, row.scope)
        waiting += [Row(*older) for older in (yield ENDED_BY, {"memory": row.id})]
    if gone:
        yield from clear_traces()
    yield from _without_summaries(gone.values(), now)
    return [*gone.values()]


def _without_summaries(gone: Collection[Memory], now: datetime) -> Op[None]:
    """Take out of a person's summary what it has of it."""
    persons = {(one.scope.subject, one.agent) for one in gone if one.scope.kind is ScopeKind.PERSON}
    for person, agent in sorted(persons):
        whose = {"person": person, "agent": agent}
        for (text,) in (yield SUMMARY_OF, whose):
            left = without(text, [one for one in gone if (one.scope.subject, one.agent) == (person, agent)])
            if left != text:
                yield SET_SUMMARY, {**whose, "new_text": left, "at": micros(now)}
