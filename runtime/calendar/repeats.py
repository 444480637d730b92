"""Phrases for what comes again: intervals, which count from a start, and what goes by the clock, which becomes cron."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import time, timedelta
from typing import Final

from runtime.calendar.cron import DAYS_IN, LAST_DAY, PLACES_MAX, Cron, cron_of
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.plans import WEEKDAYS, Every, Unit, When
from runtime.calendar.scene import DAY_NAMES, Scene, bounded, count_of, day_named, unit_of
from runtime.text.words import marked

MIDNIGHT: Final = time(0)
AND: Final = re.compile(r" ?(?:,|&|\band\b) ?| ")
ORDINAL: Final = re.compile(r"([0-9]{1,4})(?:st|nd|rd|th)?")
ORDINAL_WORDS: Final = ("first", "second", "third", "fourth", "fifth")
SMALL_WORDS: Final = frozenset(("", "the", "on", "every", "each"))


def interval(found: re.Match[str], scene: Scene) -> When:
    count = 2 if found["count"] == "other" else count_of(found["count"], scene)
    if (day := day_named(found["unit"])) is not None:
        if count != 2 or found["day"]:
            raise WhenError(
                marked("{words} is not understood").format(words=quoted(scene.words)),
                f'"every {count} weeks on {WEEKDAYS[day]} at 9:00"',
            )
        return Every(2, Unit.WEEK, scene.time() if scene.times else MIDNIGHT, day)
    unit = unit_of(found["unit"], scene)
    bounded(count, unit, scene)
    if unit in (Unit.MINUTE, Unit.HOUR):
        scene.untimed('"every 2 hours", "every day at 9:00", "0 8-18/2 * * *"')
    on = _on(found["day"], unit, scene)
    return Every(count, unit, scene.time() if scene.times else (None if on is None else MIDNIGHT), on)


def _on(name: str | None, unit: Unit, scene: Scene) -> int | None:
    if name is None:
        return None
    day = day_named(name)
    if day is None or unit is not Unit.WEEK:
        raise WhenError(
            marked("{words} is not understood").format(words=quoted(scene.words)), '"every 2 weeks on friday at 15:00"'
        )
    return day


def uncounted(_: re.Match[str], scene: Scene) -> When:
    raise WhenError(
        marked("{words} needs a whole number and a unit").format(words=quoted(scene.words)), '"every 5 minutes"'
    )


def _cron(scene: Scene, *, day: str = "*", month: str = "*", weekday: str = "*") -> Cron:
    """At the times of day that were said, else at midnight. One expression has one minute for all its hours."""
    times = scene.times or [MIDNIGHT]
    if len({time.minute for time in times}) > 1:
        raise WhenError(
            marked("{words}: times with different minutes are two schedules").format(words=quoted(scene.words)),
            '"daily at 9 and 17"',
        )
    hours = ",".join(str(time.hour) for time in times)
    return cron_of(f"{times[0].minute} {hours} {day} {month} {weekday}")


def minutely(_: re.Match[str], scene: Scene) -> When:
    scene.untimed('"every day at 9:00"')
    return cron_of("* * * * *")


def hourly(_: re.Match[str], scene: Scene) -> When:
    scene.untimed('"every day at 9:00"')
    return cron_of("@hourly")


def daily(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene)


def weekdays(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday="1-5")


def weekends(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday="0,6")


def weekly(found: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday=_days(found["days"] or "sunday"))


def on_days(found: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday=_days(found["days"] or found["plurals"]))


def one_day(found: re.Match[str], scene: Scene) -> When:
    day = DAY_NAMES[found["day"]]
    after = scene.wall + timedelta(days=(day - scene.wall.weekday()) % 7 or 7)
    raise WhenError(
        marked("{words} could mean one {day} or every one").format(
            words=quoted(scene.words), day=WEEKDAYS[day].title()
        ),
        f'"every {WEEKDAYS[day]} at 9:00", "{after:%Y-%m-%d} at 9:00"',
    )


def from_to(found: re.Match[str], scene: Scene) -> When:
    first, last = DAY_NAMES[found["first"].removesuffix("s")], DAY_NAMES[found["last"].removesuffix("s")]
    return _cron(scene, weekday=_numbered((first + step) % 7 for step in range((last - first) % 7 + 1)))


def _days(words: str) -> str:
    """Names of weekdays, and what stands between them, as cron has them."""
    days = (day_named(name) for name in AND.split(words.strip().removeprefix("on ")))
    return _numbered(day for day in days if day is not None)


def _numbered(days: Iterable[int]) -> str:
    """Weekdays as numbers, where Sunday is 0."""
    return ",".join(str(number) for number in sorted({(day + 1) % 7 for day in days}))


def monthly(found: re.Match[str], scene: Scene) -> When:
    words = [word for word in AND.split(found["days"] or "1") if word not in SMALL_WORDS]
    days, places = _of_month(words, scene)
    if places and days:
        raise WhenError(
            marked("{words}: weekdays and days of the month are two schedules").format(words=quoted(scene.words)),
            '"first monday of the month at 8:30"',
        )
    if places:
        return _cron(scene, weekday=",".join(places))
    return _cron(scene, day=",".join(days))


def _of_month(words: Sequence[str], scene: Scene) -> tuple[Sequence[str], Sequence[str]]:
    """Days of the month, and weekdays by their number in it, both as cron has them. Errors: WhenError."""
    days: list[str] = []
    places: list[str] = []
    numbers: list[str] = []
    for word in words:
        weekday = day_named(word)
        if (number := _number(word)) is not None:
            numbers.append(number)
        elif weekday is not None and numbers and len(set(numbers)) == len(numbers):
            places += [_place(weekday, number, scene) for number in numbers]
            numbers = []
        elif word in ("day", "days") and numbers:
            days += numbers
            numbers = []
        else:
            raise _no_days(scene)
    days += numbers
    if (not days and not places) or LAST_DAY in numbers or any(not _is_day(day) for day in days):
        raise _no_days(scene)
    return sorted(set(days), key=lambda day: (day == LAST_DAY, len(day), day)), list(dict.fromkeys(places))


def _number(word: str) -> str | None:
    """Digits of an ordinal, `L` for the last; None for another word."""
    if word == "last":
        return LAST_DAY
    if word in ORDINAL_WORDS:
        return str(ORDINAL_WORDS.index(word) + 1)
    found = ORDINAL.fullmatch(word)
    return str(int(found[1])) if found else None


def _place(weekday: int, number: str, scene: Scene) -> str:
    if number == LAST_DAY:
        return f"{(weekday + 1) % 7}{LAST_DAY}"
    if not 1 <= int(number) <= PLACES_MAX:
        raise WhenError(
            marked("{words}: no month has so many {day}s").format(
                words=quoted(scene.words), day=WEEKDAYS[weekday].title()
            ),
            '"first monday of the month at 8:30"',
        )
    return f"{(weekday + 1) % 7}#{number}"


def _is_day(day: str) -> bool:
    return day == LAST_DAY or 1 <= int(day) <= max(DAYS_IN)


def _no_days(scene: Scene) -> WhenError:
    return WhenError(
        marked("{words} doesn't say which days of the month").format(words=quoted(scene.words)),
        '"monthly on the 1st and 15th at 10:00", "first monday of the month at 8:30"',
    )


def yearly(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene, day="1", month="1")


def yearly_on(found: re.Match[str], scene: Scene) -> When:
    return _cron(scene, day=found["day"], month=found["month"][:3])
