"""Rows whose meaning is near to that of a query, as far as there is a model and it answers in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.contract import Now
from runtime.contract.memory.embedding import Embedder
from runtime.contract.people import Address, PersonId
from runtime.domain.agents.manifest import MAIN
from runtime.domain.memory.ranking import Crowd
from runtime.errors import ModelFailed, StoreError
from runtime.store.protocol.memory.vectors import EmbeddingCosts, Vectors

log = structlog.get_logger("memory")

EMBED_TIME: Final = timedelta(seconds=2)
"""A search waits no longer for the query's vector: then words alone have to do."""
EMBED_REST: Final = timedelta(seconds=30)
"""Rest after a failure of the model: else each message would wait for it anew."""
EMBEDDED_CHARS: Final = 2_000
"""Characters of a query that its vector is made of; as many as a memory has."""

Payer = tuple[str, Address, PersonId | None]
"""Agent, room and person in whose budgets a call is counted."""
BACKGROUND: Final = Address("memory", "signalbox", "embeddings")
"""Room that calls of no room count for."""
NOBODYS: Final[Payer] = (MAIN, BACKGROUND, None)


class NearRows:
    """Searches by meaning. `embedder` gives the model of now, if any."""

    def __init__(self, *, costs: EmbeddingCosts, embedder: Callable[[], Embedder | None], now: Now) -> None:
        self._costs = costs
        self._embedder = embedder
        self._now = now
        self._failed_at: datetime | None = None

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder()

    async def near(
        self, query: str, vectors: Vectors, within: Iterable[str], payer: Payer
    ) -> tuple[Mapping[str, float], Crowd]:
        """Cosines of the nearest rows, by id, and of all; none without a model, or where that is away."""
        embedder = self._embedder()
        if embedder is None or not query.strip() or self._is_resting():
            return {}, Crowd()
        from runtime.vectors.nearest import nearest

        try:
            if not await self._costs.affords(*payer):
                return {}, Crowd()
            async with asyncio.timeout(EMBED_TIME.total_seconds()):
                asked = await embedder.embed([query[:EMBEDDED_CHARS]])
            await self._costs.charge(*payer, asked.usage)
            return await nearest(vectors, within, embedder.name, asked.vectors[0])
        except (ModelFailed, StoreError, TimeoutError) as error:
            self._failed_at = self._now()
            log.warning("searched by words alone", model=embedder.name, reason=str(error) or "it took too long")
            return {}, Crowd()

    def _is_resting(self) -> bool:
        return self._failed_at is not None and timedelta() <= self._now() - self._failed_at < EMBED_REST
