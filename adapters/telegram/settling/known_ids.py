"""Message ids known to be taken: by messages received, sent, or met by a probe.

Ids grow by one. Private chats and basic groups share one counter of the bot's account; a supergroup counts by itself,
and also what a bot in privacy mode never sees. This is observed behaviour of Telegram, not its contract.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from adapters.telegram.rooms import SUPERGROUPS

BOX: Final = "box"
"""The one space of private chats and basic groups."""
BEYOND: Final = 8
"""Ids looked at above the highest known one, when nobody else is looked for."""
IDS_REMEMBERED: Final = 8_192
"""Ids kept of one space: at 30 messages a second each way, two minutes; an uncertain one is settled in less."""
DATED: Final = 1_024
"""… of which it is known when they were given."""
SKEW: Final = timedelta(seconds=5)
"""How far the platform's clock and ours may be apart, and its dates are whole seconds."""
SPACES: Final = 512
"""Supergroups kept in mind; the one that was silent longest goes first."""


SLACK: Final = 3
"""Ids of the box above those we were told of that may be taken by something we know nothing of."""


def space_of(chat: int) -> str:
    return str(chat) if chat < SUPERGROUPS else BOX


class KnownIds:
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

    def met(self, chat: int, number: int, *, dated: datetime | None = None) -> None:
        """Note that the id `number` belongs to a message of ours, perhaps to a lost one."""
        space = self.space(chat)
        space.top = max(space.top, number)
        if dated:
            space.dated.append((dated, number))


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
        if len(self._order) > IDS_REMEMBERED:
            self._ids.discard(self._order.popleft())

    def before(self, at: datetime) -> int:
        """The highest id of which it is sure that it was given before `at`; 0 when there is none."""
        return max((number for dated, number in self.dated if dated < at - SKEW), default=0)

    def after(self, at: datetime) -> int | None:
        """The lowest id that was surely given after `at`, by our own clock alone; None when none is known."""
        return min((number for begun, number in self.begun if begun > at), default=None)

    def __contains__(self, number: int) -> bool:
        return number in self._ids

    def unknown(self, numbers: Iterable[int]) -> Iterator[int]:
        """Numbers that may be taken by something which needs looking for."""
        return (number for number in numbers if number not in self._ids)
