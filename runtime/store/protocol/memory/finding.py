"""The search for memories and messages, as the runtime sees it. It reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from runtime.contract.memory.facts import FoundMessage, Memory, Reader
from runtime.contract.people import Address, PersonId
from runtime.domain.memory.scopes import reaches_of
from runtime.domain.memory.terms import Terms

EVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sought:
    """Bounds of a search: whose, about which thing (empty: any), since when, and whether what nobody said counts."""

    reader: Reader
    now: datetime
    about: str = ""
    since: datetime = EVER
    any_trust: bool = True

    @property
    def reaches(self) -> Sequence[str]:
        return reaches_of(self.reader)


@dataclass(frozen=True, slots=True)
class Found:
    """A memory with its number."""

    number: int
    memory: Memory


@dataclass(frozen=True, slots=True)
class Hits:
    """Rows that have terms of a query, and how rare each term is among them."""

    rows: Sequence[Found] = ()
    rarity: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asker:
    """Person who looks for messages, and where: only in a private room of theirs other rooms are read too."""

    room: Address
    person: PersonId | None


class MemorySearch(Protocol):
    async def by_words(self, sought: Sought, terms: Terms) -> Hits: ...

    async def by_ids(self, sought: Sought, ids: Iterable[str]) -> list[Found]:
        """Rows with these ids that the reader may read, in no order."""

    async def pinned(self, sought: Sought, limit: int) -> list[Found]:
        """Pinned rows, the most important first."""

    async def finds_letters(self) -> bool:
        """False on a server without an index of letters: there every row of a scope is compared."""


class MessageSearch(Protocol):
    async def messages(
        self, terms: Terms, asker: Asker, *, room: str = "", since: datetime = EVER
    ) -> list[FoundMessage]:
        """Messages with these terms in rooms that the asker may read, in no order. `room`: its address, id or name."""
