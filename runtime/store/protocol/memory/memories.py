"""Memories as books, commands and operators see them: whole transactions. What was refused comes back as words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from runtime.contract.memory.facts import Kept, Memory, MemoryActor, MemoryId, MemoryRequest, Reader, Scope, Trust
from runtime.contract.memory.values import StateValue
from runtime.contract.people import Address, Person, PersonId, RunId, SessionKey
from runtime.domain.memory.reasons import Unused


@dataclass(frozen=True, slots=True)
class Use:
    """A row that a run was given or found, as it came: `rank` counts from 1, `how` are words of ours."""

    memory: MemoryId
    rank: int
    how: str


@dataclass(frozen=True, slots=True)
class UsedMemory:
    memory: Memory
    rank: int
    how: str
    at: datetime


@dataclass(frozen=True, slots=True)
class UnusedMemory:
    """A row that a run was not given and did not find, though it may be read there."""

    memory: Memory
    reason: Unused


@dataclass(frozen=True, slots=True)
class Why:
    """Rows that a run was given or found, and others. `elsewhere`: how many of the asker's own are not read in this room."""

    used: tuple[UsedMemory, ...]
    unused: tuple[UnusedMemory, ...]
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class PersonSummary:
    """One text of what an agent knows about a person, for their private rooms. Off until they turn it on."""

    person: PersonId
    agent: str
    text: str
    is_enabled: bool
    changed_by: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Renewal:
    """A summary that a model may add to: the person's own words, and what is kept for them, as of `begun_at`."""

    person: PersonId
    agent: str
    own: str
    rows: tuple[Memory, ...]
    begun_at: datetime


class Memories(Protocol):
    async def reader_at(self, agent: str, room: Address, person: PersonId | None) -> Reader:
        """Reader of memories in a room: with the person only where the room is a private one of theirs."""

    async def has_any(self, reader: Reader) -> bool:
        """True if something may be read there at all."""

    async def keep_said(self, wanted: MemoryRequest, by: MemoryActor) -> Kept | str:
        """Keep a memory of a run or a command. The same call again finds what it made."""

    async def keep_given(
        self, wanted: MemoryRequest, agent: str, scope: Scope, *, actor: str, origin: str = ""
    ) -> Kept | str:
        """Keep a memory as an operator does, in any scope. `origin` names the program that it is taken over from."""

    async def forget(self, words: str, by: MemoryActor) -> list[Memory] | str:
        """Remove the row with this id, else those that have all these words, with what they had ended; those removed."""

    async def forget_own(self, by: MemoryActor) -> int:
        """Remove everything that this agent keeps of a person in their own scope; how many rows that was."""

    async def remove(self, ids: Collection[MemoryId], *, actor: str) -> list[Memory]:
        """Remove rows as an operator does."""

    async def accept(self, memory: str, by: MemoryActor) -> Memory | str:
        """A person says that a proposal is right; it ends what had its subject and relation before."""

    async def pin(self, memory: str, by: MemoryActor, *, on: bool) -> Memory | str:
        """Pin a row, or let go of it: a pinned one never counts as old."""

    async def approve(self, memory: MemoryId, *, actor: str) -> Memory | str:
        """The same as an operator does."""

    async def readable(
        self, reader: Reader, *, trust: Trust | None = None, past: bool = False, limit: int = 50
    ) -> list[Memory]:
        """Rows that may be read there, newest first; with `past` also those that ended."""

    async def listed(
        self,
        *,
        agent: str | None = None,
        scope: Scope | None = None,
        past: bool = False,
        before: str = "",
        limit: int = 100,
    ) -> list[Memory]:
        """Rows for operators, newest first, below the id `before`."""

    async def about(self, reader: Reader, entity: str, depth: int = 1) -> list[Memory]:
        """Current rows that name a thing, and with depth 2 those of the things beside it; at most 50."""

    async def memory(self, memory: str) -> Memory | None:
        """The row with that id, or whose id ends so, for operators."""

    async def record_uses(self, run: RunId, uses: Sequence[Use], *, accepts: bool = False) -> None:
        """Rows that a run was given or found. With `accepts` the first proposals count as said from now
        on, where nothing contradicts them."""

    async def uses_of(self, run: RunId) -> list[UsedMemory]:
        """Rows that a run was given or found, in that order; not those that were forgotten since."""

    async def last_uses(self, session: SessionKey) -> tuple[RunId, list[UsedMemory]] | None:
        """The same of the newest run of a conversation; None where it had none."""

    async def why(self, run: RunId, by: MemoryActor) -> Why:
        """Rows that a run had and others, each with its reason, told to somebody in a room."""

    async def forgotten_at(self, memory: str) -> datetime | None:
        """Time at which the row with this id, or whose id ends so, was forgotten."""


class StateValues(Protocol):
    """Values under a key, by reach. See `contract.StateBook`."""

    async def get(self, agent: str, scope: Scope, key: str) -> StateValue | None: ...

    async def put_value(
        self, agent: str, scope: Scope, key: str, value: str, *, expected: int | None = None
    ) -> StateValue | str: ...

    async def listed(self, agent: str, scope: Scope, prefix: str = "", *, limit: int = 1_000) -> list[StateValue]: ...

    async def delete_value(self, agent: str, scope: Scope, key: str) -> bool: ...


class PersonSummaries(Protocol):
    async def summary(self, person: PersonId, agent: str) -> PersonSummary | None: ...

    async def write_summary(self, person: Person, agent: str, text: str, *, by: Person | None) -> bool:
        """Set the text; False where the person has it turned off. What they left out of it isn't added again."""

    async def enable_summary(self, person: Person, agent: str, *, on: bool) -> None:
        """Turn it on or off; off empties it."""

    async def begin_renewal(self, person: PersonId, agent: str) -> Renewal | None:
        """Take a summary in order to add to it; None where it is off, changed within a day, or nothing new is kept."""

    async def end_renewal(self, begun: Renewal, added: Sequence[str]) -> bool:
        """Put these lines under the person's words; False where they changed it, or had something forgotten, meanwhile."""
