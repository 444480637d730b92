"""The duty that has vectors made for memories and documents, in the background: until then words find them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

import structlog

from runtime.contract import Now
from runtime.contract.memory.embedding import TEXTS_MOST, Embedded, Embedder
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ModelFailed, StoreError
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.vectors import EmbeddingCosts, Unvectored, Vectors
from runtime.vectors.near import BACKGROUND
from runtime.vectors.packing import packed

log = structlog.get_logger("memory")

EMBEDDING_ROLE: Final = "embedding"
LOOK_INTERVAL: Final = timedelta(seconds=15)
"""Between two looks for new rows."""
REST_MIN, REST_MAX = timedelta(seconds=30), timedelta(minutes=30)
"""Rest after a failure, which doubles up to the longest one."""
FULL_LOOK_INTERVAL: Final = timedelta(hours=1)
"""Between two looks at all rows: for those that another node committed late."""


@dataclass(slots=True)
class _Progress:
    """Progress with one source and one model: the row up to which all have vectors, and when all were looked at last."""

    what: str
    vectors: Vectors
    model: str
    after: int = 0
    began: datetime | None = None
    dims: int = 0
    made: int = 0
    is_tidy: bool = False


class Embedding:
    """Any number of nodes may run it: one has the duty. What two made at once is the same. `sources` are by the name that
    people read."""

    def __init__(
        self,
        *,
        sources: Mapping[str, Vectors],
        costs: EmbeddingCosts,
        embedder: Callable[[], Embedder | None],
        take: Callable[[str], Awaitable[Duty | None]],
        now: Now,
    ) -> None:
        self._costs = costs
        self._embedder = embedder
        self._take = take
        self._now = now
        self._progress = [_Progress(what, vectors, "") for what, vectors in sources.items()]
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
        self._progress = [self._begun(of, embedder.name) for of in self._progress]
        try:
            # A part of each source in turn: a new memory doesn't wait for a whole pack of documents.
            while any([await self._some(embedder, of) for of in self._progress]):
                pass
        except ModelFailed as error:
            self._rest = min(REST_MAX, max(REST_MIN, self._rest * 2))
            log.warning("found by words alone", model=embedder.name, reason=str(error), again_in=str(self._rest))
            return sum(of.made for of in self._progress)
        self._rest = timedelta()
        for of in self._progress:
            if of.made or not of.is_tidy:
                await of.vectors.tidy(of.model)
                of.is_tidy = True
        return sum(of.made for of in self._progress)

    def _begun(self, of: _Progress, model: str) -> _Progress:
        """Progress with that model; from the first row on for another one, and now and then."""
        now = self._now()
        if of.model == model and of.began is not None and now - of.began < FULL_LOOK_INTERVAL:
            of.made = 0
            return of
        return _Progress(of.what, of.vectors, model, began=now, dims=of.dims if of.model == model else 0)

    async def _some(self, embedder: Embedder, of: _Progress) -> bool:
        """Make the next vectors of a source; False where none is missing."""
        rows = await of.vectors.without(of.model, of.after, TEXTS_MOST)
        for agent, group in groupby(rows, key=_payer):
            of.made += await self._made(embedder, of, agent, [*group])
        return bool(rows)

    async def _made(self, embedder: Embedder, of: _Progress, agent: str, rows: Sequence[Unvectored]) -> int:
        if not await self._costs.affords(agent, BACKGROUND, None):
            log.warning("found by words alone", of=of.what, agent=agent, reason="a budget is spent")
            of.after = rows[-1].number  # those of other agents don't wait for it; a full look comes back to these
            return 0
        found = await embedder.embed([row.text for row in rows])
        await self._costs.charge(agent, BACKGROUND, None, found.usage)
        if of.dims != found.dims:
            await self._changed(of, found)
        vectors = [(row.id, packed(vector)) for row, vector in zip(rows, found.vectors, strict=True)]
        kept = await of.vectors.keep(of.model, vectors, found.dims)
        of.after = rows[-1].number
        return kept

    async def _changed(self, of: _Progress, found: Embedded) -> None:
        """The model gives vectors of another length than before: all are made anew, and found by words until then."""
        of.dims = found.dims
        if dropped := await of.vectors.drop_other_dims(of.model, found.dims):
            log.warning("vectors are made anew", of=of.what, model=of.model, dims=found.dims, rows=dropped)
            of.began = None


def _payer(row: Unvectored) -> str:
    """Agent that a row's call counts for: rows for all agents, and documents, count for the first one."""
    return row.agent or MAIN
