"""Words of the leak guard: where text passes it, how strict it is there, and findings. Pure."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NewType

Clean = NewType("Clean", str)
"""Text that has passed the guard. Only `Guard` makes it."""


class Gate(StrEnum):
    """Doors at which text enters a table, a model request or a chat."""

    MESSAGE_IN = "message_in"  # said, pressed, typed or sent by a program
    TOOL_ARGUMENTS = "tool_arguments"
    TOOL_RESULT = "tool_result"
    MODEL_REPLY = "model_reply"  # also its thinking, and a summary
    DELIVERY = "delivery"  # text, card, caption, report, a file of a text type
    MEMORY_WRITE = "memory_write"
    HANDED_ON = "handed_on"  # to another agent or program


class Strictness(StrEnum):
    """Action on a finding, from the mildest on."""

    OFF = "off"
    WARN = "warn"  # the text stays, and operators can read that it did
    REDACT = "redact"  # a mark takes its place
    ENFORCE = "enforce"  # the whole text is withheld

    @property
    def rank(self) -> int:
        return RANKS[self]


RANKS: Final[Mapping[Strictness, int]] = {one: number for number, one in enumerate(Strictness)}


def stricter(*given: Strictness) -> Strictness:
    """The strictest of those given: an agent or a room may only tighten."""
    return max(given, key=RANKS.__getitem__)


class Detector(StrEnum):
    """Kinds of detectors, each with a strictness of its own."""

    HELD = "held"  # values that we hold ourselves
    SHAPE = "shape"  # forms that vendors give to their keys
    ENTROPY = "random"  # long and random
    PERSONAL = "personal"
    RULE = "rule"  # of the settings


EXACTNESS: Final = (Detector.HELD, Detector.RULE, Detector.SHAPE, Detector.PERSONAL, Detector.ENTROPY)
"""Of several findings at one place the first of these gives it its name."""


@dataclass(frozen=True, slots=True)
class Found:
    """`name` in `text[start:end]`."""

    detector: Detector
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of value in a text, as people are told of it: never the value. Equal values have equal marks."""

    detector: Detector
    name: str
    mark: str
    action: Strictness

    def __str__(self) -> str:
        return f"{self.name} ·{self.mark}"


MARKED: Final = re.compile(r"\[redacted: ([^\[\]\n]{1,60}) ·[0-9a-f]{4}\]")
"""A mark in place of a value. The guard leaves one with a name that it gives alone when it is quoted back."""

WITHHELD: Final = "[withheld: "
"""Beginning of the note in place of a whole text."""
MARK_DIGITS: Final = 4


def mark_of(value: str, key: bytes) -> str:
    """Mark of a value under a key of this installation, by which nobody can try out what the value was."""
    return hmac.digest(key, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:MARK_DIGITS]


def in_place_of(name: str, mark: str) -> str:
    return f"[redacted: {name} ·{mark}]"


NAMED_MOST: Final = 3
"""Findings that are named where a text or a file was."""


def withheld_for(findings: Sequence[Finding]) -> str:
    """Findings for which a text is withheld, as whoever misses it reads them; "" where there are none."""
    every = [str(one) for one in findings if one.action is Strictness.ENFORCE]
    more = f" and {len(every) - NAMED_MOST:,} more" if len(every) > NAMED_MOST else ""
    return ", ".join(every[:NAMED_MOST]) + more
