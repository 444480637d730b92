"""Limits: how many calls of a tool one person may have an agent make in a span of time. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

SPANS: Final = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}
COUNT_MAX: Final = 100_000
"""Calls of the widest limit."""
WRITTEN: Final = re.compile(rf"([0-9]{{1,6}})/({'|'.join(SPANS)})")
EXPECTED: Final = (
    f'a number of calls from 1 to {COUNT_MAX:,} and a unit, such as "60/minute"; units are {", ".join(SPANS)}'
)


@dataclass(frozen=True, slots=True)
class Limit:
    """Calls in the last `unit` at most, whichever rules let them through. Each person, agent and tool has its own."""

    count: int
    unit: str

    @classmethod
    def parse(cls, text: str) -> Limit:
        """`60/minute`. Errors: ValueError says what is expected."""
        found = WRITTEN.fullmatch("".join(text.split()))
        if found is None or not 1 <= int(found[1]) <= COUNT_MAX:
            raise ValueError(EXPECTED)
        return cls(int(found[1]), found[2])

    def __str__(self) -> str:
        return f"{self.count}/{self.unit}"

    @property
    def span(self) -> timedelta:
        return SPANS[self.unit]

    @property
    def words(self) -> str:
        """`60 calls a minute`."""
        return f"{self.count:,} call{'s' * (self.count != 1)} {'an' if self.unit == 'hour' else 'a'} {self.unit}"


def soon(wait: timedelta) -> str:
    """A wait in its largest unit, rounded up: `20 seconds`, `3 minutes`."""
    seconds = max(1, -int(-wait.total_seconds() // 1))
    for unit, size in (("hour", 3600), ("minute", 60)):
        if seconds > size:
            count = -(-seconds // size)
            return f"{count} {unit}{'s' * (count != 1)}"
    return f"{seconds} second{'s' * (seconds != 1)}"
