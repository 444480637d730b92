"""Days and dates in the language of now, in short: for pages and reports, which have no clock of their reader's."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from runtime.text.words import Say, marked, say

SHORT_DAYS: Final = (
    marked("Mon"),
    marked("Tue"),
    marked("Wed"),
    marked("Thu"),
    marked("Fri"),
    marked("Sat"),
    marked("Sun"),
)
SHORT_MONTHS: Final = (
    marked("Jan"),
    marked("Feb"),
    marked("Mar"),
    marked("Apr"),
    marked("May"),
    marked("Jun"),
    marked("Jul"),
    marked("Aug"),
    marked("Sep"),
    marked("Oct"),
    marked("Nov"),
    marked("Dec"),
)


def weekday(day: date, say: Say = say) -> str:
    return say(SHORT_DAYS[day.weekday()])


def short_date(day: date) -> str:
    """A day of a year that everybody knows.

    >>> short_date(date(2026, 3, 5))
    'Thu 05 Mar'
    """
    return say("{weekday} {day} {month}", weekday=weekday(day), day=f"{day:%d}", month=_month(day, say))


def whole_date(at: datetime, say: Say = say) -> str:
    """A day and its time, by whatever clocks `at` has.

    >>> whole_date(datetime(2026, 3, 5, 9, 30))
    'Thu 05 Mar 2026, 09:30'
    """
    return say(
        "{weekday} {day} {month} {year}, {time}",
        weekday=weekday(at, say),
        day=f"{at:%d}",
        month=_month(at, say),
        year=at.year,
        time=f"{at:%H:%M}",
    )


def _month(day: date, say: Say) -> str:
    return say(SHORT_MONTHS[day.month - 1])
