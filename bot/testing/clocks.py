"""Clocks that a test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

HAND_CLOCK_START: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clock:
    """The real time, and by how much a test set it: what waits for seconds still takes them."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def advance(self, wait: timedelta) -> None:
        """Set it forward, or back with a negative wait."""
        self.ahead += wait


class HandClock:
    """The time, moved by the test; and a microsecond a look, so that everything has its own."""

    def __init__(self, at: datetime = HAND_CLOCK_START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def advance(self, wait: timedelta) -> None:
        self.at += wait
