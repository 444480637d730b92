"""Words about time, understood: cron, an interval, or one instant."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final

from runtime.calendar.cron import Cron, cron_of
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.zones import zone_named

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NAMES: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


class Unit(StrEnum):
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


LENGTHS: Final = {
    Unit.MINUTE: timedelta(minutes=1),
    Unit.HOUR: timedelta(hours=1),
    Unit.DAY: timedelta(days=1),
    Unit.WEEK: timedelta(weeks=1),
}
INTERVAL_MAX: Final = timedelta(days=3660)
"""Ten years: of an interval, and until something that is to happen in so and so long."""


@dataclass(frozen=True, slots=True)
class Every:
    """An interval. Minutes and hours are time that passes; days and weeks keep the time on the wall.

    `at` and `weekday` (Monday is 0) say where days and weeks begin; without them they begin where the schedule does.
    """

    count: int
    unit: Unit
    at: time | None = None
    weekday: int | None = None

    def __str__(self) -> str:
        on = "" if self.weekday is None else f" on {WEEKDAYS[self.weekday]}"
        at = "" if self.at is None else f" at {self.at:%H:%M}"
        return f"every {self.count} {self.unit}{'' if self.count == 1 else 's'}{on}{at}"

    @property
    def step(self) -> timedelta:
        return self.count * LENGTHS[self.unit]

    @property
    def on_the_wall(self) -> bool:
        return self.unit in (Unit.DAY, Unit.WEEK)


@dataclass(frozen=True, slots=True)
class At:
    """One instant, in UTC."""

    instant: datetime


When = Cron | Every | At


@dataclass(frozen=True, slots=True)
class Planned:
    """Words about time, understood. `zone` is an IANA name, `text` the words as they were written."""

    when: When
    zone: str
    text: str

    def __str__(self) -> str:
        """Said in one way only; `plan` understands it the same."""
        return _at(self.when, self.zone) if isinstance(self.when, At) else str(self.when)


def _at(at: At, zone: str) -> str:
    """On the wall; with what it is ahead of UTC where the wall alone would mean another instant."""
    shown = at.instant.astimezone(zone_named(zone))
    wall = shown.replace(tzinfo=None)
    exact = shown if shown.fold else wall
    return f"at {exact.isoformat(timespec='seconds' if wall.second else 'minutes')}"


def written(planned: Planned) -> str:
    """For the store; `read` makes it again."""
    made: dict[str, Any] = {"zone": planned.zone, "text": planned.text}
    match planned.when:
        case Cron() as cron:
            made["cron"] = str(cron)
        case Every(count, unit, at, weekday):
            made["every"] = [count, unit.value, f"{at:%H:%M}" if at else None, weekday]
        case At(instant):
            made["at"] = instant.isoformat()
    return json.dumps(made, ensure_ascii=False, sort_keys=True)


def read(text: str) -> Planned:
    """Read what `written` wrote.

    Errors: WhenError when it is anything else.
    """
    try:
        raw = json.loads(text)
        return Planned(_when(raw), zone_named(raw["zone"]).key, str(raw["text"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise WhenError(f"{quoted(text)} is not how a time is stored ({type(error).__name__})") from error


def _when(raw: dict[str, Any]) -> When:
    if "cron" in raw:
        return cron_of(raw["cron"])
    if "every" in raw:
        return _every(*raw["every"])
    return At(datetime.fromisoformat(raw["at"]).astimezone(UTC))


def _every(count: int, unit: str, at: str | None, weekday: int | None) -> Every:
    """Errors: ValueError when it is nothing that can be counted with."""
    every = Every(int(count), Unit(unit), time.fromisoformat(at) if at else None, weekday)
    if every.count < 1 or every.step > INTERVAL_MAX or weekday not in (None, *range(len(WEEKDAYS))):
        raise ValueError(f"{every!r} is out of bounds")
    return every
