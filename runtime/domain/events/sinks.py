"""Sinks of events: how far each has got, and when it is tried again. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

SINK_ROLE_PREFIX: Final = "event sink "
"""Begins the role of serving a sink, which a node takes whose settings have it."""
CURSOR_KEPT: Final = timedelta(days=7)
"""For a sink that no node serves: so long it finds its place again."""
FIRST_RETRY_DELAY: Final = timedelta(seconds=1)
LONGEST_RETRY_DELAY: Final = timedelta(minutes=5)
SINK_TOLD_AFTER: Final = timedelta(minutes=15)
"""Failing for so long, a sink is told to operators: shorter is a restart of its own."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Position of a sink: every event up to `number` was taken by it, or isn't for it.

    `at` is when it last got on; `failing_since` the first of the failures since then, `fault` the newest of them.
    """

    sink: str
    number: int
    at: datetime
    failing_since: datetime | None = None
    fault: str = ""
    told: bool = False

    def is_to_be_told(self, now: datetime) -> bool:
        """True if operators must hear of it, and have not."""
        return self.failing_since is not None and not self.told and now - self.failing_since >= SINK_TOLD_AFTER


def retry_delay(failures: int) -> timedelta:
    """Wait after that many failures in a row: doubled each time, at most five minutes."""
    doubled: timedelta = FIRST_RETRY_DELAY * (1 << min(failures - 1, 16))
    return min(doubled, LONGEST_RETRY_DELAY)
