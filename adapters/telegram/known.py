"""Which message ids are taken, as far as we know: by what came in, by what we sent, by what a probe met.

Ids grow by one. Private chats and basic groups share one counter of the bot's account; a supergroup counts by itself,
and also what a bot in privacy mode never sees. This is observed behaviour of Telegram, not its contract.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from adapters.telegram.rooms import SUPERGROUPS

BOX: Final = "box"
"""The one space of private chats and basic groups."""
BEYOND: Final = 8
"""Ids looked at above the highest known one, when nobody else is looked for."""
KEPT: Final = 8_192
"""Ids kept of one space: at 30 messages a second each way, two minutes; an uncertain one is settled in less."""
DATED: Final = 1_024
"""… of which it is known when they were given."""
SKEW: Final = timedelta(seconds=5)
"""How far the platform's clock and ours may be apart, and its dates are whole seconds."""
SPACES: Final = 512
"""Supergroups kept in mind; the one that was silent longest goes first."""


SLACK: Final = 3
"""Ids of the box that may be taken by something we know nothing of."""


def space_of(chat: int) -> str:
    return str(chat) if chat < SUPERGROUPS else BOX


def candidates(floor: int, upto: int, known: Collection[int], ruled_out: Collection[int]) -> Iterator[int]:
    """Ids above `floor` that may be the lost message's, lowest first, `upto` the last that it can have."""
    return (number for number in range(floor + 1, upto + 1) if number not in known and number not in ruled_out)


def likeliest(left: Sequence[int], taken: Sequence[int], rank: int) -> int:
    """The one of `left` to try first, when `rank` lost messages were sent before this one.

    `taken`: all ids that may be lost messages', this chat's or others'. They were given in about the order of the sends,
    and those that were never sent have none, so of two as near the lower comes first.
    """
    expected = taken[min(rank, len(taken) - 1)]
    return min(left, key=lambda number: (abs(number - expected), number))


def beyond(unknown: int, lost: int, *, is_box: bool) -> int:
    """How far above the highest known id the lost message may be.

    In the box all are told of: `unknown` ids below the highest known one are taken by some of the `lost` messages, and
    only the others' are above it.
    """
    return max(BEYOND - unknown, lost - unknown + SLACK, SLACK) if is_box else BEYOND


class Known:
    """The ids of all spaces."""

    def __init__(self) -> None:
        self._spaces: OrderedDict[str, Space] = OrderedDict()

    def space(self, chat: int) -> Space:
        name = space_of(chat)
        found = self._spaces.setdefault(name, Space())
        self._spaces.move_to_end(name)
        if len(self._spaces) > SPACES:
            self._spaces.pop(next(other for other in self._spaces if other != BOX))
        return found

    def note(self, chat: int, number: int, *, dated: datetime | None = None, begun: datetime | None = None) -> None:
        """The id `number` is taken, by something that needs no looking for.

        The platform says when (`dated`), or it was a send of ours that began at `begun`, by our clock.
        """
        space = self.space(chat)
        space.note(number)
        if dated:
            space.dated.append((dated, number))
        if begun:
            space.begun.append((begun, number))


class Space:
    """The ids of one counter."""

    def __init__(self) -> None:
        self.top = 0  # the highest known id; 0 when none is
        self._ids: set[int] = set()
        self._order: deque[int] = deque()
        self.dated: deque[tuple[datetime, int]] = deque(maxlen=DATED)
        self.begun: deque[tuple[datetime, int]] = deque(maxlen=DATED)

    def note(self, number: int) -> None:
        self.top = max(self.top, number)
        if number not in self._ids:
            self._ids.add(number)
            self._order.append(number)
        if len(self._order) > KEPT:
            self._ids.discard(self._order.popleft())

    def before(self, at: datetime) -> int:
        """The highest id of which it is sure that it was given before `at`; 0 when there is none."""
        return max((number for dated, number in self.dated if dated < at - SKEW), default=0)

    def after(self, at: datetime) -> int | None:
        """The lowest id that was surely given after `at`, by our own clock alone; None when none is known."""
        return min((number for begun, number in self.begun if begun > at), default=None)

    def above(self, floor: int) -> set[int]:
        if self.top - floor < len(self._ids):
            return {number for number in range(floor + 1, self.top + 1) if number in self._ids}
        return {number for number in self._ids if number > floor}
