"""Documents of packs and their chunks, in short transactions.

The chunks of a long document come in pieces, which nobody finds until the last one brings the row of the document. Those
of the one before stay behind then, found by nobody either, and go in pieces too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, delete, exists, func, select, update

from runtime.contract import NewId
from runtime.domain.memory.chunks import Chunk
from runtime.store.common import add, held, put
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import Document, DocumentText, PackCount, Parts
from runtime.store.schema import knowledge_chunks, knowledge_documents, knowledge_vectors
from runtime.store.sql.driver import Op, maybe_moment, micros, moment

FAULT_MAX_CHARS: Final = 500
LISTED_MAX: Final = 25_000
PIECE: Final = 100
"""Chunks that one transaction writes or removes: others wait some ten milliseconds for it."""

Pieces = Sequence[tuple[int, Chunk]]
"""Chunks with their numbers in a document."""

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
SOME_CHUNKS = (
    select(knowledge_chunks.c.id)
    .where(knowledge_chunks.c.document_id == bindparam("document"))
    .order_by(knowledge_chunks.c.id)
    .limit(bindparam("n", type_=Integer))
)
LOCK_CHUNKS = SOME_CHUNKS.with_for_update()
_some = SOME_CHUNKS.scalar_subquery()
DROP_VECTORS = delete(knowledge_vectors).where(knowledge_vectors.c.chunk_id.in_(_some))
DROP_CHUNKS = delete(knowledge_chunks).where(knowledge_chunks.c.id.in_(_some)).returning(knowledge_chunks.c.id)
REMAINS = (
    select(knowledge_chunks.c.document_id)
    .distinct()
    .where(~exists().where(knowledge_documents.c.id == knowledge_chunks.c.document_id))
    .order_by(knowledge_chunks.c.document_id)
    .limit(LISTED_MAX)
)
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


def put_piece(duty: Duty, document: str, pack: str, parts: Pieces, new_id: NewId) -> Op[bool]:
    """Put some chunks of a document whose row comes later; False where another node has this duty."""
    if not (yield from held(duty)):
        return False
    yield from _add(document, pack, parts, new_id)
    return True


def put_document(duty: Duty, document: str, new: DocumentText, last: Pieces, now: datetime, new_id: NewId) -> Op[bool]:
    """Put a document and the last of its chunks in place of what was read there before, whose chunks stay behind."""
    if not (yield from held(duty)):
        return False
    for before, *_ in (yield AT_PLACE, {"pack": new.pack, "place": new.place}):
        yield DROP_DOCUMENT, {"document": before}
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
    yield from _add(document, new.pack, last, new_id)
    return True


def _add(document: str, pack: str, parts: Pieces, new_id: NewId) -> Op[None]:
    for ordinal, part in parts:
        place = {"id": new_id(), "document_id": document, "pack": pack, "ordinal": ordinal}
        lines = {"first_line": part.first_line, "last_line": part.last_line}
        yield ADD_CHUNK, {**place, **lines, "heading": part.heading, "text": part.text}


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
    """Remove documents by their ids. Their chunks stay behind, found by nobody."""
    if not (yield from held(duty)):
        return False
    for document in gone:
        yield DROP_DOCUMENT, {"document": document}
    return True


def remains() -> Op[list[str]]:
    """Ids of documents that are gone, and whose chunks stayed behind."""
    rows = yield REMAINS, {}
    return [document for (document,) in rows]


def clear(duty: Duty, document: str) -> Op[bool | None]:
    """Remove some chunks of a document that is gone; True if there are more, None where another node has this duty."""
    if not (yield from held(duty)):
        return None
    given = {"document": document, "n": PIECE}
    for statement in (LOCK_CHUNKS, DROP_VECTORS):  # by the order of ids, as whoever keeps vectors locks them
        yield statement, given
    return len((yield DROP_CHUNKS, given)) == PIECE


def other_packs(kept: Collection[str]) -> Op[list[str]]:
    """Packs that have documents here and that the settings no longer name."""
    rows = yield PACKS, {}
    return sorted(pack for (pack,) in rows if pack not in kept)
