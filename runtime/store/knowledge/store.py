"""Knowledge packs as their reader, tools and operators see them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from runtime.contract.memory.knowledge import Passage
from runtime.domain.memory.chunks import Chunk
from runtime.store.knowledge.documents import (
    LISTED_MAX,
    PIECE,
    clear,
    counts,
    documents,
    drop,
    note_fault,
    other_packs,
    parts_of,
    put_document,
    put_piece,
    remains,
    see,
)
from runtime.store.knowledge.searching import passages, passages_of
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import Document, DocumentText, PackCount, Parts
from runtime.store.schema import knowledge_chunks
from runtime.store.sql.base import Base
from runtime.store.sql.traces import clear_in_steps


class KnowledgeStore(Base):
    """Implements `protocol.memory.knowledge.Knowledge`."""

    async def documents(self, pack: str, limit: int = LISTED_MAX) -> list[Document]:
        return await self._driver.read(lambda: documents(pack, limit))

    async def counts(self) -> list[PackCount]:
        return await self._driver.read(counts)

    async def parts(self, pack: str) -> dict[str, Parts]:
        return await self._driver.read(lambda: parts_of(pack))

    async def put_document(self, duty: Duty, new: DocumentText, parts: Sequence[Chunk]) -> bool:
        now, document, numbered = self.now(), self._new_id(), [*enumerate(parts)]
        while len(numbered) > PIECE:
            piece, numbered = numbered[:PIECE], numbered[PIECE:]
            if not await self._driver.write(partial(put_piece, duty, document, new.pack, piece, self._new_id)):
                return False
        return await self._driver.write(lambda: put_document(duty, document, new, numbered, now, self._new_id))

    async def see_document(self, duty: Duty, document: str, tag: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: see(duty, document, tag, now))

    async def note_document_fault(self, duty: Duty, pack: str, place: str, tag: str, fault: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: note_fault(duty, pack, place, tag, fault, now, self._new_id))

    async def drop_documents(self, duty: Duty, gone: Sequence[str]) -> bool:
        return await self._driver.write(lambda: drop(duty, gone))

    async def clear_remains(self, duty: Duty) -> int | None:
        gone = await self._driver.read(remains)
        for document in gone:
            more: bool | None = True
            while more:
                more = await self._driver.write(partial(clear, duty, document))
            if more is None:
                return None
        return len(gone)

    async def clear_traces(self) -> None:
        await clear_in_steps(self._driver, knowledge_chunks.name)

    async def other_packs(self, kept: Collection[str]) -> list[str]:
        return await self._driver.read(lambda: other_packs(kept))

    async def search(self, query: str, packs: Collection[str], limit: int = 5) -> list[Passage]:
        return await self._driver.read(lambda: passages(query, packs, limit))

    async def passages_of(self, ids: Collection[str], packs: Collection[str]) -> dict[str, Passage]:
        return await self._driver.read(lambda: passages_of(ids, packs)) if ids and packs else {}
