"""Plans in words for people: "every weekday at 09:00 (Europe/Berlin)"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from runtime.calendar.cron import LAST_PLACE, Cron, Values, values_of
from runtime.calendar.plans import MONTH_NAMES, WEEKDAYS, At, Every, Planned
from runtime.calendar.zones import wall_of, zone_named

MONTHS: Final = tuple(name.title() for name in MONTH_NAMES)
DAYS: Final = tuple(name.title() for name in (WEEKDAYS[-1], *WEEKDAYS[:-1]))
TIMES_LISTED: Final = 6
"""Times or days that are listed; more of them are easier read as the expression."""
HOUR: Final = range(60)
PLACE_WORDS: Final = ("last", "first", "second", "third", "fourth", "fifth")
"""By the number of a weekday in its month; `LAST_PLACE` comes first."""
SHORT_MONTH: Final = 28
"""Days that each month has."""


def in_words(planned: Planned) -> str:
    """One line. What has no short words is told as the expression itself."""
    zone = f" ({planned.zone})"
    match planned.when:
        case Cron() as cron:
            return (_cron(cron) or f'by "{cron}"') + zone
        case Every() as every:
            return _every(every) + (zone if every.on_the_wall else "")
        case At(instant):
            return f"once, on {_date(wall_of(instant, zone_named(planned.zone)))}{zone}"


def _every(every: Every) -> str:
    if every.count == 1:
        return str(every).replace("every 1 ", "every ", 1)
    return str(every) if every.weekday is None else str(every).replace(WEEKDAYS[every.weekday], _weekday(every), 1)


def _weekday(every: Every) -> str:
    return WEEKDAYS[every.weekday or 0].title()


def _date(wall: datetime) -> str:
    seconds = f":{wall.second:02}" if wall.second else ""
    return (
        f"{WEEKDAYS[wall.weekday()].title()} {wall.day} {MONTHS[wall.month - 1]} {wall.year} at {wall:%H:%M}{seconds}"
    )


def _cron(cron: Cron) -> str:
    """Days and times; empty where either has no short words."""
    values = values_of(cron)
    days, times = _days(cron, values), _times(cron, values)
    if not days or not times:
        return ""
    if times.startswith("every"):
        return times if days == "every day" else f"{times}, {days}"
    return f"{days} {times}"


def _times(cron: Cron, values: Values) -> str:
    if cron.hour != "*":
        clocks = [f"{hour:02}:{minute:02}" for hour in sorted(values.hours) for minute in sorted(values.minutes)]
        return f"at {_and(clocks)}" if len(clocks) <= TIMES_LISTED else ""
    if len(values.minutes) == len(HOUR):
        return "every minute"
    first, *others = sorted(values.minutes)
    step = others[0] - first if others else len(HOUR)
    if values.minutes == frozenset(HOUR[::step]) and len(HOUR) % step == 0:
        return f"every {step} minutes by the clock" if others else "every hour"
    if len(values.minutes) > TIMES_LISTED:
        return ""
    return f"every hour at :{_and([f'{minute:02}' for minute in (first, *others)], ':')}"


def _days(cron: Cron, values: Values) -> str:
    """Days in words: of the week, of the month, or either."""
    if values.places:
        months = _months(cron, values)
        return months and f"on the {_places(values)} of {months}"
    if cron.day == "*" and cron.month == "*":
        return _of_week(values)
    months = _months(cron, values)
    if cron.weekday == "*":
        return _of_month(cron, values, months)
    if not values.either or not months or len(values.days) > TIMES_LISTED:
        return ""
    if cron.month == "*":
        return f"on the {_ordinals(values)} of every month and {_of_week(values)}"
    return f"on the {_ordinals(values)} and {_of_week(values)} of {months}"


def _of_week(values: Values) -> str:
    match sorted(values.weekdays):
        case [0, 1, 2, 3, 4, 5, 6]:
            return "every day"
        case [1, 2, 3, 4, 5]:
            return "every weekday"
        case [0, 6]:
            return "every weekend day"
        case numbers:
            return f"every {_and(DAYS[day] for day in sorted(numbers, key=lambda day: (day - 1) % 7))}"


def _months(cron: Cron, values: Values) -> str:
    if cron.month == "*":
        return "every month"
    return _and(MONTHS[month - 1] for month in sorted(values.months)) if len(values.months) <= TIMES_LISTED else ""


def _of_month(cron: Cron, values: Values, months: str) -> str:
    if not months or (cron.day != "*" and len(values.days) > TIMES_LISTED):
        return ""
    if cron.day == "*":
        return f"every day of {months}"
    longest = max(values.days, default=0)
    left_out = " (months without it are left out)" if longest > SHORT_MONTH and cron.month == "*" else ""
    return f"on the {_ordinals(values)} of {months}{left_out}"


def _ordinals(values: Values) -> str:
    return _and([*map(_ordinal, sorted(values.days)), *(["last day"] if values.last_day else [])])


def _places(values: Values) -> str:
    """Weekdays by their number in the month, the last ones last."""
    ordered = sorted(values.places, key=lambda place: (place[1] == LAST_PLACE, place[1], (place[0] - 1) % 7))
    return _and(f"{PLACE_WORDS[number]} {DAYS[weekday]}" for weekday, number in ordered)


def _ordinal(day: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day not in (11, 12, 13) else "th"
    return f"{day}{ending}"


def _and(words: Iterable[str], before: str = "") -> str:
    *most, last = words
    joined: Sequence[str] = [most[0], *(before + word for word in most[1:])] if most else []
    return f"{', '.join(joined)} and {before}{last}" if joined else last
