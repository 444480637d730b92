"""Places whose history is still to be read, and which of them is next."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.contract import Address

Look = tuple[Address, str]
"""A place, and the timestamp from which on it is read."""


class Unread:
    """Queue of places to read: those where somebody waits first. One is read at a time.

    Whoever speaks in a thread waits for the room around it too: nobody may have known the thread before.
    """

    def __init__(self) -> None:
        self._since: dict[Address, str] = {}
        self._reading: dict[Address, str] = {}
        self._wanted: set[Address] = set()

    def __bool__(self) -> bool:
        return bool(self._since or self._reading)

    @property
    def is_wanted(self) -> bool:
        """True if somebody waits for one that is not being read yet."""
        return not self._wanted.isdisjoint(self._since)

    def add(self, found: Iterable[Look]) -> None:
        """A place that waits already is read from the earlier of both moments on."""
        for place, since in found:
            self._since[place] = min(since, self._since.get(place, since))

    def holds(self, place: Address) -> bool:
        """True if something that was said there may not be read yet."""
        return any(one in self._since or one in self._reading for one in _around(place))

    def want(self, place: Address) -> None:
        """Somebody waits there."""
        self._wanted |= _around(place)

    def again(self, place: Address) -> None:
        """Something was said there that a look which is going on may have missed: there is another one after it."""
        self.want(place)
        self.add((one, since) for one, since in self._reading.items() if one in _around(place))

    def take(self) -> Look | None:
        """Take what is read next, until it is `done`."""
        if not self._since:
            return None
        place = min(self._since, key=lambda one: one not in self._wanted)
        self._wanted.discard(place)
        self._reading = {place: self._since.pop(place)}
        return place, self._reading[place]

    def done(self) -> None:
        """End the look that was taken: it was read, or cannot be."""
        self._reading = {}


class Unheard:
    """Places in which nobody was heard for long, where nothing tells whether something was missed: when somebody speaks
    in one it is read `since` a moment, once; `most` of them, lest it be all rooms there are."""

    def __init__(self, known: Iterable[Address] = (), since: str = "", *, most: int = 0) -> None:
        self._known = set(known)
        self._since = since
        self._left = most

    def look(self, place: Address) -> Look | None:
        """Look that is due where somebody speaks in `place`."""
        if place in self._known or not self._left:
            return None
        self._known.add(place)
        self._left -= 1
        return place, self._since


def _around(place: Address) -> frozenset[Address]:
    return frozenset((place, place.whole_room))
