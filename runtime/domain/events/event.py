"""Event: a row of the audit in a program's words, with the conversation it belongs to. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import Address
from runtime.domain.audit_chain import AuditFact
from runtime.domain.events.words import EVENT_WORDS, ROOM_IN_DETAIL


@dataclass(frozen=True, slots=True)
class Place:
    """Conversation and run that an id belongs to, as far as its rows are still there."""

    room: str = ""
    session: str = ""
    run: str = ""


NO_PLACE: Final = Place()


@dataclass(frozen=True, slots=True)
class Event:
    """`number` is the row's own in the audit. Its place is empty where it has none, or it is forgotten; `detail` is without it."""

    number: int
    at: datetime
    word: str
    who: str
    about: str
    detail: str
    place: Place = NO_PLACE


@dataclass(frozen=True, slots=True)
class Only:
    """Events that somebody wants: of a session, a room with its threads, a run, words like `words`; empty is any.

    `rooms` are those that they may see at all, None for all. What belongs to no room is for people who see all.
    """

    session: str = ""
    room: str = ""
    run: str = ""
    words: tuple[str, ...] = ()
    rooms: Collection[str] | None = None

    def takes(self, event: Event) -> bool:
        place = event.place
        return (
            (not self.session or place.session == self.session)
            and (not self.room or _within(place.room, self.room))
            and (not self.run or place.run == self.run)
            and (not self.words or any(fnmatchcase(event.word, glob) for glob in self.words))
            and (self.rooms is None or any(_within(place.room, room) for room in self.rooms))
        )


EVERYTHING: Final = Only()


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events after a number, in order.

    `next` is the number up to which all was looked at: ask for what comes after it. `oldest` is the oldest number
    that is kept, 0 before the first; `head` the newest.
    """

    events: tuple[Event, ...]
    next: int
    oldest: int
    head: int

    def is_cut(self, after: int) -> bool:
        """True where events behind `after` are gone for their age. From the very beginning is never cut."""
        return 0 < after < self.oldest - 1


def ids_of(row: AuditFact) -> tuple[str, ...]:
    """Ids by which the place of a row can be looked up."""
    own = row.subject.partition("/")[0]
    return (own,) if own and ":" not in own else ()


def event_of(row: AuditFact, places: Mapping[str, Place]) -> Event | None:
    """The event that a sealed row is; None for a kind without a word."""
    known = EVENT_WORDS.get(row.kind)
    if known is None or row.number is None:
        return None
    found = next((places[one] for one in ids_of(row) if one in places), NO_PLACE)
    named = _room_in(getattr(row, known.room)) if known.room else ""
    if named and not found.room:
        found = Place(named, found.session, found.run)
    detail = row.detail.removeprefix(named).lstrip(": ") if known.room == ROOM_IN_DETAIL else row.detail
    return Event(row.number, row.at, known.word, row.actor, row.subject, detail, found)


def _room_in(text: str) -> str:
    """The address that `text` begins with, as "slack:T1/C1: it was closed" does; empty for other texts."""
    first = text.split(" ", 1)[0].rstrip(":")
    try:
        return str(Address.parse(first))
    except ValueError:
        return ""


def _within(room: str, wanted: str) -> bool:
    return room == wanted or room.startswith(f"{wanted}/")
