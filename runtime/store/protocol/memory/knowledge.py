"""Documents of knowledge packs, as whoever reads them anew sees the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from runtime.contract.memory.knowledge import Passage
from runtime.domain.memory.chunks import Chunk
from runtime.store.protocol.leases import Duty


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read last. `fault` says why it could not be read since; `tag` is empty then."""

    id: str
    pack: str
    place: str
    title: str
    tag: str
    digest: str
    characters: int
    fault: str
    seen_at: datetime
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document that was just read. `tag` tells cheaply whether it is another one by now."""

    pack: str
    place: str
    title: str
    tag: str
    digest: str
    characters: int


@dataclass(frozen=True, slots=True)
class PackCount:
    """Sizes of a pack: documents, their characters, and how many could not be read; their parts, and how many of these have a
    vector of some model."""

    pack: str
    documents: int
    characters: int
    read_at: datetime | None
    faults: int
    parts: int = 0
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a document, and how many of them are found by meaning too."""

    parts: int
    vectors: int


NO_PARTS: Final = Parts(0, 0)


class Knowledge(Protocol):
    """Documents in chunks. Each change is made under the duty of its writer; False where another node has that."""

    async def documents(self, pack: str, limit: int = 20_000) -> list[Document]:
        """Documents of a pack, by place."""

    async def counts(self) -> list[PackCount]: ...

    async def parts(self, pack: str) -> Mapping[str, Parts]:
        """Parts of each document of a pack, by its id."""

    async def put_document(self, duty: Duty, new: DocumentText, parts: Sequence[Chunk]) -> bool:
        """Put a document and its chunks in place of what was read there before: those of a long one in several transactions,
        and found once all are there."""

    async def see_document(self, duty: Duty, document: str, tag: str) -> bool:
        """Note that it has another tag now, and says the same as before."""

    async def note_document_fault(self, duty: Duty, pack: str, place: str, tag: str, fault: str) -> bool:
        """Note why it could not be read: as long as its tag is this one, or the next time where that is empty."""

    async def drop_documents(self, duty: Duty, gone: Sequence[str]) -> bool:
        """Remove documents by their ids."""

    async def clear_remains(self, duty: Duty) -> int | None:
        """Remove chunks of documents that are gone or were replaced; how many documents that were, None where another node
        has the duty."""

    async def clear_traces(self) -> None:
        """Take the words of chunks that are gone out of the indexes."""

    async def other_packs(self, kept: Collection[str]) -> list[str]: ...

    async def search(self, query: str, packs: Collection[str], limit: int = 5) -> list[Passage]:
        """Passages by their words, best first."""

    async def passages_of(self, ids: Collection[str], packs: Collection[str]) -> Mapping[str, Passage]:
        """Passages by their ids, as far as they are in these packs."""
