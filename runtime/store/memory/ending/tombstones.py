"""Tombstones of forgotten sentences: proposals of them are dropped, until a person says it once more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from runtime.domain.memory.tombstones import tombstones_of
from runtime.store.common import add
from runtime.store.schema import forgotten
from runtime.store.sql.driver import Op, micros

NOTE_FORGOTTEN = add(forgotten).on_conflict_do_nothing()
TOMBSTONE = select(forgotten.c.id).where(forgotten.c.id == bindparam("tombstone"))
DROP_TOMBSTONE = delete(forgotten).where(forgotten.c.id == bindparam("tombstone"))


def bury(reach: str, text: str, now: datetime) -> Op[None]:
    """Keep what was forgotten from being proposed again there."""
    for tombstone in tombstones_of(reach, text):
        yield NOTE_FORGOTTEN, {"id": tombstone, "at": micros(now)}


def is_buried(reach: str, text: str) -> Op[bool]:
    """True if this was forgotten there, as far as one can tell without its words."""
    for tombstone in tombstones_of(reach, text):
        if (yield TOMBSTONE, {"tombstone": tombstone}):
            return True
    return False


def unburied(reach: str, lines: Sequence[str]) -> Op[list[str]]:
    """Lines that were not."""
    left = [*lines]
    for line in lines:
        if (yield from is_buried(reach, line)):
            left.remove(line)
    return left


def unbury(reach: str, text: str) -> Op[None]:
    """A person says it again, so it may be noted again."""
    for tombstone in tombstones_of(reach, text):
        yield DROP_TOMBSTONE, {"tombstone": tombstone}
