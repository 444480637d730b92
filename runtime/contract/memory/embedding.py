"""Embeddings: texts as numbers, so that what means the same lies near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from runtime.contract.models import Usage

TEXTS_MOST: Final = 64
"""Texts of one call."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts, in their order, each of length 1 and as long as the others; and what they cost."""

    vectors: Sequence[Sequence[float]]
    usage: Usage

    @property
    def dims(self) -> int:
        return len(self.vectors[0]) if self.vectors else 0


class Embedder(Protocol):
    """A model of embeddings. `name` is kept with each vector: those of two models are never compared."""

    name: str

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of at most `TEXTS_MOST` texts. Errors: ModelFailed, also for numbers of no use."""
