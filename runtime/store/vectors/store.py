"""Vectors of a table's rows: rows that still need one, and those within a part of it in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sqlalchemy import Executable

from runtime.contract import NewId
from runtime.store.observer import UNOBSERVED, Observer
from runtime.store.protocol.memory.vectors import VECTORS_A_BATCH, Batch, Stock, Unvectored
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Driver, Op, Rows, micros
from runtime.store.vectors.source import Source, statements_of


class VectorStore(Base):
    """Implements `protocol.memory.vectors.Vectors` for one table."""

    def __init__(self, source: Source, driver: Driver, new_id: NewId, observer: Observer = UNOBSERVED) -> None:
        super().__init__(driver, new_id, observer)
        self._source = source
        self._statements = statements_of(source)

    async def without(self, model: str, after: int, limit: int) -> list[Unvectored]:
        given = {"model": model, "after": after, "n": limit, "now": micros(self.now())}

        def look() -> Op[list[Unvectored]]:
            return [Unvectored(*row) for row in (yield self._statements.without, given)]

        return await self._driver.read(look)

    async def keep(self, model: str, vectors: Sequence[tuple[str, bytes]], dims: int) -> int:
        given = {"model": model, "dims": dims, "now": micros(self.now())}
        return await self._driver.write(lambda: self._keep(vectors, given))

    async def batch(self, within: str, model: str, dims: int, after: str = "") -> Batch:
        given = {"within": within, "model": model, "dims": dims, "after": after, "n": VECTORS_A_BATCH}

        def look() -> Op[Batch]:
            rows = yield self._statements.some, given
            return Batch(" ".join([row[0] or "" for row in rows]).split(), b"".join([row[1] or b"" for row in rows]))

        return await self._driver.read(look)

    async def stock(self) -> list[Stock]:
        def look() -> Op[list[Stock]]:
            return [Stock(*row) for row in (yield self._statements.stock, {})]

        return await self._driver.read(look)

    async def waiting(self, model: str) -> int:
        given = {"model": model, "now": micros(self.now())}

        def look() -> Op[int]:
            return int((yield self._statements.waiting, given)[0][0])

        return await self._driver.read(look)

    async def drop_other_dims(self, model: str, dims: int) -> int:
        return await self._dropped(self._statements.of_other_dims, {"model": model, "dims": dims}, but=dims)

    async def tidy(self, model: str) -> int:
        ended = await self._dropped(self._statements.of_ended, {"now": micros(self.now())})
        if await self.waiting(model):
            return ended
        return ended + await self._dropped(self._statements.of_other_models, {"model": model})

    async def _dropped(self, which: Executable, given: Mapping[str, object], *, but: int = -1) -> int:
        """Remove such vectors, but those of so many numbers: found by a reader, and a few at a time, so that what people
        write waits for no walk through all of them."""

        def look() -> Op[Rows]:
            return (yield which, given)

        gone = 0
        while rows := await self._driver.read(look):
            gone += await self._driver.write(partial(self._drop, rows, but))
        return gone

    def _keep(self, vectors: Sequence[tuple[str, bytes]], given: Mapping[str, object]) -> Op[int]:
        kept, source = 0, self._source
        for row, vector in sorted(vectors):  # in the order of ids, as every writer locks them
            for (within,) in (yield self._statements.locked, {"row": row, **given}):
                new = {source.of: row, source.within: within, "vector": vector}
                yield self._statements.put, new | {"model": given["model"], "dims": given["dims"]}
                kept += 1
        return kept

    def _drop(self, rows: Rows, but: int) -> Op[int]:
        gone = 0
        for row, model in sorted(rows):
            gone += len((yield self._statements.drop_one, {"row": row, "of_model": model, "but": but}))
        return gone
