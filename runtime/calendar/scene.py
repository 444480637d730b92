"""Surroundings of a phrase while it is understood, and words that many phrases share: numbers, units, days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.plans import INTERVAL_MAX, LENGTHS, WEEKDAYS, Unit
from runtime.calendar.zones import wall_of
from runtime.text.words import marked

NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
UNITS: Final = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), Unit.MINUTE),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), Unit.HOUR),
    **dict.fromkeys(("d", "day", "days"), Unit.DAY),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), Unit.WEEK),
}
DAY_NAMES: Final = {
    **{name: number for number, name in enumerate(WEEKDAYS)},
    **{name[:3]: number for number, name in enumerate(WEEKDAYS)},
    "tues": 1,
    "weds": 2,
    "thur": 3,
    "thurs": 3,
}


@dataclass(frozen=True, slots=True)
class Scene:
    """Place and time of a phrase, the whole of it, and the times of day in it."""

    zone: ZoneInfo
    now: datetime
    words: str
    times: Sequence[time]

    @property
    def wall(self) -> datetime:
        return wall_of(self.now, self.zone)

    def time(self) -> time:
        """The one time of day. Errors: WhenError when there is none, or several."""
        if len(self.times) != 1:
            fault = marked("{words} says several times of day") if self.times else marked("{words} says no time of day")
            raise WhenError(fault.format(words=quoted(self.words)), '"tomorrow at 14:30"')
        return self.times[0]

    def untimed(self, example: str) -> None:
        if self.times:
            raise WhenError(marked("{words} can't have a time of day").format(words=quoted(self.words)), example)


def count_of(word: str, scene: Scene) -> int:
    """A whole number of at least 1, in digits or as a word."""
    if word in ("a", "an"):
        return 1
    if word in NUMBERS:
        return NUMBERS.index(word) + 1
    if not re.fullmatch(r"[0-9]{1,7}", word) or int(word) < 1:
        raise WhenError(
            marked("{words}: {word} is not a whole number from 1 up").format(
                words=quoted(scene.words), word=quoted(word)
            ),
            '"every 5 minutes"',
        )
    return int(word)


def unit_of(word: str, scene: Scene) -> Unit:
    if word in UNITS:
        return UNITS[word]
    if word in ("s", "sec", "secs", "second", "seconds"):
        raise WhenError(
            marked("{words}: the smallest interval is 1 minute").format(words=quoted(scene.words)), '"every 2 minutes"'
        )
    if word in ("month", "months", "quarter", "quarters", "year", "years"):
        raise WhenError(
            marked("{words}: an interval can't be in months or years").format(words=quoted(scene.words)),
            '"0 9 1 */2 *" is every second month',
        )
    raise WhenError(marked("{word} isn't minutes, hours, days or weeks").format(word=quoted(word)), '"every 2 hours"')


def bounded(count: int, unit: Unit, scene: Scene) -> timedelta:
    if count > INTERVAL_MAX / LENGTHS[unit]:
        raise WhenError(
            marked("{words} is longer than ten years").format(words=quoted(scene.words)),
            '"every 2 weeks", "2040-12-24 at 18:00"',
        )
    return count * LENGTHS[unit]


def day_named(word: str) -> int | None:
    return DAY_NAMES.get(word, DAY_NAMES.get(word.removesuffix("s")))
