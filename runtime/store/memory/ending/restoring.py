"""Memories after a restore: what people had forgotten since does not come back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from runtime.store.memory.ending.tombstones import NOTE_FORGOTTEN
from runtime.store.memory.forgetting import remove
from runtime.store.memory.rows import MEMORIES, Row
from runtime.store.schema import forgotten, memories
from runtime.store.sql.driver import Op

FORGOTTEN_ROWS = MEMORIES.where(memories.c.id.in_(select(forgotten.c.id))).order_by(memories.c.number)


def leave_out(since: Mapping[str, int], actor: str, now: datetime) -> Op[int]:
    """Remove rows that were forgotten, by the list that was restored and by what is known `since`; how many that were."""
    for memory, at in since.items():
        yield NOTE_FORGOTTEN, {"id": memory, "at": at}
    rows = yield FORGOTTEN_ROWS, {}
    return len((yield from remove([Row(*row) for row in rows], actor, now)))
