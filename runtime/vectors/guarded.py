"""A model of embeddings behind the leak guard: it reads nothing that must not leave."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.contract.memory.embedding import Embedded, Embedder
from runtime.guard.door import Door
from runtime.guard.findings import Gate


class GuardedEmbedder:
    """Implements `contract.memory.Embedder`. What is kept is clean already, but rows of before the guard may hold anything."""

    def __init__(self, embedder: Embedder, door: Door) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._door = door

    async def embed(self, texts: Sequence[str]) -> Embedded:
        return await self._embedder.embed([self._door.known(text, Gate.HANDED_ON, "") for text in texts])
