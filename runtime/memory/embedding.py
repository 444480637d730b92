"""The duty that has vectors made for memories, in the background: until then words find them."""

from __future__ import annotations

import asyncio
import sys
from array import array
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

import structlog

from runtime.contract import Address, Now
from runtime.contract.memory.embedding import TEXTS_MOST, Embedded, Embedder
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ModelFailed, StoreError
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.finding import EmbeddingCosts, MemoryVectors, Unvectored

log = structlog.get_logger("memory")

EMBEDDING_ROLE: Final = "embedding"
LOOK_INTERVAL: Final = timedelta(seconds=15)
"""Between two looks for new rows."""
REST_MIN, REST_MAX = timedelta(seconds=30), timedelta(minutes=30)
"""Rest after a failure, which doubles up to the longest one."""
FULL_LOOK_INTERVAL: Final = timedelta(hours=1)
"""Between two looks at all rows: for those that another node committed late."""
PAYER: Final = Address("memory", "signalbox", "embeddings")
"""Room that calls in the background count for."""


@dataclass(slots=True)
class _Progress:
    """Progress with one model: the row up to which all have vectors, and when all were looked at last."""

    model: str
    after: int = 0
    began: datetime | None = None
    dims: int = 0
    is_tidy: bool = False


class Embedding:
    """Any number of nodes may run it: one has the duty. What two made at once is the same."""

    def __init__(
        self,
        *,
        vectors: MemoryVectors,
        costs: EmbeddingCosts,
        embedder: Callable[[], Embedder | None],
        take: Callable[[str], Awaitable[Duty | None]],
        now: Now,
    ) -> None:
        self._vectors = vectors
        self._costs = costs
        self._embedder = embedder
        self._take = take
        self._now = now
        self._progress = _Progress("")
        self._rest = timedelta()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(max(LOOK_INTERVAL, self._rest).total_seconds())
            try:
                if self._embedder() and await self._take(EMBEDDING_ROLE):
                    await self.look()
            except StoreError as error:
                log.debug("vectors are not made yet", reason=str(error))

    async def look(self) -> int:
        """Make what is missing; how many were made. A failure of the model ends the look, and nothing is lost."""
        embedder = self._embedder()
        if embedder is None:
            return 0
        of = self._begun(embedder.name)
        made = 0
        try:
            while rows := await self._vectors.without(of.model, of.after, TEXTS_MOST):
                for agent, group in groupby(rows, key=_payer):
                    made += await self._made(embedder, of, agent, [*group])
        except ModelFailed as error:
            self._rest = min(REST_MAX, max(REST_MIN, self._rest * 2))
            log.warning(
                "memories are found by words alone", model=of.model, reason=str(error), again_in=str(self._rest)
            )
            return made
        self._rest = timedelta()
        if made or not of.is_tidy:
            await self._vectors.tidy(of.model)
            of.is_tidy = True
        return made

    def _begun(self, model: str) -> _Progress:
        """Progress with that model; from the first row on for another one, and now and then."""
        now, of = self._now(), self._progress
        if of.model != model or of.began is None or now - of.began >= FULL_LOOK_INTERVAL:
            self._progress = of = _Progress(model, began=now, dims=of.dims if of.model == model else 0)
        return of

    async def _made(self, embedder: Embedder, of: _Progress, agent: str, rows: Sequence[Unvectored]) -> int:
        if not await self._costs.affords(agent, PAYER, None):
            log.warning("memories are found by words alone", agent=agent, reason="a budget is spent")
            of.after = rows[-1].number  # those of other agents don't wait for it; a full look comes back to these
            return 0
        found = await embedder.embed([row.text for row in rows])
        await self._costs.charge(agent, PAYER, None, found.usage)
        if of.dims != found.dims:
            await self._changed(of, found)
        vectors = [(row.id, packed(vector)) for row, vector in zip(rows, found.vectors, strict=True)]
        kept = await self._vectors.keep(of.model, vectors, found.dims)
        of.after = rows[-1].number
        return kept

    async def _changed(self, of: _Progress, found: Embedded) -> None:
        """The model gives vectors of another length than before: all are made anew, and found by words until then."""
        of.dims = found.dims
        if dropped := await self._vectors.drop_other_dims(of.model, found.dims):
            log.warning("vectors are made anew", model=of.model, dims=found.dims, rows=dropped)
            of.began = None


def _payer(row: Unvectored) -> str:
    """Agent that a row's call counts for: rows for all agents count for the first one."""
    return row.agent or MAIN


def packed(vector: Sequence[float]) -> bytes:
    """Numbers as the table has them: float32, the lowest byte first.

    >>> packed([1.0]).hex()
    '0000803f'
    """
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
