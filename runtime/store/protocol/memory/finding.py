"""The search for memories and messages, as the runtime sees it. It reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from runtime.contract.memory.facts import FoundMessage, Memory, MemoryId, Reader
from runtime.contract.models import Usage
from runtime.contract.people import Address, PersonId
from runtime.domain.memory.scopes import reaches_of
from runtime.domain.memory.terms import Terms

VECTORS_A_BATCH: Final = 4_096
"""Vectors that are read at once: 4 MB of 256 numbers each, and other readers need not wait for more."""
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
class Unvectored:
    """A row that has no vector of a model yet."""

    number: int
    id: MemoryId
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Some vectors of a reach, by id: float32 numbers, one vector behind the other."""

    ids: Sequence[str]
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Stock:
    """Vectors of a model in the store."""

    model: str
    dims: int
    count: int


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


class MemoryVectors(Protocol):
    async def without(self, model: str, after: int, limit: int) -> list[Unvectored]:
        """Current rows without a vector of that model, the oldest first, behind the number `after`."""

    async def keep(self, model: str, vectors: Sequence[tuple[MemoryId, bytes]], dims: int) -> int:
        """Keep vectors of rows that still stand; how many. The same again changes nothing."""

    async def batch(self, reach: str, model: str, dims: int, after: str = "") -> Batch:
        """Vectors of a reach behind an id, by id: `VECTORS_A_BATCH` at most; fewer are the last."""

    async def stock(self) -> list[Stock]: ...

    async def waiting(self, model: str) -> int:
        """Number of current rows without a vector of that model."""

    async def drop_other_dims(self, model: str, dims: int) -> int:
        """Remove vectors of a model that has another number of dimensions by now."""

    async def tidy(self, model: str) -> int:
        """Remove vectors of rows that ended; and those of other models, once each row has one of this."""


class MessageSearch(Protocol):
    async def messages(
        self, terms: Terms, asker: Asker, *, room: str = "", since: datetime = EVER
    ) -> list[FoundMessage]:
        """Messages with these terms in rooms that the asker may read, in no order. `room`: its address, id or name."""


class EmbeddingCosts(Protocol):
    """Money of embeddings, in the budgets of whoever they are made for."""

    async def affords(self, agent: str, room: Address, person: PersonId | None) -> bool:
        """False once a budget is spent."""

    async def charge(self, agent: str, room: Address, person: PersonId | None, used: Usage) -> None:
        """Record what a call took."""
