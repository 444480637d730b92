"""Vectors of memories: rows that still need one, and those of a reach in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy import Executable, Integer, bindparam, delete, exists, func, or_, select

from runtime.contract.memory.facts import MemoryId
from runtime.store.common import put
from runtime.store.protocol.memory.finding import VECTORS_A_BATCH, Batch, Stock, Unvectored
from runtime.store.schema import memories, memory_vectors
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, Rows, micros

DROPPED_AT_ONCE: Final = 100
"""Vectors that one transaction removes: of each it clears away some pages."""
IS_CURRENT = (
    memories.c.valid_to.is_(None),
    or_(memories.c.expires_at.is_(None), memories.c.expires_at > bindparam("now")),
)
HAS_ONE = exists().where(memory_vectors.c.memory_id == memories.c.id, memory_vectors.c.model == bindparam("model"))
WITHOUT = (
    select(memories.c.number, memories.c.id, memories.c.agent, memories.c.text)
    .where(*IS_CURRENT, memories.c.number > bindparam("after", type_=Integer), ~HAS_ONE)
    .order_by(memories.c.number)
    .limit(bindparam("n", type_=Integer))
)
LOCKED = select(memories.c.reach).where(memories.c.id == bindparam("memory"), *IS_CURRENT).with_for_update()
PUT = put(memory_vectors)
OF_REACH = (
    select(memory_vectors.c.memory_id, memory_vectors.c.vector)
    .where(
        memory_vectors.c.reach == bindparam("reach"),
        memory_vectors.c.model == bindparam("model"),
        memory_vectors.c.dims == bindparam("dims"),
        memory_vectors.c.memory_id > bindparam("after"),
    )
    .order_by(memory_vectors.c.memory_id)
    .limit(bindparam("n", type_=Integer))
)
STOCK = select(memory_vectors.c.model, memory_vectors.c.dims, func.count()).group_by(
    memory_vectors.c.model, memory_vectors.c.dims
)
WAITING = select(func.count()).select_from(memories).where(*IS_CURRENT, ~HAS_ONE)
OF_OTHER_DIMS = (
    select(memory_vectors.c.memory_id, memory_vectors.c.model)
    .where(memory_vectors.c.model == bindparam("model"), memory_vectors.c.dims != bindparam("dims"))
    .limit(DROPPED_AT_ONCE)
)
OF_OTHER_MODELS = (
    select(memory_vectors.c.memory_id, memory_vectors.c.model)
    .where(memory_vectors.c.model != bindparam("model"))
    .limit(DROPPED_AT_ONCE)
)
OF_ENDED = (
    select(memory_vectors.c.memory_id, memory_vectors.c.model)
    .where(~exists().where(memories.c.id == memory_vectors.c.memory_id, *IS_CURRENT))
    .limit(DROPPED_AT_ONCE)
)
DROP_ONE = (
    delete(memory_vectors)
    .where(
        memory_vectors.c.memory_id == bindparam("memory"),
        memory_vectors.c.model == bindparam("of"),
        memory_vectors.c.dims != bindparam("but"),
    )
    .returning(memory_vectors.c.memory_id)
)


class MemoryVectorStore(Base):
    """Implements `protocol.memory.finding.MemoryVectors`."""

    async def without(self, model: str, after: int, limit: int) -> list[Unvectored]:
        given = {"model": model, "after": after, "n": limit, "now": micros(self.now())}

        def look() -> Op[list[Unvectored]]:
            return [Unvectored(*row) for row in (yield WITHOUT, given)]

        return await self._driver.read(look)

    async def keep(self, model: str, vectors: Sequence[tuple[MemoryId, bytes]], dims: int) -> int:
        now = self.now()
        return await self._driver.write(lambda: _keep(model, vectors, dims, now))

    async def batch(self, reach: str, model: str, dims: int, after: str = "") -> Batch:
        given = {"reach": reach, "model": model, "dims": dims, "after": after, "n": VECTORS_A_BATCH}

        def look() -> Op[Batch]:
            rows = yield OF_REACH, given
            return Batch([row[0] for row in rows], b"".join([row[1] for row in rows]))

        return await self._driver.read(look)

    async def stock(self) -> list[Stock]:
        def look() -> Op[list[Stock]]:
            return [Stock(*row) for row in (yield STOCK, {})]

        return await self._driver.read(look)

    async def waiting(self, model: str) -> int:
        given = {"model": model, "now": micros(self.now())}

        def look() -> Op[int]:
            return int((yield WAITING, given)[0][0])

        return await self._driver.read(look)

    async def drop_other_dims(self, model: str, dims: int) -> int:
        return await self._dropped(OF_OTHER_DIMS, {"model": model, "dims": dims}, but=dims)

    async def tidy(self, model: str) -> int:
        ended = await self._dropped(OF_ENDED, {"now": micros(self.now())})
        others = 0 if await self.waiting(model) else await self._dropped(OF_OTHER_MODELS, {"model": model})
        return ended + others

    async def _dropped(self, which: Executable, given: Mapping[str, object], *, but: int = -1) -> int:
        """Remove such vectors, but those of so many numbers: found by a reader, and a few at a time, so that what people
        write waits for no walk through all of them."""

        def look() -> Op[Rows]:
            return (yield which, given)

        gone = 0
        while rows := await self._driver.read(look):
            gone += await self._driver.write(partial(_drop, rows, but))
        return gone


def _keep(model: str, vectors: Sequence[tuple[MemoryId, bytes]], dims: int, now: datetime) -> Op[int]:
    kept = 0
    for memory, vector in sorted(vectors):  # in the order of ids, as every writer locks them
        for (reach,) in (yield LOCKED, {"memory": memory, "now": micros(now)}):
            row = {"memory_id": memory, "model": model, "reach": reach, "dims": dims, "vector": vector}
            yield PUT, row
            kept += 1
    return kept


def _drop(rows: Rows, but: int) -> Op[int]:
    gone = 0
    for memory, model in sorted(rows):
        gone += len((yield DROP_ONE, {"memory": memory, "of": model, "but": but}))
    return gone
