"""Waits of the couriers, and their choice for a message that may or may not be on screen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Unknown(StrEnum):
    """Treatment of a part that nobody can tell to be on screen."""

    REPEAT = "repeat"  # once more, with a visible mark
    HOLD = "hold"  # until a person says


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Waits of the courier.

    `settle_first` and `settle_second`, the two looks for a part in doubt, count from the marker. A channel that may look
    at once makes its second look `settle_first` after the first: by then a request that was cut is applied, or lost.

    Who waits for an answer sees the agent at work after `typing_after`, and the answer growing after `preview_after`, with
    a change at most each `preview_every`. A call that only serves this may take `glance`.
    """

    unknown: Unknown = Unknown.REPEAT
    settle_first: timedelta = timedelta(seconds=10)
    settle_second: timedelta = timedelta(seconds=25)
    backoff_first: timedelta = timedelta(seconds=1)
    backoff_most: timedelta = timedelta(seconds=60)
    send_timeout: timedelta = timedelta(seconds=30)
    typing_after: timedelta = timedelta(seconds=0.7)  # so that it is there within a second
    preview_after: timedelta = timedelta(seconds=2)
    preview_every: timedelta = timedelta(seconds=2)
    glance: timedelta = timedelta(seconds=5)

    def first_look(self, marked: datetime, *, at_once: bool) -> datetime:
        """The time of the first look for a part that was marked then."""
        return marked if at_once else marked + self.settle_first

    def second_look(self, marked: datetime, now: datetime, *, at_once: bool) -> datetime:
        """The time of the second look, where the first one found nothing just `now`."""
        after_this = now + self.settle_first
        return after_this if at_once else max(marked + self.settle_second, after_this)

    def backoff(self, attempts: int, chance: float) -> timedelta:
        """The wait after the `attempts`-th failure: it doubles, and `chance` in [0, 1) spreads it by a quarter."""
        grown = self.backoff_first * 2 ** min(max(attempts - 1, 0), 20)
        return self._spread(grown, chance)

    def next_look(self, since: timedelta, chance: float) -> timedelta:
        """The wait after a look that told nothing, `since` the marker: it grows with that, spread likewise."""
        return self._spread(max(since / 2, self.backoff_first), chance)

    def _spread(self, wait: timedelta, chance: float) -> timedelta:
        spread: timedelta = min(wait, self.backoff_most) * (0.875 + chance / 4)
        return spread
