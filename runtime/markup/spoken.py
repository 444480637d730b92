"""Times and numbers of things in the language of whoever reads them. Models, logs and the command line have `moments`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from runtime.markup.moments import SCHEME
from runtime.text.naming import LISTED_MAX
from runtime.text.words import ENGLISH, FORMS, ISO_MINUTES, catalogue, count, language, say, say_many

UNITS: Final = ((86_400, "day"), (3600, "hour"), (60, "minute"))


def moment(at: datetime, clocks: tzinfo = UTC) -> str:
    """`at` as Markdown, as `moments.moment` writes it; its words are for whoever has no clock of their own."""
    words = f"{at.astimezone(clocks).strftime(FORMS.get(language(), ISO_MINUTES))} {'UTC' if clocks is UTC else f'({clocks})'}"
    return f"[{words}]({SCHEME}{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ})"


def roughly(length: timedelta) -> str:
    """A duration as one says it behind "in" and before "ago": its largest unit, rounded down."""
    seconds = max(0, int(length.total_seconds()))
    for size, word in UNITS:
        if seconds >= 2 * size or seconds == size:
            return several(seconds // size, word)
    return several(seconds, "second")


def briefly(length: timedelta) -> str:
    """A duration beside an instant: `12 h`, `30 min`, `3 days`."""
    minutes = max(1, round(length.total_seconds() / 60))
    if minutes < 120:
        return f"{minutes} min"
    return f"{round(minutes / 60)} h" if minutes < 2 * 1440 else several(round(minutes / 1440), "day")


def ago(length: timedelta) -> str:
    """A past time in words, from the `length` since then: "just now", "5 minutes ago"."""
    return say("just now") if length < timedelta(seconds=10) else say("{time} ago", time=roughly(length))


def several(number: int, noun: str) -> str:
    """A number of things: `1 minute`, `2 minutes`. `noun` is English, and takes an s."""
    if (now := language()) == ENGLISH:
        return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
    told = catalogue(now).ngettext(f"{{number}} {noun}", f"{{number}} {noun}s", number)
    return told.format_map({"number": count(number)})


def listed(names: Sequence[str]) -> str:
    """`Ann`, `Ann and Bob`, `Ann, Bob and Cy`; of many the first ones."""
    if len(names) > LISTED_MAX:
        first, more = ", ".join(names[: LISTED_MAX - 1]), len(names) - LISTED_MAX + 1
        return say_many("{names} and {number} other", "{names} and {number} others", more, names=first)
    first = ", ".join(names[:-1])
    return say("{names} and {last}", names=first, last=names[-1]) if first else "".join(names[-1:])
