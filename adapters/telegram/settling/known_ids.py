"""Message ids known to be taken: by messages received, sent, or met by a probe.

Ids grow by one. Private chats and basic groups share one counter of the bot's account; a supergroup counts by itself,
and also what a bot in privacy mode never sees. This is observed behaviour of Telegram, not its contract.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from adapters.telegram.rooms import SUPERGROUPS

BOX: Final = "box"
"""The one space of private chats and basic groups."""
BEYOND: Final = 8
"""Ids looked at above the highest known one, when nobody else is looked for."""
RUNS_OF_THE_BOX: Final = 8_192
"""Runs of consecutive ids kept of the box: even alone each, two minutes of 30 messages a second each way. An uncertain one
is settled in less."""
RUNS_OF_A_GROUP: Final = 256
"""… of a supergroup, in which the bot may send 20 messages a minute."""
DATED_OF_THE_BOX: Final = 1_024
"""Ids of the box of which it is kept when they were given."""
DATED_OF_A_GROUP: Final = 64
"""… of a supergroup: three minutes of the bot's own."""
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

    @property
    def count(self) -> int:
        """Number of spaces."""
        return len(self._spaces)

    def space(self, chat: int) -> Space:
        name = space_of(chat)
        if found := self._spaces.get(name):
            self._spaces.move_to_end(name)
            return found
        is_box = name == BOX
        found = self._spaces[name] = Space(
            RUNS_OF_THE_BOX if is_box else RUNS_OF_A_GROUP, DATED_OF_THE_BOX if is_box else DATED_OF_A_GROUP
        )
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
    """The ids of one counter: the highest `runs` of consecutive ones, and of the newest `dated` also when they were given.

    Mostly there is one run: a room of a hundred thousand messages takes no more than one of ten.
    """

    def __init__(self, runs: int = RUNS_OF_THE_BOX, dated: int = DATED_OF_THE_BOX) -> None:
        self.top = 0  # the highest known id; 0 when none is
        self._most = runs
        self._firsts: list[int] = []  # of each run, the lowest first
        self._lasts: list[int] = []
        self.dated: deque[tuple[datetime, int]] = deque(maxlen=dated)
        self.begun: deque[tuple[datetime, int]] = deque(maxlen=dated)

    @property
    def count(self) -> int:
        """Number of runs."""
        return len(self._firsts)

    def note(self, number: int) -> None:
        self.top = max(self.top, number)
        if number in self:
            return
        after = bisect_right(self._firsts, number)  # the first run above it
        before = after - 1
        follows = after > 0 and self._lasts[before] == number - 1
        precedes = after < len(self._firsts) and self._firsts[after] == number + 1
        if follows and precedes:
            del self._firsts[after]
            del self._lasts[before]
        elif follows:
            self._lasts[before] = number
        elif precedes:
            self._firsts[after] = number
        else:
            self._firsts.insert(after, number)
            self._lasts.insert(after, number)
        if len(self._firsts) > self._most:
            del self._firsts[0]
            del self._lasts[0]

    def before(self, at: datetime) -> int:
        """The highest id of which it is sure that it was given before `at`; 0 when there is none."""
        return max((number for dated, number in self.dated if dated < at - SKEW), default=0)

    def after(self, at: datetime) -> int | None:
        """The lowest id that was surely given after `at`, by our own clock alone; None when none is known."""
        return min((number for begun, number in self.begun if begun > at), default=None)

    def __contains__(self, number: int) -> bool:
        return self._end(number) >= number

    def unknown(self, numbers: range) -> Iterator[int]:
        """Numbers that may be taken by something which needs looking for. `numbers` go up by one."""
        number = numbers.start
        while number < numbers.stop:
            end = self._end(number)
            if end < number:
                yield number
            number = max(number, end) + 1

    def _end(self, number: int) -> int:
        """The last id of the run that begins at `number` or before it; 0 where there is none."""
        after = bisect_right(self._firsts, number)
        return self._lasts[after - 1] if after else 0
