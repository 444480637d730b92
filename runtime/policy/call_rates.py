"""Call rates: how many tool calls each agent made in the last minute, as this process counts."""

from __future__ import annotations

from collections import defaultdict, deque
from datetime import datetime, timedelta
from typing import Final

CALL_RATE_SPAN: Final = timedelta(minutes=1)


class CallRates:
    """Moments of the calls that were let through, by agent; those of more than a minute ago are forgotten."""

    def __init__(self) -> None:
        self._made: dict[str, deque[datetime]] = defaultdict(deque)

    def wait(self, agent: str, most: int, now: datetime) -> timedelta | None:
        """Time until `agent` may make one more call, of `most` a minute; None where it may now, or without a limit.

        A clock that was set back counts nothing of what seems to come later.
        """
        made = self._made[agent]
        while made and not timedelta() <= now - made[0] < CALL_RATE_SPAN:
            made.popleft()
        return made[-most] + CALL_RATE_SPAN - now if most and len(made) >= most else None

    def count(self, agent: str, now: datetime) -> None:
        self._made[agent].append(now)
