"""Times in plain English: "every weekday at 9:30", "every 2 hours", "tomorrow at 14:30 in Berlin".

A phrase is cut into what and when: the times of day first, then what is left is looked up in `RULES`. What could mean
two things is refused with both of them written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from runtime.calendar.clocks import cut_out
from runtime.calendar.cron import DAYS_IN, MONTHS, Cron, cron_of
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.plans import LENGTHS, LONGEST, WEEKDAYS, At, Every, Unit, When
from runtime.calendar.zones import LAST, instant_of, wall_of

EXAMPLE: Final = '"every weekday at 9:30", "every 2 hours", "tomorrow at 14:30", or as cron "30 9 * * 1-5"'
MIDNIGHT: Final = time(0)
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
DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
AND: Final = re.compile(r" ?(?:,|&|\band\b) ?| ")
ORDINAL: Final = re.compile(r"([0-9]{1,4})(?:st|nd|rd|th)?")
LAST_DAY: Final = re.compile(r"\blast (?:working )?(?:day|weekday|[a-z]+day)\b")


@dataclass(frozen=True, slots=True)
class Scene:
    """Where and when a phrase is said, the whole of it, and the times of day in it."""

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
            fault = "says no time of day" if not self.times else "says several times of day"
            raise WhenError(f"{quoted(self.words)} {fault}", '"tomorrow at 14:30"')
        return self.times[0]

    def untimed(self, example: str) -> None:
        if self.times:
            raise WhenError(f"{quoted(self.words)} has a time of day, which does not go with that", example)


def normal(text: str) -> str:
    """One way to write a phrase: small letters, single blanks, no full stop."""
    return " ".join(text.casefold().split()).rstrip(".!").rstrip()


def when_of(words: str, *, zone: ZoneInfo, now: datetime) -> When:
    """Understand a phrase that is `normal` and names no zone.

    Errors: WhenError when it is not understood, means two things, or is past.
    """
    if LAST_DAY.search(words):
        raise WhenError(f"{quoted(words)}: the last day of a month cannot be said", '"monthly on the 28th at 18:00"')
    if at := _iso(words, zone, now):
        return at
    what, times = cut_out(words)
    scene = Scene(zone, now, words, times)
    for pattern, make in RULES:
        if found := pattern.fullmatch(what):
            return make(found, scene)
    raise WhenError(f"{quoted(words)} is not understood", EXAMPLE)


# ------------------------------------------------------------------------------------------------------------- once


def _iso(words: str, zone: ZoneInfo, now: datetime) -> At | None:
    """An instant as programs write it, with or without what it is ahead of UTC."""
    found = re.fullmatch(rf"(?:at |on )?({DATE}[t ][0-9]{{2}}:[0-9]{{2}}.*)", words)
    if not found:
        return None
    try:
        said = datetime.fromisoformat(found[1].upper())
        at = said.astimezone(UTC) if said.tzinfo else instant_of(said, zone)
    except (ValueError, OverflowError) as error:
        raise WhenError(f"{quoted(words)} is not a date and time", '"2026-12-24T18:00"') from error
    return _ahead(at, words, zone, now)


def _ahead(at: datetime, words: str, zone: ZoneInfo, now: datetime) -> At:
    if at >= LAST:
        raise WhenError(f"{quoted(words)} is not in this calendar", '"2026-12-24 at 18:00"')
    if at <= now:
        shown = f"{wall_of(now, zone):%Y-%m-%d %H:%M} in {zone.key}"
        raise WhenError(f"{quoted(words)} is past: it is {shown}", '"tomorrow at 14:30"')
    return At(at)


def _next(_: re.Match[str], scene: Scene) -> When:
    today = datetime.combine(scene.wall, scene.time())
    at = instant_of(today, scene.zone)
    return At(at if at > scene.now else instant_of(today + timedelta(days=1), scene.zone))


def _today(found: re.Match[str], scene: Scene) -> When:
    day = scene.wall.date() + timedelta(days=1 if found[1] == "tomorrow" else 0)
    return _once(day, scene)


def _on_date(found: re.Match[str], scene: Scene) -> When:
    try:
        day = date.fromisoformat(found[1])
    except ValueError as error:
        raise WhenError(f"{quoted(found[1])} is not a date", '"2026-12-24 at 18:00"') from error
    return _once(day, scene)


def _once(day: date, scene: Scene) -> When:
    try:
        at = instant_of(datetime.combine(day, scene.time()), scene.zone)
    except OverflowError as error:
        raise WhenError(f"{quoted(scene.words)} is not in this calendar", '"2026-12-24 at 18:00"') from error
    return _ahead(at, scene.words, scene.zone, scene.now)


def _in(found: re.Match[str], scene: Scene) -> When:
    """In so and so long. Days and weeks keep the time on the wall, or are given one."""
    unit, count = _unit(found["unit"], scene), _count(found["count"], scene)
    length = _bounded(count, unit, scene)
    if unit in (Unit.DAY, Unit.WEEK):
        wall = scene.wall.replace(microsecond=0) + length
        wall = datetime.combine(wall, scene.time()) if scene.times else wall
        return _ahead(instant_of(wall, scene.zone), scene.words, scene.zone, scene.now)
    scene.untimed('"in 20 minutes" or "at 14:30"')
    return At(scene.now.astimezone(UTC).replace(microsecond=0) + length)


# --------------------------------------------------------------------------------------------------------- intervals


def _every(found: re.Match[str], scene: Scene) -> When:
    count = 2 if found["count"] == "other" else _count(found["count"], scene)
    if (day := _day_name(found["unit"])) is not None:
        if count != 2 or found["day"]:
            raise WhenError(
                f"{quoted(scene.words)} is not understood", f'"every {count} weeks on {WEEKDAYS[day]} at 9:00"'
            )
        return Every(2, Unit.WEEK, scene.time() if scene.times else MIDNIGHT, day)
    unit = _unit(found["unit"], scene)
    _bounded(count, unit, scene)
    if unit in (Unit.MINUTE, Unit.HOUR):
        scene.untimed('"every 2 hours", "every day at 9:00", or as cron "0 8-18/2 * * *"')
    on = _on(found["day"], unit, scene)
    return Every(count, unit, scene.time() if scene.times else (None if on is None else MIDNIGHT), on)


def _on(name: str | None, unit: Unit, scene: Scene) -> int | None:
    if name is None:
        return None
    day = _day_name(name)
    if day is None or unit is not Unit.WEEK:
        raise WhenError(f"{quoted(scene.words)} is not understood", '"every 2 weeks on friday at 15:00"')
    return day


def _count(word: str, scene: Scene) -> int:
    """A whole number of at least 1, in digits or as a word."""
    if word in ("a", "an"):
        return 1
    if word in NUMBERS:
        return NUMBERS.index(word) + 1
    if not re.fullmatch(r"[0-9]{1,7}", word) or int(word) < 1:
        raise WhenError(f"{quoted(scene.words)}: {quoted(word)} is not a whole number from 1 up", '"every 5 minutes"')
    return int(word)


def _unit(word: str, scene: Scene) -> Unit:
    if word in UNITS:
        return UNITS[word]
    if word in ("s", "sec", "secs", "second", "seconds"):
        raise WhenError(f"{quoted(scene.words)}: the smallest interval is 1 minute", '"every 2 minutes"')
    if word in ("month", "months", "quarter", "quarters", "year", "years"):
        raise WhenError(
            f"{quoted(scene.words)}: months and years are not counted", '"0 9 1 */2 *" is every second month'
        )
    raise WhenError(f"{quoted(word)} is none of minutes, hours, days and weeks", '"every 2 hours"')


def _bounded(count: int, unit: Unit, scene: Scene) -> timedelta:
    if count > LONGEST / LENGTHS[unit]:
        raise WhenError(f"{quoted(scene.words)} is longer than ten years", '"every 2 weeks", "2040-12-24 at 18:00"')
    return count * LENGTHS[unit]


def _uncounted(_: re.Match[str], scene: Scene) -> When:
    raise WhenError(f"{quoted(scene.words)} needs a whole number and what is counted", '"every 5 minutes"')


# ---------------------------------------------------------------------------------------------------- by the calendar


def _cron(scene: Scene, *, day: str = "*", month: str = "*", weekday: str = "*") -> Cron:
    """At the times of day that were said, else at midnight. One expression has one minute for all its hours."""
    times = scene.times or [MIDNIGHT]
    if len({time.minute for time in times}) > 1:
        raise WhenError(f"{quoted(scene.words)}: times with different minutes are two schedules", '"daily at 9 and 17"')
    hours = ",".join(str(time.hour) for time in times)
    return cron_of(f"{times[0].minute} {hours} {day} {month} {weekday}")


def _minutely(_: re.Match[str], scene: Scene) -> When:
    scene.untimed('"every day at 9:00"')
    return cron_of("* * * * *")


def _hourly(_: re.Match[str], scene: Scene) -> When:
    scene.untimed('"every day at 9:00"')
    return cron_of("@hourly")


def _daily(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene)


def _weekdays(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday="1-5")


def _weekends(_: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday="0,6")


def _weekly(found: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday=_days(found["days"] or "sunday", scene))


def _on_days(found: re.Match[str], scene: Scene) -> When:
    return _cron(scene, weekday=_days(found["days"] or found["plurals"], scene))


def _one_day(found: re.Match[str], scene: Scene) -> When:
    day = DAY_NAMES[found["day"]]
    after = scene.wall + timedelta(days=(day - scene.wall.weekday()) % 7 or 7)
    raise WhenError(
        f"{quoted(scene.words)} may be one {WEEKDAYS[day].title()} or each",
        f'"every {WEEKDAYS[day]} at 9:00", "{after:%Y-%m-%d} at 9:00"',
    )


def _days(words: str, scene: Scene) -> str:
    """Weekdays as cron has them, where Sunday is 0."""
    names = [name for name in AND.split(words.strip().removeprefix("on ")) if name]
    numbers = [_day_name(name) for name in names]
    if not numbers or None in numbers:
        raise WhenError(f"{quoted(scene.words)} is not understood", '"every monday and thursday at 17:00"')
    return ",".join(str(number) for number in sorted({(number + 1) % 7 for number in numbers if number is not None}))


def _from_to(found: re.Match[str], scene: Scene) -> When:
    first, last = DAY_NAMES[found["first"].removesuffix("s")], DAY_NAMES[found["last"].removesuffix("s")]
    numbers = {(first + step) % 7 for step in range((last - first) % 7 + 1)}
    return _cron(scene, weekday=",".join(str(number) for number in sorted((number + 1) % 7 for number in numbers)))


def _day_name(word: str) -> int | None:
    return DAY_NAMES.get(word, DAY_NAMES.get(word.removesuffix("s")))


def _monthly(found: re.Match[str], scene: Scene) -> When:
    words = [word for word in AND.split(found["days"] or "1") if word not in ("", "the", "on")]
    days = [ORDINAL.fullmatch("1" if word == "first" else word) for word in words]
    numbers = sorted({int(day[1]) for day in days if day})
    if None in days or not numbers or not 1 <= numbers[0] <= numbers[-1] <= max(DAYS_IN):
        raise WhenError(f"{quoted(scene.words)} names no days of a month", '"monthly on the 1st and 15th at 10:00"')
    return _cron(scene, day=",".join(str(number) for number in numbers))


def _yearly(found: re.Match[str], scene: Scene) -> When:
    month, day = found["month"] or found["month_"] or "jan", found["day"] or found["day_"] or "1"
    return _cron(scene, day=day, month=month[:3])


_DAY_NAME: Final = rf"(?:{'|'.join(sorted(DAY_NAMES, key=len, reverse=True))})"
_LISTED: Final = rf"{_DAY_NAME}s?(?:(?: ?, ?| and | ?& ?| |, and ){_DAY_NAME}s?)*"
_PLURALS: Final = rf"{_DAY_NAME}s(?:(?: ?, ?| and | ?& ?| |, and ){_DAY_NAME}s)*"
_MONTH: Final = rf"(?:{'|'.join(MONTHS)})[a-z]*"
_ORDINAL: Final = r"[0-9]{1,2}(?:st|nd|rd|th)?"

Rule = tuple[re.Pattern[str], Callable[[re.Match[str], Scene], When]]

# In this order: the first that fits the whole of what is left without the times of day.
RULES: Final[Sequence[Rule]] = [
    (re.compile(pattern), make)
    for pattern, make in (
        ("", _next),
        ("(?:on )?(today|tomorrow)", _today),
        (f"(?:on )?({DATE})", _on_date),
        (r"in (?P<count>-?[0-9.]+|[a-z]+) ?(?P<unit>[a-z]+)", _in),
        ("(?:every|each) minute", _minutely),
        ("hourly|(?:every|each) hour", _hourly),
        ("daily|everyday|(?:every|each) day", _daily),
        ("(?:(?:on|every|each) )?weekdays?", _weekdays),
        ("(?:(?:on|every|each) )?weekends?", _weekends),
        (rf"(?:weekly|(?:every|each) week)(?P<days> on {_LISTED})?", _weekly),
        (
            rf"(?:(?:on|every|each) )*(?P<first>{_DAY_NAME}s?) ?(?:-|to|through|until|till) ?(?P<last>{_DAY_NAME}s?)",
            _from_to,
        ),
        (rf"(?:on )?(?:every|each) (?P<days>{_LISTED})|(?:on )?(?P<plurals>{_PLURALS})", _on_days),
        (rf"(?:on |next |this )*(?P<day>{_DAY_NAME})", _one_day),
        (r"(?:monthly|(?:every|each) month)(?: on)?(?P<days> .+)?", _monthly),
        (r"(?:on )?(?:the )?(?P<days>.+?) (?:of|in) (?:every|each|the) month", _monthly),
        (
            r"(?:yearly|annually|(?:every|each) year)"
            rf"(?: on (?:the )?(?:(?P<day>[0-9]{{1,2}})[a-z]* (?:of )?(?P<month>{_MONTH})|(?P<month_>{_MONTH}) (?P<day_>[0-9]{{1,2}})[a-z]*))?",
            _yearly,
        ),
        (
            r"every (?P<count>-?[0-9][0-9.,]*|other|"
            + "|".join(NUMBERS)
            + r") ?(?P<unit>[a-z]+)(?: on (?:a )?(?P<day>[a-z]+))?",
            _every,
        ),
        ("every -?[0-9.,]+", _uncounted),
    )
]
