"""Stocks that are kept for a time, and the removal of old rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from runtime.contract import (
    Address,
    SessionKey,
)
from runtime.store.protocol.leases import Duty


class Stock(StrEnum):
    """Stocks that are kept for a time of their own. Events are clicks and refused messages, of which no text is kept at all, and the
    signals of schedules."""

    MESSAGES = "messages"
    TOMBSTONES = "tombstones"
    EVENTS = "events"
    DELIVERIES = "deliveries"
    RUNS = "runs"
    OCCURRENCES = "occurrences"
    TASKS = "tasks"
    PROCESSES = "processes"
    SCHEDULES = "schedules"
    APPROVALS = "approvals"
    MOVES = "moves"
    USAGE = "usage"
    NODES = "nodes"
    TRANSCRIPTS = "transcripts"
    ROOM_NAMES = "room names"
    ROOM_MARKS = "room marks"
    TOOL_FORMS = "tool forms"


@dataclass(frozen=True, slots=True)
class Swept:
    """One slice of a walk: where the next begins, whether there is one, and how many rows this one removed."""

    last: str | int
    more: bool
    removed: int


@dataclass(frozen=True, slots=True)
class Quiet:
    """Rooms that nobody used for long, from one slice of the sessions."""

    last: SessionKey
    more: bool
    rooms: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Cleared:
    """One slice of deleted rooms: how many rows went, and the rooms of which none is left, whose files may go."""

    removed: int
    bare: tuple[Address, ...]


class Sweeping(Protocol):
    """Removes what is old. Nothing that is still open is touched."""

    async def sweep(
        self, duty: Duty, stock: Stock, after: str | int | None, before: datetime, *, limit: int = 200
    ) -> Swept | None:
        """Look at the next `limit` rows behind `after` (None: from the first) and remove those that are done with and
        older than `before`. A message leaves a tombstone: its keys and times. None when the duty was lost."""

    async def drop_expired(self, duty: Duty, *, limit: int = 200) -> int | None:
        """Remove the next memories whose own time is over; how many. None when the duty was lost."""

    async def clear_deleted(self, duty: Duty, *, limit: int = 200) -> Cleared | None:
        """Remove the next rows of rooms that were deleted and not taken back. One where somebody spoke since is deleted no
        more. None when the duty was lost."""

    async def end_deleted(self, duty: Duty, rooms: tuple[Address, ...]) -> None:
        """Note that nothing is left of these rooms."""

    async def clear_traces(self) -> None:
        """Take the words of memories that are gone out of the indexes."""

    async def quiet_rooms(self, after: str, before: datetime, *, limit: int = 200) -> Quiet:
        """Of the next `limit` sessions behind `after`, the rooms where nothing happened since `before`."""
