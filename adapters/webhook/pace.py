"""Rate limit of one hook: a bucket that holds a minute's worth and refills evenly."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

MINUTE: Final = timedelta(minutes=1)
NO_WAIT: Final = timedelta()


def ticking() -> timedelta:
    """Time that no clock setting moves."""
    return timedelta(microseconds=time.monotonic_ns() // 1000)


class Pace:
    """At most `per_minute` in a row, and one more each time its share of a minute is over; 0 is no bound."""

    def __init__(self, per_minute: int, ticks: Callable[[], timedelta] = ticking) -> None:
        self._every = MINUTE / per_minute if per_minute else NO_WAIT
        self._ticks = ticks
        self._full_at = ticks()

    def take(self) -> timedelta:
        """Nothing, and one is taken; or how long it is until there is one."""
        now = self._ticks()
        wait: timedelta = self._full_at + self._every - MINUTE - now
        if wait > NO_WAIT and self._every:
            return wait
        self._full_at = max(self._full_at, now) + self._every
        return NO_WAIT
