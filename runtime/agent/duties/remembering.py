"""Gives a run what was kept and may matter, before its first model call, and keeps what a summary proposes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

import structlog

from runtime.agent.duties.renewing import Due, DueSummaries
from runtime.agent.registry import Agent
from runtime.cluster.notifier import Listener
from runtime.context.prompt import remembered
from runtime.context.prompt.proposals import Proposal, Proposing
from runtime.contract import Address, Now, PersonId, RunId, Turn
from runtime.contract.memory.facts import (
    EVERY_SCOPE,
    Kept,
    MemoryActor,
    MemoryRequest,
    Reader,
    Recalled,
    ScopeKind,
    Trust,
)
from runtime.domain.memory.summing_up import is_due
from runtime.errors import ToolRetry
from runtime.store.protocol import Claim
from runtime.store.protocol.memory.memories import PersonSummary, Use

log = structlog.get_logger("memory")

EMPTY_FOR: Final = timedelta(minutes=1)
"""For how long it is believed that nothing is kept for a reader, unless somebody keeps something."""
EMPTY_MAX: Final = 2_000
"""Readers of whom it is believed."""


class Keeps(Protocol):
    """Memories in the store."""

    async def reader_at(self, agent: str, room: Address, person: PersonId | None) -> Reader: ...

    async def is_used(self) -> bool:
        """True if anything is kept for anybody."""

    async def has_any(self, reader: Reader) -> bool: ...

    async def record_uses(self, run: RunId, uses: Sequence[Use], *, accepts: bool = False) -> None: ...


class Finds(Protocol):
    """The search for memories."""

    async def given(self, query: str, reader: Reader, *, limit: int, tokens: int) -> list[Recalled]: ...


class Summaries(Protocol):
    async def summary(self, person: PersonId, agent: str) -> PersonSummary | None: ...


class Book(Protocol):
    async def remember(self, wanted: MemoryRequest, by: MemoryActor) -> Kept: ...


@dataclass(frozen=True, slots=True)
class Giving:
    """Bounds of what a run is given unasked, in rows and tokens. `proposals`: summaries may propose some."""

    rows: int = 5
    tokens: int = 2_000
    proposals: bool = True


class Remembering:
    """Looks things up for runs. `rung` hears that something was kept, here or at another node; `due` what may be renewed."""

    def __init__(
        self,
        *,
        memories: Keeps,
        finds: Finds,
        summaries: Summaries,
        book: Book,
        rung: Listener,
        now: Now,
        giving: Giving,
        due: DueSummaries,
    ) -> None:
        self._memories = memories
        self._finds = finds
        self._summaries = summaries
        self._book = book
        self._rung = rung
        self._now = now
        self._due = due
        self.giving = giving
        self._empty: dict[tuple[object, ...], datetime] = {}
        self._unused_until: datetime | None = None

    async def given(self, claim: Claim, turns: Sequence[Turn], kinds: Sequence[ScopeKind] = EVERY_SCOPE) -> str:
        """Words of what a run is given, or nothing. A child has what its order says, and nothing else.

        `kinds` are the scopes that its agent has.
        """
        if self._rung.heard:
            self._rung.forget()
            self._empty.clear()
            self._unused_until = None
        whose, now = (claim.agent, claim.address, claim.requester, claim.job is None), self._now()
        empty_until = self._unused_until or self._empty.get(whose)
        if claim.child or (empty_until and now < empty_until):
            return ""
        self._unused_until = None if await self._memories.is_used() else now + EMPTY_FOR
        return "" if self._unused_until else await self._looked_up(claim, turns, whose, kinds)

    async def _looked_up(
        self, claim: Claim, turns: Sequence[Turn], whose: tuple[object, ...], kinds: Sequence[ScopeKind]
    ) -> str:
        by = actor_of(claim)
        everything = await self._memories.reader_at(by.agent, by.room, by.person.id if by.person else None)
        reader = everything.narrowed(kinds)
        about = await self._summed_up(reader, by)
        found = await self._found(reader, by, turns) if await self._memories.has_any(reader) else None
        if found is None and not about:
            self._note_empty(whose)
        return "\n\n".join(filter(None, (about, found)))

    def proposing(self, by: MemoryActor, agent: Agent, is_wanted: Callable[[], Awaitable[bool]]) -> Proposing | None:
        """Takes what a summary proposes to keep, for an agent that may remember; `is_wanted` as `Proposing` has it."""
        if not self.giving.proposals or "remember" not in agent.tools:
            return None
        return Proposing(is_wanted, partial(self.propose, replace(by, kinds=agent.manifest.memory)))

    async def propose(self, by: MemoryActor, facts: Sequence[Proposal]) -> None:
        """Keep what a summary proposes: for the person in their private room, else for the room. It counts once accepted."""
        reader = await self._memories.reader_at(by.agent, by.room, by.person.id if by.person else None)
        scope = ScopeKind.PERSON if reader.person else ScopeKind.ROOM
        for fact in facts:
            wanted = MemoryRequest(
                fact.text, scope, subject=fact.subject, relation=fact.relation, trust=Trust.STAGED, importance=2
            )
            try:
                await self._book.remember(wanted, replace(by, key=f"proposed {fact}"))
            except ToolRetry as error:
                log.info("a proposal was not kept", reason=str(error))

    async def _found(self, reader: Reader, by: MemoryActor, turns: Sequence[Turn]) -> str:
        query = remembered.query_of(turns) if self.giving.rows else ""
        if not query:
            return ""
        found = await self._finds.given(query, reader, limit=self.giving.rows, tokens=self.giving.tokens)
        if found and by.run_id:
            uses = [Use(one.memory.id, rank, f"given: {one.why}") for rank, one in enumerate(found, 1)]
            await self._memories.record_uses(by.run_id, uses)
        return remembered.told(found, self.giving.tokens)

    async def _summed_up(self, reader: Reader, by: MemoryActor) -> str:
        found = await self._summaries.summary(reader.person, by.agent) if reader.person else None
        if found is None or by.person is None or not found.is_enabled:
            return ""
        if is_due(found.changed_at, self._now()):
            self._due.note(Due(by.person, by.agent, by.room))
        if not found.text:
            return ""
        return remembered.summed_up(by.person.name, found.text)

    def _note_empty(self, whose: tuple[object, ...]) -> None:
        if len(self._empty) >= EMPTY_MAX:
            self._empty.clear()
        self._empty[whose] = self._now() + EMPTY_FOR


def actor_of(claim: Claim) -> MemoryActor:
    """The reader that a run is. What nobody asked for now, such as a schedule, reads nothing of a person."""
    person = None if claim.job or claim.child else claim.requester
    return MemoryActor(claim.agent, claim.address, person, claim.lane.session, claim.run_id)
