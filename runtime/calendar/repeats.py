"""Phrases for what comes again: intervals, which count from a start, and what goes by the clock, which becomes cron."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import time, timedelta
from typing import Final

from runtime.calendar.cron import DAYS_IN, Cron, cron_of
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.plans import WEEKDAYS, Every, Unit, When
from runtime.calendar.scene import DAY_NAMES, Scene, bounded, count_of, day_named, unit_of

MIDNIGHT: Final = time(0)
AND: Final = re.compile(r" ?(?:,|&|\band\b) ?| ")
ORDINAL: Final = re.compile(r"([0-9]{1,4})(?:st|nd|rd|th)?")


def interval(found: re.Match[str], scene: Scene) -> When:
    count = 2 if found["count"] == "other" else count_of(found["count"], scene)
    if (day := day_named(found["unit"])) is not None:
        if count != 2 or found["day"]:
            raise WhenError(
                f"{quoted(scene.words)} is not understood", f'"every {count} weeks on {WEEKDAYS[day]} at 9:00"'
            )
        return Every(2, Unit.WEEK, scene.time() if scene.times else MIDNIGHT, day)
    unit = unit_of(found["unit"], scene)
    bounded(count, unit, scene)
    if unit in (Unit.MINUTE, Unit.HOUR):
        scene.untimed('"every 2 hours", "every day at 9:00", or as cron "0 8-18/2 * * *"')
    on = _on(found["day"], unit, scene)
    return Every(count, unit, scene.time() if scene.times else (None if on is None else MIDNIGHT), on)


def _on(name: str | None, unit: Unit, scene: Scene) -> int | None:
    if name is None:
        return None
    day = day_named(name)
    if day is None or unit is not Unit.WEEK:
        raise WhenError(f"{quoted(scene.words)} is not understood", '"every 2 weeks on friday at 15:00"')
    return day


def uncounted(_: re.Match[str], scene: Scene) -> When:
    raise WhenError(f"{quoted(scene.words)} needs a whole number and a unit", '"every 5 minutes"')


def _cron(scene: Scene, *, day: str = "*", month: str = "*", weekday: str = "*") -> Cron:
    """At the times of day that were said, else at midnight. One expression has one minute for all its hours."""
    times = scene.times or [MIDNIGHT]
    if len({time.minute for time in times}) > 1:
        raise WhenError(f"{quoted(scene.words)}: times with different minutes are two schedules", '"daily at 9 and 17"')
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
        f"{quoted(scene.words)} could mean one {WEEKDAYS[day].title()} or every one",
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
    words = [word for word in AND.split(found["days"] or "1") if word not in ("", "the", "on")]
    days = [ORDINAL.fullmatch("1" if word == "first" else word) for word in words]
    numbers = sorted({int(day[1]) for day in days if day})
    if None in days or not numbers or not 1 <= numbers[0] <= numbers[-1] <= max(DAYS_IN):
        raise WhenError(
            f"{quoted(scene.words)} doesn't say which days of the month", '"monthly on the 1st and 15th at 10:00"'
        )
    return _cron(scene, day=",".join(str(number) for number in numbers))


def yearly(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene, day="1", month="1")


def yearly_on(found: re.Match[str], scene: Scene) -> When:
    return _cron(scene, day=found["day"], month=found["month"][:3])
