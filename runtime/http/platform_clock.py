"""The clock of a platform beside ours, by the Date of its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

import structlog

from runtime.contract import Finding, Level, Now, steady

log = structlog.get_logger("clock")

CLOCKS_AGREE: Final = timedelta(seconds=30)
"""A platform tells whole seconds, and its answers take a while."""
SET_CLOCK: Final = "timedatectl set-ntp true, or run chrony"
WHY_RIGHT: Final = "Schedules fire and questions end by it, and certificates may be refused."


def date_of(header: str | None) -> datetime | None:
    """Time of a `Date` header; None for what is no date, or tells no zone."""
    try:
        told = parsedate_to_datetime(header or "")
        told.timestamp()
    except (ValueError, OverflowError):
        return None
    return told if told.tzinfo is not None else None


class PlatformClock:
    """Compares the clock of `platform`, as people call it, with ours. That they differ is told once, and once that they agree.

    What happened there carries its time. With our clock a day ahead, each message would look as if it had waited a day.
    """

    def __init__(self, platform: str, now: Now, steady: Callable[[], float] = steady) -> None:
        self._platform = platform
        self._now = now
        self._steady = steady
        self._at: datetime | None = None
        self._tick = 0.0
        self._is_told = False

    def heed(self, date: str | None) -> None:
        """Take the `Date` header of an answer that is surely the platform's own; what is no date changes nothing."""
        if (told := date_of(date)) is not None:
            self._at, self._tick = told, self._steady()
            self._tell()

    @property
    def ahead(self) -> timedelta:
        """Lead of the platform's clock over ours; zero while they agree, and before it told."""
        if self._at is None:
            return timedelta()
        ahead = self._at + timedelta(seconds=self._steady() - self._tick) - self._now()
        return ahead if abs(ahead) > CLOCKS_AGREE else timedelta()

    def ours(self, theirs: datetime) -> datetime:
        """Our time of a moment that the platform tells. It isn't in the future: a header may be wrong where a server of one's own answers."""
        return min(theirs - self.ahead, self._now()) if self.ahead else theirs

    def theirs(self, ours: datetime) -> datetime:
        """The platform's time of a moment of ours."""
        return ours + self.ahead

    def findings(self, id: str) -> Sequence[Finding]:
        """A warning for the doctor, while the clocks differ."""
        ahead = self.ahead
        return (
            [Finding(Level.WARNING, id, f"our clock is {_off(ahead)} {self._platform}'s", WHY_RIGHT, SET_CLOCK)]
            if ahead
            else []
        )

    def _tell(self) -> None:
        ahead = self.ahead
        if bool(ahead) is self._is_told:
            return
        self._is_told = bool(ahead)
        if ahead:
            log.warning("our clock is not the platform's", platform=self._platform, off=_off(ahead), fix=SET_CLOCK)
        else:
            log.warning("our clock agrees with the platform's again", platform=self._platform)


def _off(ahead: timedelta) -> str:
    return f"{abs(ahead).total_seconds():.0f} s {'behind' if ahead > timedelta() else 'ahead of'}"
