"""Vectors with a byte for each number, which is a quarter of what a search reads; those of documents in the order of their ids."""

from array import array
from struct import pack, unpack

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

KEYS = {"memory_vectors": "memory_id", "knowledge_vectors": "chunk_id"}
STEPS = 127
ROWS_AT_ONCE = 500


def upgrade() -> None:
    for table, key in KEYS.items():
        _shrink(table, key)
    op.drop_index("ix_knowledge_vectors_pack", "knowledge_vectors")
    op.create_index("ix_knowledge_vectors_pack", "knowledge_vectors", ["pack", "model", "chunk_id"])


def _shrink(table: str, key: str) -> None:
    last = ("", "")
    some = sa.text(
        f"SELECT {key}, model, vector FROM {table} WHERE ({key}, model) > (:row, :model) "  # noqa: S608 - our own names
        f"ORDER BY {key}, model LIMIT {ROWS_AT_ONCE}"
    )
    change = sa.text(f"UPDATE {table} SET vector = :vector WHERE {key} = :row AND model = :model")  # noqa: S608 - our own names
    while rows := op.get_bind().execute(some, {"row": last[0], "model": last[1]}).all():
        last = (rows[-1][0], rows[-1][1])
        packed = [{"row": row, "model": model, "vector": _packed(bytes(vector))} for row, model, vector in rows]
        op.get_bind().execute(change, packed)


def _packed(vector: bytes) -> bytes:
    """A vector of float32, the lowest byte first, as its scale and a byte for each number."""
    numbers = unpack(f"<{len(vector) // 4}f", vector)
    scale = max(map(abs, numbers), default=0.0) / STEPS
    return pack("<f", scale) + array("b", (round(one / scale) if scale else 0 for one in numbers)).tobytes()
