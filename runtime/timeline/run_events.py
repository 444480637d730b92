"""Events of one run, in order and numbered as they are read: they have no table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from runtime.domain.transcript import ERROR
from runtime.text.outside import unfenced
from runtime.timeline.timeline import told
from runtime.timeline.trail import Trail
from runtime.timeline.words import Event, What

SETTLING: Final = timedelta(seconds=1)
"""Age from which nothing can come before an event any more: transactions that overlap are committed by then."""

WORD_OF_WHAT: Final[Mapping[What, str]] = {
    What.ACCEPTED: "message.accepted",
    What.JOINED: "message.joined",
    What.CLAIMED: "run.started",
    What.RESUMED: "run.resumed",
    What.PARKED: "run.parked",
    What.FINISHED: "run.done",
    What.FAILED: "run.failed",
    What.STOPPED: "run.stopped",
    What.MODEL: "model.answered",
    What.TOOL_STARTED: "tool.started",
    What.TOOL_ENDED: "tool.succeeded",
    What.TOOL_NOT_RUN: "tool.blocked",
    What.ASKED: "approval.asked",
    What.DECIDED: "approval.decided",
    What.EXPIRED: "approval.expired",
    What.WITHDRAWN: "approval.withdrawn",
    What.ENQUEUED: "delivery.queued",
    What.RETRY: "delivery.retried",
    What.SHOWN: "delivery.checkpoint",
    What.FOUND: "delivery.checkpoint",
    What.DOUBT: "delivery.doubt",
    What.HELD: "delivery.failed",
    What.GIVEN_UP: "delivery.failed",
}
UNTOLD: Final = frozenset(
    {What.SENT, What.ANSWERED, What.ATTEMPT, What.MERGED, What.REFUSED, What.OBSERVED, What.STALE}
)
"""Told by others, or with a time that a later row may move: numbers must stay."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """`number` counts from 1 in the order of time. `about` is the id of what it happened to, `text` is for people."""

    number: int
    at: datetime
    word: str
    about: str
    text: str
    node: str = ""


def run_events(trail: Trail, *, now: datetime | None = None, mask: Callable[[str], str] = str) -> tuple[RunEvent, ...]:
    """Events of a run by its rows, each with the number that it keeps.

    With `now`, those of a run at work that are younger than a second are left for the next look, since another could
    still come before them. `mask` hides secrets.
    """
    story = told(trail, mask)
    failed = {
        (step.ended_at, step.tool)
        for step in trail.steps
        if not step.is_model and unfenced(step.result).startswith(ERROR)
    }
    until = None if now is None or story.over else now - SETTLING
    joined = {one.id for one in trail.signals if one.joined_at}
    chosen = [
        one
        for one in story.events
        if one.what not in UNTOLD
        and not (one.what is What.ACCEPTED and one.subject in joined)
        and (until is None or one.at <= until)
    ]
    return tuple(
        RunEvent(number, one.at, _word(one, failed), one.subject, one.words, one.node)
        for number, one in enumerate(chosen, 1)
    )


def _word(event: Event, failed: set[tuple[datetime | None, str]]) -> str:
    if event.what is What.TOOL_ENDED and any(
        event.at == at and event.words.startswith(f"{tool} ") for at, tool in failed
    ):
        return "tool.failed"
    return WORD_OF_WHAT.get(event.what, "run.noted")
