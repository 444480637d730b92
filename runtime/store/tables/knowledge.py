"""Tables of knowledge packs: documents, their chunks, and vectors of these."""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, UniqueConstraint

from runtime.store.tables.columns import Serial, maybe_number, metadata, number, numbers, time_id, words

# `tag` tells cheaply whether a document is another one by now: its ETag, or its time and size. `digest` is of its text.
# `fault` says why it could not be read; then the chunks of its last good reading stand.
knowledge_documents = Table(
    "knowledge_documents",
    metadata,
    time_id("id", primary_key=True),
    words("pack"),
    words("place"),
    words("title"),
    words("tag"),
    words("digest"),
    number("characters"),
    words("fault"),
    number("seen_at"),
    maybe_number("read_at"),
    UniqueConstraint("pack", "place"),
)

knowledge_chunks = Table(
    "knowledge_chunks",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    time_id("id", unique=True),
    words("document_id"),
    words("pack"),
    number("ordinal"),
    words("heading"),
    number("first_line"),
    number("last_line"),
    words("text"),
    Index("ix_knowledge_chunks_document", "document_id", "ordinal"),
    Index("ix_knowledge_chunks_pack", "pack"),
)

knowledge_vectors = Table(
    "knowledge_vectors",
    metadata,
    time_id("chunk_id"),
    words("model"),
    words("pack"),
    number("dims"),
    numbers("vector"),
    PrimaryKeyConstraint("chunk_id", "model"),
    Index("ix_knowledge_vectors_pack", "pack", "model", "chunk_id"),
)
