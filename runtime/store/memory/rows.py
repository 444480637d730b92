"""Rows of memories, and the order in which they are read everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, bindparam, delete, or_, select

from runtime.contract.memory.facts import Memory, MemoryId, MemoryKind, Scope, Trust
from runtime.contract.people import RunId
from runtime.store.common import add
from runtime.store.schema import memories, memory_uses, memory_vectors, people
from runtime.store.sql.driver import maybe_moment, moment

TAKEN_OVER: Final = "import:"
"""Before the name of a program, in place of the message that led to a memory. No id of a message begins so."""
REACHES_MOST: Final = 4
"""Scopes that a reader may see at most."""
NO_REACH: Final = ""
"""The digest of no scope."""


class Row(NamedTuple):
    """A row as `MEMORY_COLUMNS` reads it. `name` is of the person who said it, None where nobody is known."""

    id: str
    agent: str
    scope: str
    reach: str
    kind: str
    subject: str
    relation: str
    object: str
    subject_key: str
    relation_key: str
    text: str
    trust: str
    importance: int
    pinned: int
    source_signal: str | None
    source_run: str | None
    by_person: str | None
    valid_from: int
    valid_to: int | None
    superseded_by: str | None
    expires_at: int | None
    uses: int
    used_at: int | None
    created_at: int
    name: str | None

    @property
    def memory(self) -> Memory:
        return Memory(
            id=MemoryId(self.id),
            agent=self.agent,
            scope=Scope.parse(self.scope),
            kind=MemoryKind(self.kind),
            text=self.text,
            subject=self.subject,
            relation=self.relation,
            object=self.object,
            trust=Trust(self.trust),
            importance=self.importance,
            pinned=bool(self.pinned),
            by=self.name or "",
            source_run=RunId(self.source_run) if self.source_run else None,
            valid_from=moment(self.valid_from),
            valid_to=maybe_moment(self.valid_to),
            superseded_by=MemoryId(self.superseded_by) if self.superseded_by else None,
            expires_at=maybe_moment(self.expires_at),
            uses=self.uses,
            used_at=maybe_moment(self.used_at),
            created_at=moment(self.created_at),
            origin=(self.source_signal or "").partition(TAKEN_OVER)[2],
        )


MEMORY_COLUMNS: Final = (*(memories.c[name] for name in Row._fields[:-1]), people.c.name)
MEMORIES: Final[Select[Any]] = select(*MEMORY_COLUMNS).outerjoin(people, people.c.id == memories.c.by_person)
"""Rows with the name of who said them: `Row(*found).memory`. Narrow it down by `memories.c`."""

ADD_MEMORY = add(memories, without=("number",)).on_conflict_do_nothing().returning(memories.c.id)
OF_ID = MEMORIES.where(memories.c.id == bindparam("memory"))
LOCKED_OF_ID = OF_ID.with_for_update(of=memories)
DROP_VECTORS = delete(memory_vectors).where(memory_vectors.c.memory_id == bindparam("memory"))
DROP_USES = delete(memory_uses).where(memory_uses.c.memory_id == bindparam("memory"))

in_reaches: Final = memories.c.reach.in_([bindparam(f"reach{number}") for number in range(REACHES_MOST)])
"""A row is in one of those that `reaching` names."""
is_current: Final = memories.c.valid_to.is_(None) & or_(
    memories.c.expires_at.is_(None), memories.c.expires_at > bindparam("now")
)


def reaching(reaches: Sequence[str]) -> dict[str, object]:
    """Parameters of `in_reaches`: where there are fewer the last one stands for the rest, and with none nothing is found."""
    known = reaches or [NO_REACH]
    return {f"reach{number}": known[min(number, len(known) - 1)] for number in range(REACHES_MOST)}


def of_id(memory: str) -> tuple[Select[Any], dict[str, object]]:
    return OF_ID, {"memory": memory}


def is_over(row: Row, now: datetime) -> bool:
    """True if the row's time is over, though nobody has removed it yet."""
    end = maybe_moment(row.expires_at)
    return end is not None and end <= now
