"""Memories of agents: who may read one, how far it is trusted, and what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NewType, Protocol

from runtime.contract.people import Address, Person, PersonId, RunId, SessionKey

MemoryId = NewType("MemoryId", str)
SHORT_ID_CHARS: Final = 6


class ScopeKind(StrEnum):
    PERSON = "person"  # read in private rooms of that person alone
    ROOM = "room"  # read in that room and its threads alone
    AGENT = "agent"  # read wherever that agent speaks
    ALL = "all"  # read by each agent; written by operators


EVERY_SCOPE: Final = tuple(ScopeKind)
"""What an agent may read and keep, unless its settings name less."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Readers of a memory. `subject` is the person's id or the room's address; empty for the wider ones."""

    kind: ScopeKind
    subject: str = ""

    def __str__(self) -> str:
        """As the table has it: `person|ID`, `room|ADDRESS`, `agent`, `all`."""
        return f"{self.kind}|{self.subject}" if self.subject else self.kind.value

    @staticmethod
    def parse(text: str) -> Scope:
        kind, _, subject = text.partition("|")
        return Scope(ScopeKind(kind), subject)


class Trust(StrEnum):
    SAID = "said"  # a person's word, or accepted by one: given to the model unasked
    STAGED = "staged"  # proposed from a conversation: found when asked for; accepted by use or by a person
    LOW = "low"  # from a child, a tool or a stranger: found when asked for, and accepted by a person alone


class MemoryKind(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    NOTE = "note"
    RELATION = "relation"  # of two things by their names; several of the same kind stand side by side


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """A memory as somebody wants it kept. With `subject` and `relation` it ends what those had before.

    `importance` is from 1 to 5.
    """

    text: str
    scope: ScopeKind = ScopeKind.PERSON
    kind: MemoryKind = MemoryKind.FACT
    subject: str = ""
    relation: str = ""
    object: str = ""
    importance: int = 3
    pinned: bool = False
    trust: Trust = Trust.SAID
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it stands. `valid_to` is set where it was superseded or corrected, `superseded_by` by which other one.

    `by` is the name of who said it, empty where nobody did; `origin` is the program that it was taken over from.
    """

    id: MemoryId
    agent: str
    scope: Scope
    kind: MemoryKind
    text: str
    subject: str
    relation: str
    object: str
    trust: Trust
    importance: int
    pinned: bool
    by: str
    source_run: RunId | None
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: MemoryId | None
    expires_at: datetime | None
    uses: int
    used_at: datetime | None
    created_at: datetime
    origin: str = ""

    @property
    def short_id(self) -> str:
        """Its id as people read and say it: the end, which changes most."""
        return self.id[-SHORT_ID_CHARS:]


@dataclass(frozen=True, slots=True)
class MemoryActor:
    """A run or a command that reads or keeps memories: for which agent, where, and for whom. `key` makes a repeat of a call
    the same one, and `kinds` are the scopes that the agent has."""

    agent: str
    room: Address
    person: Person | None
    session: SessionKey | None = None
    run_id: RunId | None = None
    step: int | None = None
    key: str = ""
    kinds: Sequence[ScopeKind] = EVERY_SCOPE


@dataclass(frozen=True, slots=True)
class Kept:
    """Result of keeping: the row; whether it was there already; the one that it ended; and whether it is read in that room."""

    memory: Memory
    was_known: bool = False
    ended: Memory | None = None
    read_here: bool = True


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that was found, and why: words of ours, such as "words, 3rd; meaning, 1st"."""

    memory: Memory
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message of a conversation that somebody looked for."""

    room: Address
    author: str
    text: str
    at: datetime


class MemoryBook(Protocol):
    """Memories for tools. Each call reads and keeps only what its actor may. What is refused is a ToolRetry with words for
    the model."""

    async def remember(self, wanted: MemoryRequest, by: MemoryActor) -> Kept:
        """Keep one. The same call again finds the one that it made."""

    async def recall(
        self, query: str, by: MemoryActor, *, about: str = "", since: datetime | None = None, limit: int = 10
    ) -> list[Recalled]:
        """The best for a query, current ones only, best first."""

    async def about(self, entity: str, by: MemoryActor, *, depth: int = 1) -> list[Memory]:
        """Relations and facts of a thing by its name, up to `depth` steps away (2 at most); at most 50."""

    async def forget(self, words: str, by: MemoryActor) -> list[Memory]:
        """Remove the one with this id, else those that have all these words; what was removed."""

    async def search_messages(
        self, query: str, by: MemoryActor, *, room: str = "", since: datetime | None = None
    ) -> list[FoundMessage]:
        """Messages of rooms that the asker may read, newest first among the best."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of memories, and where they read. `person` is set only in a private room of theirs: else nothing of a person is read.

    `kinds` are the scopes that the agent has.
    """

    agent: str
    room: Address
    person: PersonId | None = None
    kinds: Sequence[ScopeKind] = EVERY_SCOPE

    def narrowed(self, kinds: Sequence[ScopeKind]) -> Reader:
        """The same for an agent that has these scopes alone."""
        if kinds is EVERY_SCOPE:
            return self
        return Reader(self.agent, self.room, self.person if ScopeKind.PERSON in kinds else None, kinds)

    def scopes(self) -> Sequence[tuple[str, Scope]]:
        """Each agent and scope whose rows may be read: those of no agent are for all."""
        own = [Scope(ScopeKind.ROOM, str(self.room.whole_room)), Scope(ScopeKind.AGENT)]
        if self.person is not None:
            own.insert(0, Scope(ScopeKind.PERSON, self.person))
        every = [*((self.agent, scope) for scope in own), ("", Scope(ScopeKind.ALL))]
        return [one for one in every if one[1].kind in self.kinds]
