"""Instants in a text: written as a link, `[2026-11-22 19:45 UTC](time:2026-11-22T19:45:00Z)`, shown by each reader's clocks.

Where a channel cannot do that, the words of the link are what is read: they name their clocks.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from runtime.text.words import SCHEME

FORM: Final = "%Y-%m-%d %H:%M"
WRITTEN: Final = re.compile(r"\[([^\[\]\n]*)\]\(time:[0-9TZ:-]+\)")


def moment(at: datetime, clocks: tzinfo = UTC) -> str:
    """`at` as Markdown. `clocks` are those of its words, whose name is that of their zone."""
    words = f"{at.astimezone(clocks):{FORM}} {name_of(clocks)}"
    return f"[{words}]({SCHEME}{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ})"


def name_of(clocks: tzinfo) -> str:
    return "UTC" if clocks is UTC else f"({clocks})"


def instant_of(url: str) -> datetime | None:
    """The instant that a link stands for; None for any other link."""
    if not url.startswith(SCHEME):
        return None
    try:
        found = datetime.fromisoformat(url.removeprefix(SCHEME))
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo and 1970 < found.year < 9999 else None


def in_words(text: str) -> str:
    """Markdown with the words of its instants alone, for whoever reads it as it is written."""
    return WRITTEN.sub(r"\1", text) if SCHEME in text else text


def roughly(length: timedelta) -> str:
    """A duration as one says it: its largest unit, rounded down."""
    seconds = max(0, int(length.total_seconds()))
    for size, word in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size or seconds == size:
            return several(seconds // size, word)
    return several(seconds, "second")


def briefly(length: timedelta) -> str:
    """A duration beside an instant: `12 h`, `30 min`, `3 days`."""
    minutes = max(1, round(length.total_seconds() / 60))
    if minutes < 120:
        return f"{minutes} min"
    return f"{round(minutes / 60)} h" if minutes < 2 * 1440 else f"{round(minutes / 1440)} days"


def ago(length: timedelta) -> str:
    """A past time in words, from the `length` since then: "just now", "5 minutes ago"."""
    return "just now" if length < timedelta(seconds=10) else f"{roughly(length)} ago"


def several(number: int, noun: str) -> str:
    """A number of things: `1 minute`, `2 minutes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
