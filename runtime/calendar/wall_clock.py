"""The next time on the wall that a cron expression names. APScheduler's CronTrigger finds it, for a clock never set.

What it does otherwise than cron is kept away from it: it is given weekdays by name, since it counts from Monday; days
that may be of either kind are two triggers; its UTC is the wall of whatever zone, since in a zone with daylight saving
it leaves firings out. It is loaded when first asked, as it costs 25 MB.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from runtime.calendar.cron import LAST_PLACE, WEEKDAYS, Cron, Values, values_of

ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th")

if TYPE_CHECKING:
    from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]  # it ships no types


def next_wall(cron: Cron, start: datetime) -> datetime | None:
    """The first time on the wall, not before `start`, that `cron` names; None beyond the last year there is."""
    begins = start.replace(tzinfo=UTC)
    found = [trigger.get_next_fire_time(None, begins) for trigger in _triggers(cron)]
    return min((at.replace(tzinfo=None) for at in found if at), default=None)


@lru_cache(maxsize=4096)
def _triggers(cron: Cron) -> tuple[CronTrigger, ...]:
    from apscheduler.triggers.cron import CronTrigger

    values = values_of(cron)
    times = {
        "minute": _listed(values.minutes, 60),
        "hour": _listed(values.hours, 24),
        "month": _listed(values.months, 12),
        "timezone": UTC,
    }
    if values.places:
        return (CronTrigger(**times, day=",".join(_place(*place) for place in sorted(values.places))),)
    day = _days(values)
    weekday = ",".join(WEEKDAYS[number] for number in sorted(values.weekdays))
    if not values.either:
        return (CronTrigger(**times, day=day, day_of_week=weekday if len(values.weekdays) < len(WEEKDAYS) else "*"),)
    return CronTrigger(**times, day=day), CronTrigger(**times, day_of_week=weekday)


def _days(values: Values) -> str:
    if not values.last_day:
        return _listed(values.days, 31)
    return ",".join([*(str(day) for day in sorted(values.days)), "last"])


def _place(weekday: int, number: int) -> str:
    """A weekday of a month as the library names it, such as "2nd mon"."""
    return f"{'last' if number == LAST_PLACE else ORDINALS[number - 1]} {WEEKDAYS[weekday]}"


def _listed(numbers: frozenset[int], all_of_them: int) -> str:
    """A list, since steps are refused there that cron knows; a long list takes eight times as long as `*`."""
    return "*" if len(numbers) == all_of_them else ",".join(str(number) for number in sorted(numbers))
