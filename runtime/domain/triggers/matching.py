"""Finds the triggers that an event is for. Compiled once; a message that none is for costs a look-up and one search.

the globs that fit a room (kept by room) -> one pattern of all words of each -> a trigger's own, where that one found any
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase, translate
from typing import Final

from runtime.domain.triggers.trigger import SAID_KINDS, EventKind, EventTrigger

LOOKED_AT_CHARS: Final = 8_000
"""Of a message, from its beginning."""
ROOMS_KEPT: Final = 1_000
"""Rooms whose triggers are kept; beyond that they are found anew."""


def words_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Any of `words` as whole words, whatever their case and the blanks in them; a star stands for further letters.

    >>> bool(words_pattern(["build failed"]).search("The BUILD  failed!")), bool(words_pattern(["art"]).search("start"))
    (True, False)
    >>> bool(words_pattern(["deploy*"]).search("Two deployments are late."))
    True
    """
    each = (r"\s+".join(map(_one_word, word.split())) for word in words)
    return re.compile(rf"(?<!\w)(?:{'|'.join(each)})(?!\w)", re.IGNORECASE)


def _one_word(word: str) -> str:
    return re.escape(word).replace(r"\*", r"\w*")


def fits_room(glob: str, room: str, thread: str) -> bool:
    """True if a glob names a room, or a thread of it."""
    return fnmatchcase(room, glob) or fnmatchcase(thread, glob)


def fits(trigger: EventTrigger, kind: EventKind, room: str, thread: str, text: str) -> bool:
    """True if an event is for a trigger."""
    return (
        trigger.on is kind
        and fits_room(trigger.room, room, thread)
        and (not trigger.words or bool(words_pattern(trigger.words).search(text[:LOOKED_AT_CHARS])))
    )


class _Place:
    """Triggers for messages in the rooms of one glob: `every` has those for any words."""

    def __init__(self, glob: str, triggers: Sequence[EventTrigger]) -> None:
        self.room = re.compile(translate(glob))
        self.every = [one for one in triggers if not one.words]
        self.with_words = [(one, words_pattern(one.words)) for one in triggers if one.words]
        some = [word for one, _ in self.with_words for word in one.words]
        self.any_word = words_pattern(some) if some else None


class MessageTriggers:
    """Active triggers for messages, as a node knows them."""

    def __init__(self, triggers: Iterable[EventTrigger] = ()) -> None:
        self.triggers = tuple(one for one in triggers if one.on in SAID_KINDS)
        self._rooms: dict[str, list[_Place]] = {}
        by_glob: dict[str, list[EventTrigger]] = {}
        for one in self.triggers:
            by_glob.setdefault(one.room, []).append(one)
        self._places = [_Place(glob, some) for glob, some in by_glob.items()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageTriggers) and self.triggers == other.triggers

    def __hash__(self) -> int:
        return hash(tuple(one.id for one in self.triggers))

    def found(self, room: str, thread: str, text: str, kinds: Iterable[EventKind]) -> Sequence[EventTrigger]:
        """Triggers that a message in this room, and in this thread of it, is for."""
        here, said = self._rooms.get(thread), text[:LOOKED_AT_CHARS]
        if here is None:
            here = self._of(room, thread)
        some: list[EventTrigger] = []
        for place in here:
            some += place.every
            if place.any_word and place.any_word.search(said):
                some += [one for one, pattern in place.with_words if pattern.search(said)]
        return [one for one in some if one.on in kinds] if some else ()

    def _of(self, room: str, thread: str) -> list[_Place]:
        if len(self._rooms) >= ROOMS_KEPT:
            self._rooms.clear()
        made = [place for place in self._places if place.room.match(room) or place.room.match(thread)]
        self._rooms[thread] = made
        return made
