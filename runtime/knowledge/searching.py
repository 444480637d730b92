"""The search in packs: by words, and by meaning where there is a model of embeddings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from runtime.contract.memory.knowledge import Passage
from runtime.domain.memory.ranking import reciprocal
from runtime.store.protocol.memory.knowledge import Knowledge
from runtime.store.protocol.memory.vectors import Vectors
from runtime.vectors.near import NearRows, Payer

CANDIDATES_MAX: Final = 50
"""Passages of each order that are joined."""
PASSAGE_NEAR, PASSAGE_DEVIATIONS = 0.3, 2.0
"""A passage is near if its cosine is at least so much, and so many deviations above that of all."""


class PackSearch:
    """Finds passages of packs."""

    def __init__(self, store: Knowledge, vectors: Vectors, meaning: NearRows) -> None:
        self._store, self._vectors, self._meaning = store, vectors, meaning

    async def search(self, query: str, packs: Collection[str], limit: int, payer: Payer) -> list[Passage]:
        """The best passages of these packs, best first."""
        if not packs or not query.strip():
            return []
        words = await self._store.search(query, packs, max(limit, CANDIDATES_MAX))
        cosines, crowd = await self._meaning.near(query, self._vectors, sorted(packs), payer)
        floor = crowd.floor(PASSAGE_NEAR, PASSAGE_DEVIATIONS)
        near = sorted((ident for ident in cosines if cosines[ident] >= floor), key=cosines.__getitem__, reverse=True)
        known = {one.id: one for one in words}
        further = await self._store.passages_of([one for one in near if one not in known], packs)
        meant = [one for ident in near[:CANDIDATES_MAX] if (one := known.get(ident) or further.get(ident))]
        return joined(words, meant)[:limit] if meant else words[:limit]


def joined(words: Sequence[Passage], meant: Sequence[Passage]) -> list[Passage]:
    """Both orders in one, by reciprocal rank, best first."""
    by_words = {one.id: place for place, one in enumerate(words, start=1)}
    by_meaning = {one.id: place for place, one in enumerate(meant, start=1)}
    scored = [
        replace(one, score=reciprocal(by_words.get(one.id, 0), by_meaning.get(one.id, 0)))
        for one in {one.id: one for one in (*words, *meant)}.values()
    ]
    return sorted(scored, key=lambda one: one.score, reverse=True)
