"""Clocks: one that only grows, and a platform's beside ours."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Final

from runtime.contract.people import Now

steady: Callable[[], float] = time.monotonic
if hasattr(time, "CLOCK_BOOTTIME"):
    steady = partial(time.clock_gettime, time.CLOCK_BOOTTIME)
"""Seconds that only grow: nobody sets them, and they go on while the machine sleeps, as leases do."""

CLOCKS_AGREE: Final = timedelta(seconds=30)
"""A platform tells whole seconds, and its answers take a while."""


class PlatformClock:
    """Compares the clock of a platform with ours, by the Date of its answers.

    What happened there carries its time. With our clock a day ahead, each message would look as if it had waited a day.
    """

    def __init__(self, now: Now, steady: Callable[[], float] = steady) -> None:
        self._now = now
        self._steady = steady
        self._at: datetime | None = None
        self._tick = 0.0

    def heed(self, date: str | None) -> None:
        """Take the `Date` header of an answer; what is no date changes nothing."""
        try:
            told = parsedate_to_datetime(date or "")
            told.timestamp()
        except (ValueError, OverflowError):
            return
        if told.tzinfo is not None:
            self._at, self._tick = told, self._steady()

    @property
    def ahead(self) -> timedelta:
        """Lead of the platform's clock over ours; zero while they agree, and before it told."""
        if self._at is None:
            return timedelta()
        ahead = self._at + timedelta(seconds=self._steady() - self._tick) - self._now()
        return ahead if abs(ahead) > CLOCKS_AGREE else timedelta()

    def ours(self, theirs: datetime) -> datetime:
        """Our time of a moment that the platform tells."""
        return theirs - self.ahead

    def theirs(self, ours: datetime) -> datetime:
        """The platform's time of a moment of ours."""
        return ours + self.ahead
