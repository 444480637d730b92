"""Arrival of a message: sent, accepted, refused, merged, joined to a running run, answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from runtime.timeline.trail import TracedSignal
from runtime.timeline.words import Event, Telling, What, several, span

DEEDS: Final = {
    "clicked": "pressed a button",
    "stopped": "asked to stop",
    "amended": "edited a message",
}


def arrivals(telling: Telling) -> Iterator[Event]:
    for signal in telling.trail.signals:
        who = signal.who or "somebody"  # a forgotten message has no name any more
        yield telling.event(signal.received_at, What.SENT, f"{who} {deed(telling, signal)}", signal.id)
        yield _taken_in(telling, signal)
        if signal.joined_at:
            words = "joined the run in progress"
            yield telling.event(signal.joined_at, What.JOINED, words, signal.id)


def deed(telling: Telling, signal: TracedSignal) -> str:
    """Deed of the person, as the rest of a sentence."""
    if signal.kind in DEEDS:
        return DEEDS[signal.kind]
    if signal.kind == "moved":
        return "moved this room to a new id"
    if signal.kind == "commanded":
        return f"gave the command {telling.short(signal.text)}" if signal.text else "gave a command"
    if signal.state == "forgotten":
        return "wrote something that's no longer kept"
    if signal.state == "refused":
        return "wrote something that wasn't kept"
    files = f" with {several(signal.files, 'file')}" if signal.files else ""
    return f"wrote {telling.short(signal.text)}{files}"


def _taken_in(telling: Telling, signal: TracedSignal) -> Event:
    lag = span(signal.accepted_at - signal.received_at)
    match signal.state:
        case "refused":
            what, words = What.REFUSED, f"refused: {_reason(telling, signal)}"
        case "merged":
            what = What.MERGED
            words = f"accepted after {lag}, and merged with {signal.merged_into}, which says the same and is still unanswered"
        case "decided":
            what, words = What.ACCEPTED, f"accepted and acted on after {lag}"
        case "observed":
            what, words = What.OBSERVED, f"kept after {lag} as context for the next request"
        case "stale":
            what, words = What.STALE, f"arrived {lag} after it was sent, too late to act on"
        case _:
            what, words = What.ACCEPTED, f"accepted after {lag}"
    return telling.event(signal.accepted_at, what, words, signal.id, signal.node)


def _reason(telling: Telling, signal: TracedSignal) -> str:
    kept = [move.detail for move in telling.trail.moves if move.subject == signal.id]
    return kept[0] if kept else "the reason wasn't kept"


def answers(telling: Telling) -> Iterator[Event]:
    """One event for all messages that were answered by the same commit."""
    groups: dict[datetime, list[TracedSignal]] = {}
    for signal in telling.trail.signals:
        if signal.answered_at:
            groups.setdefault(signal.answered_at, []).append(signal)
    for at, group in groups.items():
        yield telling.event(at, What.ANSWERED, _answered(at, group), group[0].id)


def _answered(at: datetime, group: Sequence[TracedSignal]) -> str:
    total = span(at - min(one.received_at for one in group))
    if len(group) == 1:
        return f"answered, {total} after it was sent"
    return f"answered all {len(group)} messages, {total} after the first was sent"
