"""Cron expressions of five fields, as POSIX has them, and with what every cron adds: names, steps and @daily.

A field that begins with `*` leaves its days open, also `*/2`: that is cron's own rule. Where both day fields name days,
either will do; where one is open, both must hold. So `0 9 1 * 1` is each first of a month and each Monday, and
`0 9 */2 * 1` is the Mondays with an odd date.

Beside that, `L` is the last day of a month, `1#2` its second Monday and `5L` its last Friday, as many crons have them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from runtime.calendar.errors import WhenError, quoted
from runtime.text.words import marked

CRON_EXAMPLE: Final = '"0 9 * * 1-5" is 09:00 on weekdays'
SUNDAY: Final = 7
"""Also 0; as the end of a range only this one can be meant."""
DAYS_IN: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
NICKNAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
ITEM: Final = re.compile(
    r"(?:(?P<star>\*)|(?P<first>[0-9]{1,4}|[a-z]{3})(?:-(?P<last>[0-9]{1,4}|[a-z]{3}))?)(?:/(?P<step>[0-9]{1,4}))?"
)
LAST_DAY: Final = "L"
LAST_PLACE: Final = 0
PLACE_ITEM: Final = re.compile(r"(?P<day>[0-9]|[a-z]{3})(?:#(?P<number>[0-9]+)|l)")
PLACES_MAX: Final = 5
"""No weekday comes oftener in a month."""


@dataclass(frozen=True, slots=True)
class Cron:
    """An expression as it was understood: names are numbers. Made by `cron_of`, which checks it."""

    minute: str
    hour: str
    day: str
    month: str
    weekday: str

    def __str__(self) -> str:
        return " ".join((self.minute, self.hour, self.day, self.month, self.weekday))


@dataclass(frozen=True, slots=True)
class Values:
    """Values that the fields of an expression stand for. Weekdays count from Sunday, which is 0.

    `places` are weekdays of a month by their number, such as (1, 2) for its second Monday; `LAST_PLACE` is the last one.
    `last_day`: the last day of a month is one of its days. `every_hour`: the hours are a pattern (`*`, a step, all of them) and not times that somebody chose.
    `either`: a day need be in one of `days` and `weekdays` only.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    every_hour: bool
    either: bool
    places: frozenset[tuple[int, int]] = frozenset()
    last_day: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One of the five: its bounds, and an expression of which it is a part."""

    name: str
    low: int
    high: int
    example: str
    names: Mapping[str, int] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The last value of `*`: a week has one Sunday."""
        return 6 if self.names and self.low == 0 else self.high


FIELDS: Final = (
    Field("minute", 0, 59, '"*/15 * * * *"'),
    Field("hour", 0, 23, '"0 8-18/2 * * *"'),
    Field(marked("day of the month"), 1, 31, '"0 9 1,15 * *"'),
    Field("month", 1, 12, '"0 9 1 jan-jun *"', {name: number for number, name in enumerate(MONTHS, 1)}),
    Field(marked("day of the week"), 0, 7, '"0 9 * * mon-fri"', {name: number for number, name in enumerate(WEEKDAYS)}),
)


def is_cron(text: str) -> bool:
    """True if `text` is meant as an expression, right or wrong, rather than as a phrase."""
    begins = text.split()[:2]
    numbers = [word for word in begins if re.fullmatch(r"[0-9,/?-]+", word) and not re.match(r"[0-9]{4}-", word)]
    return text.lstrip().startswith("@") or "*" in text or len(numbers) > 1


def cron_of(text: str) -> Cron:
    """Understand an expression.

    Errors: WhenError when it is wrong, or names dates that no year has.
    """
    words = text.casefold().split()
    if words and words[0].startswith("@"):
        words = _nickname(words)
    if len(words) != len(FIELDS):
        raise WhenError(_miscounted(text, len(words)), CRON_EXAMPLE)
    cron = Cron(*(_written(field, word) for field, word in zip(FIELDS, words, strict=True)))
    _refuse_mixed(cron)
    _refuse_impossible(cron)
    return cron


@lru_cache(maxsize=4096)
def values_of(cron: Cron) -> Values:
    minutes, hours, days, months, weekdays = (
        frozenset(value for item in text.split(",") if not _is_of_month(item) for value in _span(field, item))
        for field, text in zip(FIELDS, (cron.minute, cron.hour, cron.day, cron.month, cron.weekday), strict=True)
    )
    every_hour = "*" in cron.hour or "/" in cron.hour or len(hours) == FIELDS[1].high + 1
    either = not (cron.day.startswith("*") or cron.weekday.startswith("*"))
    places = frozenset(_place(item) for item in cron.weekday.split(",") if _is_of_month(item))
    is_last = LAST_DAY in cron.day.split(",")
    return Values(
        minutes, hours, days, months, frozenset(day % 7 for day in weekdays), every_hour, either, places, is_last
    )


def _is_of_month(item: str) -> bool:
    """True for what depends on the month: its last day, or a weekday by its number in it."""
    return "#" in item or item.endswith(LAST_DAY)


def _place(item: str) -> tuple[int, int]:
    day, _, number = item.removesuffix(LAST_DAY).partition("#")
    return int(day) % 7, int(number or LAST_PLACE)


def _nickname(words: Sequence[str]) -> list[str]:
    if words[0] == "@reboot":
        raise WhenError(marked("@reboot isn't a time: nothing here runs because a machine starts"), "@daily")
    if len(words) > 1 or words[0] not in NICKNAMES:
        raise WhenError(
            marked("{words} isn't one of {nicknames}").format(
                words=quoted(" ".join(words)), nicknames=", ".join(NICKNAMES)
            ),
            "@daily",
        )
    return NICKNAMES[words[0]].split()


def _miscounted(text: str, count: int) -> str:
    if count == len(FIELDS) + 1:
        return f"{quoted(text)} has 6 fields, but cron has 5: seconds aren't supported"
    fields = "1 field" if count == 1 else f"{count} fields"
    return f"{quoted(text)} has {fields}, but cron has 5: minute, hour, day of the month, month, day of the week"


def _written(field: Field, word: str) -> str:
    """The field with numbers for names, once it is known to be right."""
    return ",".join(_item(field, word, item) for item in word.split(","))


def _item(field: Field, word: str, item: str) -> str:
    if field.low == 1 and field.high == max(DAYS_IN) and item == LAST_DAY.lower():
        return LAST_DAY
    if field.names and field.low == 0 and (place := PLACE_ITEM.fullmatch(item)):
        return _written_place(field, item, place)
    found = ITEM.fullmatch(item)
    if not found:
        reason = (
            marked("an item of {word} is empty").format(word=quoted(word))
            if not item
            else marked("{item} is not understood").format(item=quoted(item))
        )
        raise _refused(field, reason)
    step = _step(field, item, found["step"])
    if found["star"]:
        return f"*{step}"
    first = _number(field, found["first"])
    if found["last"] is None:
        if step:
            raise _refused(field, f"{quoted(item)} has a step but no range; {first}-{field.last}{step} has both")
        return str(first)
    last = _number(field, found["last"]) or (SUNDAY if field.last != field.high and first else 0)
    if last < first:
        raise _refused(field, f"the range {quoted(item)} runs backwards")
    return f"{first}-{last}{step}"


def _written_place(field: Field, item: str, found: re.Match[str]) -> str:
    day = _number(field, found["day"]) % 7
    if found["number"] is None:
        return f"{day}{LAST_DAY}"
    if not 1 <= int(found["number"]) <= PLACES_MAX:
        raise _refused(field, f"{quoted(item)}: a month has no such week; 1 to {PLACES_MAX} may stand behind #")
    return f"{day}#{int(found['number'])}"


def _number(field: Field, word: str) -> int:
    if not word.isdigit():
        if word not in field.names:
            raise _refused(field, f"{quoted(word)} is not understood")
        return field.names[word]
    if not field.low <= int(word) <= field.high:
        raise _refused(field, f"{int(word)} is not between {field.low} and {field.high}")
    return int(word)


def _step(field: Field, item: str, word: str | None) -> str:
    if word is None:
        return ""
    most = field.last - field.low
    if not 1 <= int(word) <= most:
        raise _refused(field, f"the step of {quoted(item)} is not between 1 and {most}")
    return f"/{int(word)}"


def _refused(field: Field, reason: str) -> WhenError:
    return WhenError(f"{field.name.capitalize()}: {reason}", field.example)


def _span(field: Field, item: str) -> range:
    """The values of an item that is right."""
    span, _, step = item.partition("/")
    first, _, last = (f"{field.low}-{field.last}" if span == "*" else span).partition("-")
    return range(int(first), int(last or first) + 1, int(step or 1))


def _refuse_mixed(cron: Cron) -> None:
    """Weekdays of a month by their number stand for themselves alone: beside other days, each cron reads them otherwise."""
    items = cron.weekday.split(",")
    if any(map(_is_of_month, items)) and (cron.day != "*" or not all(map(_is_of_month, items))):
        raise WhenError(
            marked("{cron}: a weekday with # or L can't stand beside other days").format(cron=quoted(str(cron))),
            '"0 9 * * 1#1" is 09:00 on the first Monday of each month',
        )


def _refuse_impossible(cron: Cron) -> None:
    """A date that no year has; 29 February is one that some have."""
    values = values_of(cron)
    if values.last_day or values.places:
        return
    if not values.either and not any(day <= DAYS_IN[month - 1] for day in values.days for month in values.months):
        raise WhenError(
            marked("No year has day {day} of month {month}, so {cron} never comes").format(
                day=cron.day, month=cron.month, cron=quoted(str(cron))
            ),
            '"0 9 28 2 *" is 28 February, "0 9 1 3 *" the first of March',
        )
