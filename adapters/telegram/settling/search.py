"""Shared knowledge of one account's searches, and bounds for a lost message's id.

A look tells where its message is, if it was applied before the look began. It needs these of the platform (observed, no
contract): ids of a counter are given one by one; what a probe finds empty in a chat is no message there then.

In the box, which private chats and basic groups share, all looks help each other. Say S is looked for, and has the id s.

1.  An id that was surely given after the look began is above s. Such are the receipts of our own later sends: the first
    message that is sent again closes the search for all that were marked before it.
2.  Else let `base` be the highest id that was given before the look began, as far as we were told. If s is above it, all
    ids between were given before s was, so before the look began. Each of them is
      - another lost message, one that was sent before the look began; or
      - a stranger: told late, or never. There are at most `SLACK` of these (more where few messages are lost).
3.  A probe since the look began (or one of an id that was given by then) that finds nothing of chat C under an id tells
    that the lost message of C had not got it. An id that no lost message can have is dead, thus a stranger's.
4.  So walk up from `base`. Each id needs an owner if s is above it: a dead one a stranger, another one a lost message or,
    when all of these have one, a stranger. Where the strangers are used up s cannot be above: that is `reach`.

So fifty messages of which none was applied cost fifty times `SLACK` + 1 probes, and not fifty times fifty; and the first
of them that goes again ends the search for the rest. Ids below `base` are tried one by one: each was given to somebody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from adapters.telegram.settling.known_ids import BEYOND, SLACK, Space
from adapters.telegram.settling.send_queue import Mark
from runtime.contract import Attempt, Part

LATE: Final = timedelta(seconds=25)
"""After the marker a request is not applied any more. Source: the second look, which is the last."""
SEARCHES_REMEMBERED: Final = 1_000
"""Searches in mind, and chats, and ids of each: more are never under way."""
TOLD_BY: Final = 1.0  # seconds after which all is told that came before, but for strangers


@dataclass(slots=True)
class Search:
    """One look for one attempt's message, and what came of it.

    An id that was below the highest known one when it was probed was given by then, or never will be. One above it may
    be given to a late message after the probe, so it counts for looks that began before.
    """

    part: Part
    mark: Mark
    attempt: Attempt
    began: datetime
    ticks: float = field(default_factory=lambda: monotonic())
    floor: int = 0  # below all that it can have; 0: what the store knows is not read yet
    base: int = 0  # the highest id given before the look began, as far as we were told; 0: it is too early to say
    upto: int = 0  # in a supergroup the last id that this look may try
    met: int = 0  # the id under which it was found
    tried: set[int] = field(default_factory=set)
    probes: int = 0  # how many were made; an id may be tried again
    empty: int = 0  # how many of these found no message
    over: bool = False
    absent: bool = False  # it is certainly nowhere, and does not come any more
    closed: bool = False  # its chat does not let us look
    resting: bool = False  # its chat is not to be probed before it is asked for again

    @property
    def chat(self) -> int:
        return self.mark.chat

    @property
    def late(self) -> datetime:
        """From then on it is not applied any more."""
        return self.attempt.marked_at + LATE

    @property
    def since(self) -> datetime:
        """Time from which on this look's findings hold."""
        return min(self.began, self.late)

    def end(self, *, absent: bool) -> None:
        self.over, self.absent = True, absent
        self.tried.clear()

    def base_in(self, space: Space) -> int:
        """The highest id that was given before the look began. What comes later than `TOLD_BY` came after."""
        if self.base:
            return self.base
        base = max(self.floor, space.top)
        if monotonic() - self.ticks > TOLD_BY:
            self.base = base
        return base

    def raise_base(self, number: int) -> None:
        """Nobody knows when this one was given, so all below it is looked at."""
        if self.base:
            self.base = max(self.base, number)


@dataclass(slots=True)
class Nothing:
    """Ids under which a chat has no message: for good, or when it was probed last."""

    for_good: set[int] = field(default_factory=set)
    lately: dict[int, datetime] = field(default_factory=dict)

    def note(self, number: int, top: int, at: datetime) -> None:
        """Nothing was there at `at`, and `top` was the highest known id before the probe."""
        if number < top:
            self.for_good.add(number)
        else:
            self.lately[number] = at
        while len(self.lately) + len(self.for_good) > SEARCHES_REMEMBERED:
            self.lately.clear()
            self.for_good.clear()

    def has(self, number: int, since: datetime) -> bool:
        found = self.lately.get(number)
        return number in self.for_good or (found is not None and found >= since)


def strangers(others: int) -> int:
    """The most ids above the base that may be strangers', while `others` other messages are lost."""
    return max(SLACK, BEYOND - 1 - others)


def reach(base: int, others: int, is_dead: Callable[[int], bool]) -> int:
    """The highest id that a message may have of which `others` are lost beside; see above."""
    spare, number = strangers(others), base
    while spare >= 0:
        number += 1
        if others and not is_dead(number):
            others -= 1
        else:
            spare -= 1
    return number


class Searches:
    """All looks, by part, and what was met and not met."""

    def __init__(self) -> None:
        self._searches: dict[str, Search] = {}
        self._nothing: dict[int, Nothing] = {}
        self._met: dict[int, int] = {}  # ticket to id

    def of(self, part: Part, mark: Mark, attempt: Attempt, now: datetime) -> Search:
        """The look that is under way for this attempt, or a new one."""
        found = self._searches.get(part.id)
        if found is None or found.attempt.number != attempt.number or (found.over and not found.met):
            self._searches.pop(part.id, None)
            while len(self._searches) >= SEARCHES_REMEMBERED:
                del self._searches[next(iter(self._searches))]
            found = self._searches[part.id] = Search(part, mark, attempt, now)
        return found

    def get(self, part: str) -> Search | None:
        return self._searches.get(part)

    def forget(self, part: str) -> None:
        self._searches.pop(part, None)

    def nothing(self, chat: int) -> Nothing:
        while len(self._nothing) > SEARCHES_REMEMBERED:
            del self._nothing[next(iter(self._nothing))]
        return self._nothing.setdefault(chat, Nothing())

    def meet(self, number: int, search: Search | None, *, is_box: bool) -> None:
        """A probe met a message: that of `search`, or somebody's."""
        if is_box:
            for each in self._searches.values():
                each.raise_base(number)
        if search is not None:
            search.met = number
            now = self._searches.get(search.part.id)
            if now and now.attempt.number == search.attempt.number:
                now.met = number  # its next look began while the answer was under way
            self._met[search.mark.ticket] = number
            while len(self._met) > SEARCHES_REMEMBERED:
                del self._met[next(iter(self._met))]

    def after(self, ticket: int) -> int:
        """The highest id of those that were found and are marked before `ticket`: mostly the next has a higher one."""
        return max((number for other, number in self._met.items() if other < ticket), default=0)

    def left(self, search: Search, numbers: Iterable[int], since: datetime) -> list[int]:
        """Numbers that the message of `search` may have had by then."""
        nothing, by = self.nothing(search.chat), min(since, search.late)
        return [number for number in numbers if number > search.floor and not nothing.has(number, by)]

    def cannot_be(self, number: int, chat: int, part: str, since: datetime) -> bool:
        """True if it is sure that the lost message of this chat had not got `number` by then."""
        found = self._searches.get(part)
        if found is None:
            return self.nothing(chat).has(number, since)
        return not self.left(found, (number,), since)
