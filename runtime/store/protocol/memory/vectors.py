"""Vectors of texts, as whoever makes and compares them sees the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from runtime.contract.models import Usage
from runtime.contract.people import Address, PersonId

VECTORS_A_BATCH: Final = 4_096
"""Vectors that are read at once: 1 MB of 256 numbers each, and other readers need not wait for more."""


@dataclass(frozen=True, slots=True)
class Unvectored:
    """A row that has no vector of a model yet. `agent` pays for it; empty where that is nobody's."""

    number: int
    id: str
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Some vectors, by id: one behind the other, each as `runtime.vectors.packing` writes it."""

    ids: Sequence[str]
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Stock:
    """Vectors of a model in the store."""

    model: str
    dims: int
    count: int


class Vectors(Protocol):
    """Vectors of a table's rows. Each row is within a part of its table: a memory's reach, or a document's pack."""

    async def without(self, model: str, after: int, limit: int) -> list[Unvectored]:
        """Current rows without a vector of that model, the oldest first, behind the number `after`."""

    async def keep(self, model: str, vectors: Sequence[tuple[str, bytes]], dims: int) -> int:
        """Keep vectors of rows that still stand; how many. The same again changes nothing."""

    async def batch(self, within: str, model: str, dims: int, after: str = "") -> Batch:
        """Vectors within a part behind an id, by id: `VECTORS_A_BATCH` at most; fewer are the last."""

    async def stock(self) -> list[Stock]: ...

    async def waiting(self, model: str) -> int:
        """Number of current rows without a vector of that model."""

    async def drop_other_dims(self, model: str, dims: int) -> int:
        """Remove vectors of a model that has another number of dimensions by now."""

    async def tidy(self, model: str) -> int:
        """Remove vectors of rows that ended; and those of other models, once each row has one of this."""


class EmbeddingCosts(Protocol):
    """Money of embeddings, in the budgets of whoever they are made for."""

    async def affords(self, agent: str, room: Address, person: PersonId | None) -> bool:
        """False once a budget is spent."""

    async def charge(self, agent: str, room: Address, person: PersonId | None, used: Usage) -> None:
        """Record what a call took."""
