"""Times in plain English: "every weekday at 9:30", "every 2 hours", "tomorrow at 14:30".

A phrase is cut into what and when: the times of day first, then what is left is looked up in `RULES`. What could mean
two things is refused with both of them written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from runtime.calendar import once, repeats
from runtime.calendar.clocks import cut_out
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.plans import MONTH_NAMES, When
from runtime.calendar.scene import DAY_NAMES, NUMBERS, Scene
from runtime.text.words import marked

PHRASE_EXAMPLES: Final = '"every weekday at 9:30", "every 2 hours", "tomorrow at 14:30", "30 9 * * 1-5"'
LAST_WORKING_DAY: Final = re.compile(r"\blast (?:working day|business day|weekday)\b")


def normal(text: str) -> str:
    """One way to write a phrase: small letters, single blanks, no full stop."""
    return " ".join(text.casefold().split()).rstrip(".!").rstrip()


def when_of(words: str, *, zone: ZoneInfo, now: datetime) -> When:
    """Understand a phrase that is `normal` and names no zone.

    Errors: WhenError when it is not understood, means two things, or is past.
    """
    if LAST_WORKING_DAY.search(words):
        raise WhenError(
            marked("{words}: the last working day of a month isn't supported").format(words=quoted(words)),
            '"last friday of the month at 18:00"',
        )
    if at := once.instant_said(words, zone, now):
        return at
    what, times = cut_out(words)
    scene = Scene(zone, now, words, times)
    for pattern, make in RULES:
        if found := pattern.fullmatch(what):
            return make(found, scene)
    raise WhenError(marked("{words} is not understood").format(words=quoted(words)), PHRASE_EXAMPLES)


DAY: Final = rf"(?:{'|'.join(sorted(DAY_NAMES, key=len, reverse=True))})"
AND: Final = "(?: ?, ?| and | ?& ?| |, and )"
DAYS: Final = rf"{DAY}s?(?:{AND}{DAY}s?)*"
EACH_DAY: Final = rf"{DAY}s(?:{AND}{DAY}s)*"
MONTH: Final = rf"(?:{'|'.join(f'{name}|{name[:3]}' for name in MONTH_NAMES)})"
EACH: Final = "(?:every|each)"
COUNT: Final = rf"(?P<count>-?[0-9][0-9.,]*|other|{'|'.join(NUMBERS)})"

Rule = tuple[re.Pattern[str], Callable[[re.Match[str], Scene], When]]

# In this order: the first that fits the whole of what is left without the times of day.
RULES: Final[Sequence[Rule]] = [
    (re.compile(pattern), make)
    for pattern, make in (
        ("", once.next_time),
        ("(?:on )?(today|tomorrow)", once.today_or_tomorrow),
        (f"(?:on )?({once.DATE})", once.on_date),
        (r"in (?P<count>-?[0-9.]+|[a-z]+) ?(?P<unit>[a-z]+)", once.in_a_while),
        (f"{EACH} minute", repeats.minutely),
        (f"hourly|{EACH} hour", repeats.hourly),
        (f"daily|everyday|{EACH} day", repeats.daily),
        (f"(?:(?:on|{EACH}) )?weekdays?", repeats.weekdays),
        (f"(?:(?:on|{EACH}) )?weekends?", repeats.weekends),
        (f"(?:weekly|{EACH} week)(?P<days> on {DAYS})?", repeats.weekly),
        (f"(?:(?:on|{EACH}) )*(?P<first>{DAY}s?) ?(?:-|to|through|until|till) ?(?P<last>{DAY}s?)", repeats.from_to),
        (f"(?:on )?{EACH} (?P<days>{DAYS})|(?:on )?(?P<plurals>{EACH_DAY})", repeats.on_days),
        (f"(?:on |next |this )*(?P<day>{DAY})", repeats.one_day),
        (f"(?:monthly|{EACH} month)(?: on)?(?P<days> .+)?", repeats.monthly),
        (f"(?:on )?(?:the )?(?P<days>.+?) (?:of|in) (?:{EACH}|the|a) month", repeats.monthly),
        (f"yearly|annually|{EACH} year", repeats.yearly),
        (f"(?:yearly|annually|{EACH} year) on (?P<month>{MONTH}) (?P<day>[0-9]+)(?:st|nd|rd|th)?", repeats.yearly_on),
        (
            f"(?:yearly|annually|{EACH} year) on (?:the )?(?P<day>[0-9]+)(?:st|nd|rd|th)? (?:of )?(?P<month>{MONTH})",
            repeats.yearly_on,
        ),
        (rf"every {COUNT} ?(?P<unit>[a-z]+)(?: on (?:a )?(?P<day>[a-z]+))?", repeats.interval),
        ("every -?[0-9.,]+", repeats.uncounted),
    )
]
