"""Plans in words for people: "every weekday at 09:00 (Europe/Berlin)"; for people of another language with their `say`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from runtime.calendar.cron import LAST_PLACE, Cron, Values, values_of
from runtime.calendar.plans import At, Every, Planned, Unit
from runtime.calendar.zones import wall_of, zone_named
from runtime.text.words import Say, marked, plainly

MONTHS: Final = (
    marked("January"),
    marked("February"),
    marked("March"),
    marked("April"),
    marked("May"),
    marked("June"),
    marked("July"),
    marked("August"),
    marked("September"),
    marked("October"),
    marked("November"),
    marked("December"),
)
DAYS: Final = (
    marked("Sunday"),
    marked("Monday"),
    marked("Tuesday"),
    marked("Wednesday"),
    marked("Thursday"),
    marked("Friday"),
    marked("Saturday"),
)
TIMES_LISTED: Final = 6
"""Times or days that are listed; more of them are easier read as the expression."""
HOUR: Final = range(60)
PLACE_WORDS: Final = (
    marked("last {day}"),
    marked("first {day}"),
    marked("second {day}"),
    marked("third {day}"),
    marked("fourth {day}"),
    marked("fifth {day}"),
)
"""By the number of a weekday in its month; `LAST_PLACE` comes first."""
SHORT_MONTH: Final = 28
"""Days that each month has."""
EACH_UNIT: Final = {
    Unit.MINUTE: (marked("every minute"), marked("every {number} minutes")),
    Unit.HOUR: (marked("every hour"), marked("every {number} hours")),
    Unit.DAY: (marked("every day"), marked("every {number} days")),
    Unit.WEEK: (marked("every week"), marked("every {number} weeks")),
}


def in_words(planned: Planned, say: Say = plainly) -> str:
    """One line. What has no short words is told as the expression itself. `say` is that of whoever reads it."""
    zone = f" ({planned.zone})"
    match planned.when:
        case Cron() as cron:
            return (_cron(cron, say) or say('by "{expression}"', expression=cron)) + zone
        case Every() as every:
            return _every(every, say) + (zone if every.on_the_wall else "")
        case At(instant):
            return say("once, on {date}", date=_date(wall_of(instant, zone_named(planned.zone)), say)) + zone


def _every(every: Every, say: Say) -> str:
    one, many = EACH_UNIT[every.unit]
    told = say(one) if every.count == 1 else say(many, number=every.count)
    if every.weekday is not None:
        told = say("{often} on {day}", often=told, day=say(DAYS[(every.weekday + 1) % 7]))
    return say("{days} at {times}", days=told, times=f"{every.at:%H:%M}") if every.at else told


def _date(wall: datetime, say: Say) -> str:
    return say(
        "{weekday} {day} {month} {year} at {time}",
        weekday=say(DAYS[wall.isoweekday() % 7]),
        day=wall.day,
        month=say(MONTHS[wall.month - 1]),
        year=wall.year,
        time=f"{wall:%H:%M}{f':{wall.second:02}' if wall.second else ''}",
    )


def _cron(cron: Cron, say: Say) -> str:
    """Days and times; empty where either has no short words."""
    values = values_of(cron)
    days, (times, is_often) = _days(cron, values, say), _times(cron, values, say)
    if not days or not times:
        return ""
    if not is_often:
        return say("{days} at {times}", days=days, times=times)
    return times if days == say("every day") else f"{times}, {days}"


def _times(cron: Cron, values: Values, say: Say) -> tuple[str, bool]:
    """The times of a day; or, with True, how often within each of its hours."""
    if cron.hour != "*":
        clocks = [f"{hour:02}:{minute:02}" for hour in sorted(values.hours) for minute in sorted(values.minutes)]
        return _and(clocks, say) if len(clocks) <= TIMES_LISTED else "", False
    if len(values.minutes) == len(HOUR):
        return say("every minute"), True
    first, *others = sorted(values.minutes)
    step = others[0] - first if others else len(HOUR)
    if values.minutes == frozenset(HOUR[::step]) and len(HOUR) % step == 0:
        return say("every {number} minutes by the clock", number=step) if others else say("every hour"), True
    if len(values.minutes) > TIMES_LISTED:
        return "", True
    return say("every hour at {minutes}", minutes=_and([f":{minute:02}" for minute in (first, *others)], say)), True


def _days(cron: Cron, values: Values, say: Say) -> str:
    """Days in words: of the week, of the month, or either."""
    if values.places:
        return _of_months(_places(values, say), cron, values, say)
    if cron.day == "*" and cron.month == "*":
        return _of_week(values, say)
    if cron.weekday == "*":
        return _of_month(cron, values, say)
    if not values.either or not _months(cron, values, say) or len(values.days) > TIMES_LISTED:
        return ""
    if cron.month == "*":
        month_days = say("on the {days} of every month", days=_ordinals(values, say))
        return say("{month_days} and {weekdays}", month_days=month_days, weekdays=_of_week(values, say))
    days = say("{month_days} and {weekdays}", month_days=_ordinals(values, say), weekdays=_of_week(values, say))
    return _of_months(days, cron, values, say)


def _of_week(values: Values, say: Say) -> str:
    match sorted(values.weekdays):
        case [0, 1, 2, 3, 4, 5, 6]:
            return say("every day")
        case [1, 2, 3, 4, 5]:
            return say("every weekday")
        case [0, 6]:
            return say("every weekend day")
        case numbers:
            days = (say(DAYS[day]) for day in sorted(numbers, key=lambda day: (day - 1) % 7))
            return say("every {days}", days=_and(days, say))


def _months(cron: Cron, values: Values, say: Say) -> str:
    """The months by name; empty where they are too many."""
    if cron.month == "*":
        return say("every month")
    named = (say(MONTHS[month - 1]) for month in sorted(values.months))
    return _and(named, say) if len(values.months) <= TIMES_LISTED else ""


def _of_months(days: str, cron: Cron, values: Values, say: Say) -> str:
    if cron.month == "*":
        return say("on the {days} of every month", days=days)
    months = _months(cron, values, say)
    return months and say("on the {days} of {months}", days=days, months=months)


def _of_month(cron: Cron, values: Values, say: Say) -> str:
    months = _months(cron, values, say)
    if not months or (cron.day != "*" and len(values.days) > TIMES_LISTED):
        return ""
    if cron.day == "*":
        return say("every day of {months}", months=months)
    told, longest = _of_months(_ordinals(values, say), cron, values, say), max(values.days, default=0)
    if longest > SHORT_MONTH and cron.month == "*":
        return say("{days} (months without it are left out)", days=told)
    return told


def _ordinals(values: Values, say: Say) -> str:
    last = [say("last day")] if values.last_day else []
    return _and([*(_ordinal(day, say) for day in sorted(values.days)), *last], say)


def _places(values: Values, say: Say) -> str:
    """Weekdays by their number in the month, the last ones last."""
    ordered = sorted(values.places, key=lambda place: (place[1] == LAST_PLACE, place[1], (place[0] - 1) % 7))
    return _and((say(PLACE_WORDS[number], day=say(DAYS[weekday])) for weekday, number in ordered), say)


def _ordinal(day: int, say: Say) -> str:
    if day in (11, 12, 13):
        return say("{day}th", day=day)
    match day % 10:
        case 1:
            return say("{day}st", day=day)
        case 2:
            return say("{day}nd", day=day)
        case 3:
            return say("{day}rd", day=day)
        case _:
            return say("{day}th", day=day)


def _and(words: Iterable[str], say: Say) -> str:
    *most, last = words
    return say("{names} and {last}", names=", ".join(most), last=last) if most else last
