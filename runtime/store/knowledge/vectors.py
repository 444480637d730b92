"""Chunks of documents as a source of vectors: each with the heading under which it stands."""

from __future__ import annotations

from typing import Final

from sqlalchemy import case, literal_column

from runtime.store.schema import knowledge_chunks, knowledge_vectors
from runtime.store.vectors.source import Source

CHUNK_VECTORS: Final = Source(
    rows=knowledge_chunks,
    vectors=knowledge_vectors,
    of="chunk_id",
    within="pack",
    text=case(
        (knowledge_chunks.c.heading == literal_column("''"), knowledge_chunks.c.text),
        else_=knowledge_chunks.c.heading + literal_column("'\n'") + knowledge_chunks.c.text,
    ),
    payer=literal_column("''"),
)
