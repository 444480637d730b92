"""Discord's ids: they hold the time they were made at. Source: discord.com/developers/docs/reference#snowflakes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(2015, 1, 1, tzinfo=UTC)
TIME_AT: Final = 22  # the bits below are a worker and a counter


def made_at(number: str) -> datetime:
    """Time `number` was made, in UTC to the millisecond, by Discord's clock."""
    return EPOCH + timedelta(milliseconds=int(number) >> TIME_AT)


def first_at(moment: datetime) -> int:
    """The least id of `moment`."""
    return max(int((moment - EPOCH) / timedelta(milliseconds=1)), 0) << TIME_AT
