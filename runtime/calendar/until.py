"""Ends of a time that begins now: "2h", "until 18:00", "until Monday", "until 2026-12-24"."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Final

from runtime.calendar.clocks import cut_out
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.phrases import normal
from runtime.calendar.plans import LENGTHS, At, Planned
from runtime.calendar.reading import EXPRESSION_MAX_CHARS, plan
from runtime.calendar.scene import DAY_NAMES, UNITS
from runtime.calendar.zones import instant_of, wall_of, zone_named
from runtime.text.words import marked

UNTIL_EXAMPLES: Final = '"2h", "3 days", "until 18:00" or "until Monday"'
LEADING_WORD: Final = re.compile(r"(?:until|till|til|for) +")
LENGTH_SAID: Final = re.compile(rf"(?P<count>[0-9]{{1,4}}) ?(?P<unit>{'|'.join(sorted(UNITS, key=len, reverse=True))})")
DAY_SAID: Final = re.compile(rf"(?:on |this )?(?P<day>{'|'.join(sorted(DAY_NAMES, key=len, reverse=True))})")
BARE_DAY: Final = re.compile(r"(?:on )?(?:tomorrow|[0-9]{4}-[0-9]{2}-[0-9]{2})")
NO_ZONE: Final = marked(
    "I don't know your time zone. Set it with `/timezone Europe/Berlin`, or say how long, such as `2h`."
)


def until(text: str, *, zone: str, now: datetime) -> datetime:
    """Understand when something ends that begins `now`. A day without a time ends as it begins.

    Without a `zone` lengths alone are understood. Errors: WhenError when it is not understood, or past.
    """
    words = LEADING_WORD.sub("", normal(text), count=1)
    if len(text) > EXPRESSION_MAX_CHARS or not words:
        raise WhenError(
            marked("No time is named") if not words else marked("{text} is too long").format(text=quoted(text)),
            UNTIL_EXAMPLES,
        )
    if found := LENGTH_SAID.fullmatch(words):
        return _later(int(found["count"]) * LENGTHS[UNITS[found["unit"]]], words, now)
    if not zone:
        raise WhenError(NO_ZONE)
    what, times = cut_out(words)
    if found := DAY_SAID.fullmatch(what):
        if len(times) > 1:
            raise WhenError(marked("{words} says several times of day").format(words=quoted(words)), UNTIL_EXAMPLES)
        return _on(DAY_NAMES[found["day"]], times[0] if times else time(), zone, now)
    planned = _planned(f"{words} at 0:00" if BARE_DAY.fullmatch(words) else words, zone, now)
    if not isinstance(planned.when, At):
        raise WhenError(f"{quoted(words)} repeats", UNTIL_EXAMPLES)
    return planned.when.instant


def _planned(words: str, zone: str, now: datetime) -> Planned:
    """As for a schedule, and refused with examples of an end."""
    try:
        return plan(words, zone=zone, now=now)
    except WhenError as error:
        raise WhenError(error.reason, UNTIL_EXAMPLES) from error


def _later(length: timedelta, words: str, now: datetime) -> datetime:
    if not length:
        raise WhenError(marked("{words} would end at once").format(words=quoted(words)), UNTIL_EXAMPLES)
    return now + length


def _on(weekday: int, at: time, zone: str, now: datetime) -> datetime:
    """The next such day after today, also if today is one."""
    there = zone_named(zone)
    today = wall_of(now, there)
    ahead = (weekday - today.weekday()) % 7 or 7
    return instant_of(datetime.combine(today.date() + timedelta(days=ahead), at), there)
