"""Times of day as people write them, by 12 or 24 hours, and where in a phrase they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time
from typing import Final

from runtime.calendar.errors import WhenError, quoted
from runtime.text.words import marked

CLOCK_EXAMPLES: Final = '"9:30", "9am", "21:00" or "noon"'
NAMED_TIMES: Final = {"noon": time(12), "midday": time(12), "midnight": time(0)}
HALF: Final = r"(?:a\.?m\.?|p\.?m\.?)"
CLOCK: Final = re.compile(rf"(?P<hour>[0-9]{{1,2}})(?::(?P<minute>[0-9]{{2}}))? ?(?P<half>{HALF})?")
PLAIN: Final = rf"(?:noon|midday|midnight|[0-9]{{1,2}}:[0-9]{{2}}(?: ?{HALF})?|[0-9]{{1,2}} ?{HALF})"
"""What is a time of day even without "at"."""
GOES_ON: Final = r"on|in|every|each|of|today|tomorrow|daily|weekly|monthly|weekdays?|weekends?|[a-z]+days"
AFTER_AT: Final = re.compile(rf"(?:^| )(?:at|@) ?(?P<times>.*?)(?= (?:{GOES_ON})\b|$)")
AT_END: Final = re.compile(rf"(?:^| )(?P<times>{PLAIN}(?: and {PLAIN})*)$")
AT_BEGIN: Final = re.compile(rf"^(?P<times>{PLAIN}(?: and {PLAIN})*)(?= )")


def cut_out(words: str) -> tuple[str, Sequence[time]]:
    """A phrase without its times of day, and those, in order. There may be none.

    Errors: WhenError when what stands behind "at" is no time of day.
    """
    found = AFTER_AT.search(words) or AT_END.search(words) or AT_BEGIN.search(words)
    if not found:
        return words, ()
    rest = f"{words[: found.start()]} {words[found.end() :]}"
    said = re.split(r" ?(?:,|&|\band\b) ?", found["times"])
    return " ".join(rest.split()).strip(" ,"), sorted({time_of(one) for one in said if one} or {time_of("")})


def time_of(text: str) -> time:
    """One time of day. A bare number is an hour of 24. Errors: WhenError."""
    if text in NAMED_TIMES:
        return NAMED_TIMES[text]
    found = CLOCK.fullmatch(text)
    if not found:
        raise WhenError(marked("{text} is not a time of day").format(text=quoted(text)), CLOCK_EXAMPLES)
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), (found["half"] or "")[:1]
    if minute > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        raise WhenError(marked("{text} isn't a valid time").format(text=quoted(text)), CLOCK_EXAMPLES)
    return time(hour % 12 + (12 if half == "p" else 0) if half else hour, minute)
