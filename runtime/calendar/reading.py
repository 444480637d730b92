"""From what somebody wrote to what was meant: the zone is taken from its end, the rest is cron or a phrase."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from runtime.calendar.cron import cron_of, is_cron
from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.phrases import PHRASE_EXAMPLES, normal, when_of
from runtime.calendar.plans import Planned
from runtime.calendar.zones import zone_named
from runtime.text.words import marked

EXPRESSION_MAX_CHARS: Final = 200
"""Characters. An expression with every value written out is no longer than that without being a mistake."""
IN_ZONE: Final = re.compile(r"(?P<rest>.*?\S) (?:in (?P<zone>[a-z].*)|\((?P<braced>[a-z].*)\))")
LAST_WORD: Final = re.compile(r"(?P<rest>.*\S) (?P<zone>utc|gmt|[a-z_]+(?:/[a-z][a-z0-9_+-]*)+)")


def plan(text: str, *, zone: str, now: datetime) -> Planned:
    """Understand a cron expression or a phrase; a zone that is named in it is before `zone`.

    Errors: WhenError when it is not understood, never comes, or is past at `now`.
    """
    if len(text) > EXPRESSION_MAX_CHARS:
        raise WhenError(
            marked("{text} is longer than {most} characters").format(text=quoted(text), most=EXPRESSION_MAX_CHARS),
            PHRASE_EXAMPLES,
        )
    words, named = _zone_cut(normal(text))
    if not words:
        raise WhenError(marked("No time is named"), PHRASE_EXAMPLES)
    there = zone_named(named or zone)
    when = cron_of(words) if is_cron(words) else when_of(words, zone=there, now=now)
    return Planned(when, there.key, text)


def _zone_cut(words: str) -> tuple[str, str]:
    """The words without the zone at their end, and its name; empty where none is named."""
    if found := IN_ZONE.fullmatch(words):
        return found["rest"], (found["zone"] or found["braced"]).removesuffix(" time")
    if found := LAST_WORD.fullmatch(words):
        return found["rest"], found["zone"]
    if words.endswith(" time"):
        return _city_cut(words)
    return words, ""


def _city_cut(words: str) -> tuple[str, str]:
    """The longest name before "time" that is a zone. Errors: WhenError when there is none."""
    *before, _ = words.split()
    for length in range(min(4, len(before) - 1), 0, -1):
        name = " ".join(before[-length:])
        try:
            return " ".join(before[:-length]), zone_named(name).key
        except WhenError:
            continue
    return " ".join(before[:-1]), before[-1]
