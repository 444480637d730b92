"""The values of a story, and the small words that all of its chapters use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from runtime.contract import Address, NodeId
from runtime.text.glyphs import clip
from runtime.text.words import say
from runtime.timeline.trail import Trail

QUOTE_MAX_CHARS: Final = 120
"""Characters of a message or result in a story."""


class What(StrEnum):
    """Kinds of events, for programs. The words beside it are for people and may change."""

    SENT = "sent"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    MERGED = "merged"
    OBSERVED = "observed"
    STALE = "stale"
    JOINED = "joined"
    ANSWERED = "answered"
    CLAIMED = "claimed"
    RESUMED = "resumed"
    PROCESS_ENDED = "process-ended"
    SET_ASIDE = "set-aside"
    MODEL = "model-answered"
    TOOL_STARTED = "tool-started"
    TOOL_ENDED = "tool-ended"
    TOOL_NOT_RUN = "tool-not-run"
    ASKED = "approval-asked"
    PARKED = "parked"
    CLICK_REFUSED = "click-refused"
    DECIDED = "approval-decided"
    EXPIRED = "approval-expired"
    WITHDRAWN = "approval-withdrawn"
    STOP_ASKED = "stop-asked"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"
    ENQUEUED = "enqueued"
    ATTEMPT = "attempt"
    SHOWN = "shown"
    FOUND = "found"
    RETRY = "retry"
    DOUBT = "doubt"
    LOOKED = "looked"
    ABSENT = "absent"
    REPEAT = "repeat"
    PLAIN = "plain"
    HELD = "held"
    GIVEN_UP = "given-up"
    REQUEUED = "requeued"
    DISCARDED = "discarded"
    LEFT_OUT = "left-out"
    RESTORED = "restored"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Event:
    """One transition. `subject` is the id of what it happened to; `node` is the label of who did it, if one did."""

    at: datetime
    what: What
    words: str
    subject: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """`began_at` is the zero of its relative times. `now` says how it stands; `over` that nothing more will happen."""

    about: str
    run: str | None
    room: Address
    who: str
    text: str
    began_at: datetime
    answered_at: datetime | None
    now: str
    over: bool
    events: tuple[Event, ...]


class Telling:
    """A trail as its chapters tell it: nodes by their labels, texts short, secrets masked."""

    def __init__(self, trail: Trail, mask: Callable[[str], str]) -> None:
        self.trail = trail
        self._mask = mask

    def event(self, at: datetime, what: What, words: str, subject: str, node: NodeId | None = None) -> Event:
        return Event(at, what, self._mask(words), subject, self.label(node))

    def label(self, node: NodeId | None) -> str:
        """Its name; one whose row is gone has its id."""
        return self.trail.labels.get(node, node) if node else ""

    def masked(self, text: str) -> str:
        return self._mask(text)

    def short(self, text: str) -> str:
        """The beginning as one line, in quotes. Masked before it is cut, so that no beginning of a secret is left."""
        return say("“{text}”", text=clip(" ".join(self._mask(text).split()), QUOTE_MAX_CHARS))


def span(length: timedelta) -> str:
    """A duration as people say it."""
    seconds = round(length.total_seconds(), 3)
    if seconds < 0:
        return f"-{span(-length)}"
    if seconds < 60:
        return f"{seconds:.3f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    days, hours_left = divmod(hours, 24)
    if not days:
        return f"{hours} h {minutes_left} min" if minutes_left else f"{hours} h"
    return f"{days} d {hours_left} h" if hours_left else f"{days} d"


def ahead(seconds: float) -> str:
    """A time as its distance from the first one: seconds, or as a clock shows them once there are sixty."""
    seconds = round(seconds, 3)  # first, so that nothing is shown as sixty seconds
    if seconds < 60:
        return f"{seconds:+.3f} s"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"+{hours}:{minutes:02}:{rest:06.3f}" if hours else f"+{minutes}:{rest:06.3f}"


def several(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
