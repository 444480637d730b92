"""Nearest vectors of a reader's reaches: all of them are compared, batch by batch, in a thread."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

NEAREST: Final = 100
"""Rows that a search by meaning brings; some may have ended since."""


class Vectors(Protocol):
    async def batch(self, reach: str, model: str, dims: int, after: str = "") -> list[tuple[str, bytes]]: ...


async def nearest(
    vectors: Vectors, reaches: Iterable[str], model: str, query: Sequence[float], *, batch: int
) -> Mapping[str, float]:
    """Ids of the nearest rows with their cosine. `batch`: so many rows the store gives at once, unless they are the last."""
    best: list[tuple[float, str]] = []
    asked = await asyncio.to_thread(_of_numbers, query)
    for reach in reaches:
        rows = await vectors.batch(reach, model, len(query), "")
        while rows:
            more = vectors.batch(reach, model, len(query), rows[-1][0]) if len(rows) == batch else _nothing()
            compared = asyncio.to_thread(_better, best, rows, asked)
            rows, best = await asyncio.gather(more, compared)  # the next ones are read meanwhile
    return {ident: near for near, ident in best}


async def _nothing() -> list[tuple[str, bytes]]:
    return []


def _of_numbers(query: Sequence[float]) -> Any:
    """The query as numpy has it, which is loaded by the first search by meaning: 20 MB, and a tenth of a second."""
    import numpy as np

    return np.asarray(query, dtype="<f4")


def _better(best: list[tuple[float, str]], rows: Sequence[tuple[str, bytes]], asked: Any) -> list[tuple[float, str]]:
    import numpy as np

    table = np.frombuffer(b"".join([vector for _, vector in rows]), dtype="<f4").reshape(len(rows), -1)
    near = np.einsum("ij,j->i", table, asked)  # by one thread: the other processors have other work
    first = np.argpartition(near, -NEAREST)[-NEAREST:] if len(near) > NEAREST else range(len(near))
    found = [(float(near[at]), rows[at][0]) for at in first]
    return heapq.nlargest(NEAREST, [*best, *found])
