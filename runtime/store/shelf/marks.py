"""Conversations as people keep them: what they call them, which are pinned or put away, and read until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import bindparam, select

from runtime.contract import Address, Identity, RoomMark
from runtime.store.common import put
from runtime.store.schema import deleted_rooms, room_marks
from runtime.store.sql.driver import Op, micros

MARKS_OF = select(
    room_marks.c.address, room_marks.c.title, room_marks.c.pinned, room_marks.c.archived, room_marks.c.read_at
).where(room_marks.c.owner == bindparam("owner"))
MARK_OF = MARKS_OF.where(room_marks.c.address == bindparam("room")).with_for_update()
PUT_MARK = put(room_marks)
DELETED_BY = select(deleted_rooms.c.address, deleted_rooms.c.deleted_at).where(
    deleted_rooms.c.owner == bindparam("owner")
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A row of `room_marks`; `read_at` in microseconds, 0 for never."""

    title: str = ""
    is_pinned: bool = False
    is_archived: bool = False
    read_at: int = 0


UNMARKED: Final = Kept()


def marks_of(owner: Identity) -> Op[Mapping[str, Kept]]:
    """By address."""
    rows = yield MARKS_OF, {"owner": owner}
    return {address: Kept(title, bool(pinned), bool(put_away), read) for address, title, pinned, put_away, read in rows}


def deleted_by(owner: Identity) -> Op[Mapping[str, int]]:
    """Time at which each of somebody's deleted rooms was deleted, in microseconds."""
    rows = yield DELETED_BY, {"owner": owner}
    return {row[0]: row[1] for row in rows}


def mark(owner: Identity, address: Address, change: RoomMark, now: int) -> Op[None]:
    rows = yield MARK_OF, {"owner": owner, "room": str(address)}
    known = Kept(rows[0][1], bool(rows[0][2]), bool(rows[0][3]), rows[0][4]) if rows else UNMARKED
    kept = changed(known, change)
    if rows and kept == known:
        return
    yield (
        PUT_MARK,
        {
            "owner": owner,
            "address": str(address),
            "title": kept.title,
            "pinned": int(kept.is_pinned),
            "archived": int(kept.is_archived),
            "read_at": kept.read_at,
            "changed_at": now,
        },
    )


def changed(known: Kept, change: RoomMark) -> Kept:
    """The row from now on: a pinned one is no longer put away, and the other way round. Nothing becomes unread again."""
    kept = known if change.title is None else replace(known, title=change.title)
    if change.read_at is not None:
        kept = replace(kept, read_at=max(kept.read_at, micros(change.read_at)))
    if change.is_pinned is not None:
        kept = replace(kept, is_pinned=change.is_pinned, is_archived=kept.is_archived and not change.is_pinned)
    if change.is_archived is not None:
        kept = replace(kept, is_archived=change.is_archived, is_pinned=kept.is_pinned and not change.is_archived)
    return kept
