"""Documents of packs and their chunks: one transaction for each document, so that a reader sees the old one or the new one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, delete, func, select, update

from runtime.contract import NewId
from runtime.domain.memory.chunks import Chunk
from runtime.store.common import add, held, put
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import Document, DocumentText, PackCount, Parts
from runtime.store.schema import knowledge_chunks, knowledge_documents, knowledge_vectors
from runtime.store.sql.driver import Op, maybe_moment, micros, moment

FAULT_MAX_CHARS: Final = 500
LISTED_MAX: Final = 25_000

PUT_DOCUMENT = put(knowledge_documents)
ADD_CHUNK = add(knowledge_chunks, without=("number",))
_of_pack = knowledge_documents.c.pack == bindparam("pack")
IN_PACK = select(*knowledge_documents.columns).where(_of_pack).order_by(knowledge_documents.c.place)
SOME_IN_PACK = IN_PACK.limit(bindparam("n", type_=Integer))
AT_PLACE = select(*knowledge_documents.columns).where(_of_pack, knowledge_documents.c.place == bindparam("place"))
COUNTS = (
    select(
        knowledge_documents.c.pack,
        func.count(),
        func.coalesce(func.sum(knowledge_documents.c.characters), 0),
        func.max(knowledge_documents.c.read_at),
        func.count(func.nullif(knowledge_documents.c.fault, "")),
    )
    .group_by(knowledge_documents.c.pack)
    .order_by(knowledge_documents.c.pack)
)
PARTS = select(knowledge_chunks.c.pack, func.count()).group_by(knowledge_chunks.c.pack)
VECTORS = select(knowledge_vectors.c.pack, func.count(knowledge_vectors.c.chunk_id.distinct())).group_by(
    knowledge_vectors.c.pack
)
PARTS_OF_DOCUMENTS = (
    select(
        knowledge_chunks.c.document_id,
        func.count(knowledge_chunks.c.id.distinct()),
        func.count(knowledge_vectors.c.chunk_id.distinct()),
    )
    .join_from(knowledge_chunks, knowledge_vectors, knowledge_vectors.c.chunk_id == knowledge_chunks.c.id, isouter=True)
    .where(knowledge_chunks.c.pack == bindparam("pack"))
    .group_by(knowledge_chunks.c.document_id)
)
SEE = (
    update(knowledge_documents)
    .where(knowledge_documents.c.id == bindparam("document"))
    .values(seen_at=bindparam("at"), tag=bindparam("new_tag"), fault=bindparam("new_fault"))
)
PACKS = select(knowledge_documents.c.pack).distinct()
CHUNKS_OF = select(knowledge_chunks.c.id).where(knowledge_chunks.c.document_id == bindparam("document"))
DROP_VECTORS = delete(knowledge_vectors).where(knowledge_vectors.c.chunk_id.in_(CHUNKS_OF.scalar_subquery()))
DROP_CHUNKS = delete(knowledge_chunks).where(knowledge_chunks.c.document_id == bindparam("document"))
DROP_DOCUMENT = delete(knowledge_documents).where(knowledge_documents.c.id == bindparam("document"))


def _document(row: Sequence[object]) -> Document:
    names = [column.name for column in knowledge_documents.columns]
    values = dict(zip(names, row, strict=True))
    values["seen_at"] = moment(values["seen_at"])  # type: ignore[arg-type]  # numbers by the schema
    values["read_at"] = maybe_moment(values["read_at"])  # type: ignore[arg-type]
    return Document(**values)  # type: ignore[arg-type]  # the record has the table's columns


def documents(pack: str, limit: int) -> Op[list[Document]]:
    rows = yield SOME_IN_PACK, {"pack": pack, "n": limit}
    return [_document(row) for row in rows]


def counts() -> Op[list[PackCount]]:
    rows = yield COUNTS, {}
    parts: dict[str, int] = dict((yield PARTS, {}))
    vectors: dict[str, int] = dict((yield VECTORS, {}))
    return [
        PackCount(pack, number, int(size), maybe_moment(read_at), faults, parts.get(pack, 0), vectors.get(pack, 0))
        for pack, number, size, read_at, faults in rows
    ]


def parts_of(pack: str) -> Op[dict[str, Parts]]:
    rows = yield PARTS_OF_DOCUMENTS, {"pack": pack}
    return {document: Parts(parts, vectors) for document, parts, vectors in rows}


def put_document(duty: Duty, new: DocumentText, parts: Sequence[Chunk], now: datetime, new_id: NewId) -> Op[bool]:
    """Put a document in place of what was read there before; False where another node has this duty."""
    if not (yield from held(duty)):
        return False
    rows = yield AT_PLACE, {"pack": new.pack, "place": new.place}
    document = rows[0][0] if rows else new_id()
    yield from _drop_chunks(document)
    values: dict[str, object] = {
        "id": document,
        "pack": new.pack,
        "place": new.place,
        "title": new.title,
        "tag": new.tag,
        "digest": new.digest,
        "characters": new.characters,
        "fault": "",
        "seen_at": micros(now),
        "read_at": micros(now),
    }
    yield PUT_DOCUMENT, values
    for ordinal, part in enumerate(parts):
        place = {"id": new_id(), "document_id": document, "pack": new.pack, "ordinal": ordinal}
        lines = {"first_line": part.first_line, "last_line": part.last_line}
        yield ADD_CHUNK, {**place, **lines, "heading": part.heading, "text": part.text}
    return True


def see(duty: Duty, document: str, tag: str, now: datetime) -> Op[bool]:
    """Note that a document has another tag now, and says the same as before."""
    if not (yield from held(duty)):
        return False
    yield SEE, {"document": document, "at": micros(now), "new_tag": tag, "new_fault": ""}
    return True


def note_fault(duty: Duty, pack: str, place: str, tag: str, fault: str, now: datetime, new_id: NewId) -> Op[bool]:
    """Note why a document could not be read. Its last good reading stands; with a tag it is read again once that is another."""
    if not (yield from held(duty)):
        return False
    fault = fault[:FAULT_MAX_CHARS]
    rows = yield AT_PLACE, {"pack": pack, "place": place}
    if rows:
        yield SEE, {"document": rows[0][0], "at": micros(now), "new_tag": tag, "new_fault": fault}
        return True
    empty: dict[str, object] = {"title": "", "digest": "", "characters": 0, "read_at": None}
    named = {"id": new_id(), "pack": pack, "place": place, "tag": tag, "fault": fault, "seen_at": micros(now)}
    yield PUT_DOCUMENT, {**named, **empty}
    return True


def drop(duty: Duty, gone: Sequence[str]) -> Op[bool]:
    """Remove documents by their ids."""
    if not (yield from held(duty)):
        return False
    for document in gone:
        yield from _drop_chunks(document)
        yield DROP_DOCUMENT, {"document": document}
    return True


def other_packs(kept: Collection[str]) -> Op[list[str]]:
    """Packs that have documents here and that the settings no longer name."""
    rows = yield PACKS, {}
    return sorted(pack for (pack,) in rows if pack not in kept)


def _drop_chunks(document: str) -> Op[None]:
    yield DROP_VECTORS, {"document": document}
    yield DROP_CHUNKS, {"document": document}
