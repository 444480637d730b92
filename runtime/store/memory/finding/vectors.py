"""Memories as a source of vectors."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, or_

from runtime.store.schema import memories, memory_vectors
from runtime.store.vectors.source import Source

MEMORY_VECTORS: Final = Source(
    rows=memories,
    vectors=memory_vectors,
    of="memory_id",
    within="reach",
    text=memories.c.text,
    payer=memories.c.agent,
    is_current=(
        memories.c.valid_to.is_(None),
        or_(memories.c.expires_at.is_(None), memories.c.expires_at > bindparam("now")),
    ),
)
