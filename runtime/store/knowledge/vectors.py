"""Chunks of documents as a source of vectors: each with the heading under which it stands, unless it begins with one."""

from __future__ import annotations

from typing import Final

from sqlalchemy import case, literal_column, or_

from runtime.store.schema import knowledge_chunks, knowledge_vectors
from runtime.store.vectors.source import Source

_heading, _text = knowledge_chunks.c.heading, knowledge_chunks.c.text
CHUNK_VECTORS: Final = Source(
    rows=knowledge_chunks,
    vectors=knowledge_vectors,
    of="chunk_id",
    within="pack",
    text=case(
        (or_(_heading == literal_column("''"), _text.like(literal_column("'#%'"))), _text),
        else_=_heading + literal_column("'\n'") + _text,
    ),
    payer=literal_column("''"),
)
