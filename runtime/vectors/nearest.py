"""Nearest vectors within parts of a table: all of them are compared, batch by batch, in a thread."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from runtime.domain.memory.ranking import Crowd
from runtime.store.protocol.memory.vectors import VECTORS_A_BATCH, Batch, Vectors

if TYPE_CHECKING:
    from collections.abc import Mapping

NEAREST: Final = 100
"""Rows that a search by meaning brings; some may have ended since."""


async def nearest(
    vectors: Vectors, within: Iterable[str], model: str, query: Sequence[float]
) -> tuple[Mapping[str, float], Crowd]:
    """Ids of the nearest rows with their cosine, and how near all rows were."""
    best, crowd = list[tuple[float, str]](), Crowd()
    asked = await asyncio.to_thread(_of_numbers, query)
    for part in within:
        batch = await vectors.batch(part, model, len(query), "")
        while batch.ids:
            is_last = len(batch.ids) < VECTORS_A_BATCH
            more = _nothing() if is_last else vectors.batch(part, model, len(query), batch.ids[-1])
            compared = asyncio.to_thread(_better, best, crowd, batch, asked)
            batch, (best, crowd) = await asyncio.gather(more, compared)  # the next ones are read meanwhile
    return {ident: near for near, ident in best}, crowd


async def _nothing() -> Batch:
    return Batch((), b"")


def _of_numbers(query: Sequence[float]) -> Any:
    """The query as numpy has it, which is loaded by the first search by meaning: 20 MB, and a tenth of a second."""
    import numpy as np

    return np.asarray(query, dtype="<f4")


def _better(
    best: list[tuple[float, str]], crowd: Crowd, batch: Batch, asked: Any
) -> tuple[list[tuple[float, str]], Crowd]:
    import numpy as np

    table = np.frombuffer(batch.vectors, dtype=[("scale", "<f4"), ("steps", "i1", asked.shape)])
    # By one thread: the other processors have other work.
    near = np.einsum("ij,j->i", table["steps"].astype("<f4"), asked) * table["scale"]
    first = np.argpartition(near, -NEAREST)[-NEAREST:] if len(near) > NEAREST else range(len(near))
    found = [(float(near[at]), batch.ids[at]) for at in first]
    return heapq.nlargest(NEAREST, [*best, *found]), crowd.with_more(len(near), float(near.sum()), float(near @ near))
