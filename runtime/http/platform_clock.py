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
RUNS_FOR: Final = timedelta(minutes=1)
"""A date that went on for so long as our steady clock did is that of a clock: one that a proxy always tells agrees with itself
for `CLOCKS_AGREE`."""
NO_CLOCK: Final = timedelta(days=100 * 365)
"""A date so far from ours is no time: our clock may begin in 1970, and none is further off."""
SET_CLOCK: Final = "timedatectl set-ntp true, or run chrony"
LOOK_BETWEEN: Final = "If ours is right, look at the proxy between, whose answers have a wrong Date"
NO_HARM: Final = "a proxy between may set it; our clock alone counts, and nothing is compared with it"
Heard = tuple[datetime, float]
"""A date of the platform, and when it came by the steady clock."""
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
    The date may also be that of a proxy, or of a server of one's own, which may be wrong, or stand still. The first counts
    until another one disagrees; from then on, and for what people are told, only one that was seen to run.
    """

    def __init__(self, platform: str, now: Now, steady: Callable[[], float] = steady) -> None:
        self._platform = platform
        self._now = now
        self._steady = steady
        self._counts: Heard | None = None
        self._first: Heard | None = None
        self._runs = False
        self._is_told = self._is_stopped_told = False

    def heed(self, date: str | None) -> None:
        """Take the `Date` header of an answer that is surely the platform's own; what is no date changes nothing."""
        told = date_of(date)
        if told is None or abs(told - self._now()) > NO_CLOCK:
            return
        heard, first = (told, self._steady()), self._first
        if first is None:
            self._counts = self._first = heard
        elif not _agree(first, heard):
            self._first = heard
            if not self._runs:
                self._counts = None
            if told == first[0]:
                self._tell_stopped()
        elif heard[1] - first[1] > RUNS_FOR.total_seconds():
            self._counts = self._first = heard
            self._runs = True
        self._tell()

    @property
    def lead(self) -> timedelta:
        """Lead of the platform's clock over ours, as exact as it tells it; zero before it told."""
        if self._counts is None:
            return timedelta()
        at, tick = self._counts
        return at + timedelta(seconds=self._steady() - tick) - self._now()

    @property
    def ahead(self) -> timedelta:
        """The same; zero while the clocks agree."""
        return lead if abs(lead := self.lead) > CLOCKS_AGREE else timedelta()

    def ours(self, theirs: datetime) -> datetime:
        """Our time of a past moment that the platform tells: with its lead or without, whichever is nearer.

        The date may be wrong while the moment is right, and nobody's message is to be too old by that.
        """
        now = self._now()
        if abs(theirs - now) > NO_CLOCK:
            return theirs
        return min((theirs - self.ahead, theirs), key=lambda at: (at > now + CLOCKS_AGREE, abs(now - at)))

    def theirs(self, ours: datetime) -> datetime:
        """The platform's time of a moment of ours."""
        return ours + self.ahead

    def since(self, ours: datetime) -> datetime:
        """The platform's time from which on all is read that came after a moment of ours.

        The date may be wrong, and our clock may have been set since: the earlier of the two reads too much, and misses nothing.
        """
        return min(ours, self.theirs(ours))

    def findings(self, id: str) -> Sequence[Finding]:
        """A warning for the doctor, while the clocks differ."""
        if not (ahead := self.ahead):
            return []
        what, fix = f"our clock is {_off(ahead)} {self._platform}'s", f"{SET_CLOCK}. {LOOK_BETWEEN}"
        return [Finding(Level.WARNING, id, what, WHY_RIGHT, fix)]

    def _tell(self) -> None:
        ahead = self.ahead if self._runs else timedelta()
        if bool(ahead) is self._is_told:
            return
        self._is_told = bool(ahead)
        if ahead:
            log.warning("our clock is not the platform's", platform=self._platform, off=_off(ahead), fix=SET_CLOCK)
        else:
            log.warning("our clock agrees with the platform's again", platform=self._platform)

    def _tell_stopped(self) -> None:
        if not self._is_stopped_told:
            self._is_stopped_told = True
            log.warning("the date in the platform's answers stands still", platform=self._platform, reason=NO_HARM)


def _agree(one: Heard, other: Heard) -> bool:
    return abs(other[0] - one[0] - timedelta(seconds=other[1] - one[1])) <= CLOCKS_AGREE


def _off(ahead: timedelta) -> str:
    return f"{abs(ahead).total_seconds():.0f} s {'behind' if ahead > timedelta() else 'ahead of'}"
