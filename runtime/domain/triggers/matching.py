"""Finds the triggers that an event is for. Compiled once; a message that none is for costs a look-up and one search.

the room's triggers (kept by room) -> one pattern of all their words -> each trigger's own, where that one found any
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
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


class _OfRoom:
    """Triggers for messages in one room: `every` has those for any words, by the kind of event."""

    def __init__(self, triggers: Sequence[EventTrigger]) -> None:
        self.every = [one for one in triggers if not one.words]
        self.with_words = [(one, words_pattern(one.words)) for one in triggers if one.words]
        some = [word for one, _ in self.with_words for word in one.words]
        self.any_word = words_pattern(some) if some else None


class MessageTriggers:
    """Active triggers for messages, as a node knows them. False where there are none."""

    def __init__(self, triggers: Iterable[EventTrigger] = ()) -> None:
        self.triggers = tuple(one for one in triggers if one.on in SAID_KINDS)
        self._rooms: dict[str, _OfRoom] = {}

    def __bool__(self) -> bool:
        return bool(self.triggers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageTriggers) and self.triggers == other.triggers

    def __hash__(self) -> int:
        return hash(tuple(one.id for one in self.triggers))

    def found(self, room: str, thread: str, text: str, kinds: Iterable[EventKind]) -> Sequence[EventTrigger]:
        """Triggers that a message in this room, and in this thread of it, is for."""
        here = self._rooms.get(thread) or self._of(room, thread)
        if not here.every and (here.any_word is None or not here.any_word.search(text[:LOOKED_AT_CHARS])):
            return ()
        said = text[:LOOKED_AT_CHARS]
        some = [one for one, pattern in here.with_words if pattern.search(said)]
        return [one for one in (*here.every, *some) if one.on in kinds]

    def _of(self, room: str, thread: str) -> _OfRoom:
        if len(self._rooms) >= ROOMS_KEPT:
            self._rooms.clear()
        made = _OfRoom([one for one in self.triggers if fits_room(one.room, room, thread)])
        self._rooms[thread] = made
        return made


NO_TRIGGERS: Final = MessageTriggers()
