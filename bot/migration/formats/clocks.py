"""Times of other bots' schedules, in the words of ours. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

CRON_FIELDS: Final = 5
MINUTE: Final = timedelta(minutes=1)
INTERVAL_UNITS: Final = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", MINUTE))
SECONDS_IN_CRON: Final = "its cron has seconds, and a schedule is due once a minute at most"
TOO_OFTEN: Final = "it is due more than once a minute, or not on whole minutes"
TIME_IS_OVER: Final = "its time is over"
ODD_TIME: Final = "its time can't be read"


class NoTime(ValueError):
    """A time that no schedule of ours can have, with the reason in words."""


def of_cron(expression: str) -> str:
    """Errors: NoTime."""
    fields = expression.split()
    if len(fields) == CRON_FIELDS + 1 and fields[0] == "0":
        fields = fields[1:]
    if len(fields) != CRON_FIELDS:
        raise NoTime(SECONDS_IN_CRON if len(fields) > CRON_FIELDS else ODD_TIME)
    return " ".join(fields)


def of_interval(every: timedelta) -> str:
    """Errors: NoTime for what isn't whole minutes."""
    if every < MINUTE or every % MINUTE:
        raise NoTime(TOO_OFTEN)
    unit, length = next((name, size) for name, size in INTERVAL_UNITS if not every % size)
    count = every // length
    return f"every {count} {unit}{'' if count == 1 else 's'}"


def of_instant(at: datetime, zone: str, now: datetime) -> str:
    """Errors: NoTime for one that is over."""
    if at <= now:
        raise NoTime(TIME_IS_OVER)
    return f"{at.astimezone(zone_of(zone)):%Y-%m-%d at %H:%M}"


def instant(given: str, zone: str) -> datetime:
    """Errors: NoTime."""
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise NoTime(ODD_TIME) from None
    return found if found.tzinfo else found.replace(tzinfo=zone_of(zone))


def since_epoch(milliseconds: object) -> datetime:
    """Errors: NoTime."""
    if not isinstance(milliseconds, int | float) or isinstance(milliseconds, bool):
        raise NoTime(ODD_TIME)
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        raise NoTime(ODD_TIME) from None


def of_milliseconds(every: object) -> str:
    """Errors: NoTime."""
    if not isinstance(every, int | float) or isinstance(every, bool):
        raise NoTime(ODD_TIME)
    try:
        return of_interval(timedelta(milliseconds=every))
    except (OverflowError, ValueError):
        raise NoTime(TOO_OFTEN) from None


def zone_of(name: str) -> tzinfo:
    """Errors: NoTime for none of the world."""
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):
        raise NoTime(f"there is no time zone {name!r}") from None
