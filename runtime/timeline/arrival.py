"""Arrival of a message: sent, accepted, refused, merged, joined to a running run, answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from runtime.text.words import marked
from runtime.timeline.trail import TracedSignal
from runtime.timeline.words import Event, Telling, What, several, span

DEEDS: Final[Mapping[str, tuple[str, str]]] = {
    "clicked": (marked("pressed a button"), marked("{who} pressed a button")),
    "stopped": (marked("asked to stop"), marked("{who} asked to stop")),
    "amended": (marked("edited a message"), marked("{who} edited a message")),
    "moved": (marked("moved this room to a new id"), marked("{who} moved this room to a new id")),
    "commanded": (marked("gave the command {text}"), marked("{who} gave the command {text}")),
    "commanded unkept": (marked("gave a command"), marked("{who} gave a command")),
    "forgotten": (
        marked("wrote something that's no longer kept"),
        marked("{who} wrote something that's no longer kept"),
    ),
    "refused": (marked("wrote something that wasn't kept"), marked("{who} wrote something that wasn't kept")),
    "wrote": (marked("wrote {text}"), marked("{who} wrote {text}")),
    "wrote files": (marked("wrote {text} with {files}"), marked("{who} wrote {text} with {files}")),
}
"""Deeds of people, each as the rest of a sentence and as a whole one: each is translated by itself."""


def arrivals(telling: Telling) -> Iterator[Event]:
    for signal in telling.trail.signals:
        who = signal.who or marked("somebody")  # a forgotten message has no name any more
        yield telling.event(signal.received_at, What.SENT, _told(telling, signal, 1, who=who), signal.id)
        yield _taken_in(telling, signal)
        if signal.joined_at:
            words = marked("joined the run in progress")
            yield telling.event(signal.joined_at, What.JOINED, words, signal.id)


def deed(telling: Telling, signal: TracedSignal) -> str:
    """Deed of the person, as the rest of a sentence."""
    return _told(telling, signal, 0)


def _told(telling: Telling, signal: TracedSignal, form: int, **values: str) -> str:
    files = several(signal.files, "file") if signal.files else ""
    return DEEDS[_deed(signal)][form].format(text=telling.short(signal.text), files=files, **values)


def _deed(signal: TracedSignal) -> str:
    if signal.kind == "commanded":
        return "commanded" if signal.text else "commanded unkept"
    if signal.kind in DEEDS:
        return signal.kind
    if signal.state in ("forgotten", "refused"):
        return signal.state
    return "wrote files" if signal.files else "wrote"


def _taken_in(telling: Telling, signal: TracedSignal) -> Event:
    lag = span(signal.accepted_at - signal.received_at)
    match signal.state:
        case "refused":
            what, words = What.REFUSED, marked("refused: {why}").format(why=_reason(telling, signal))
        case "merged":
            what = What.MERGED
            words = marked(
                "accepted after {lag}, and merged with {merged_into}, which says the same and is still unanswered"
            ).format(lag=lag, merged_into=signal.merged_into)
        case "decided":
            what, words = What.ACCEPTED, marked("accepted and acted on after {lag}").format(lag=lag)
        case "observed":
            what, words = What.OBSERVED, marked("kept after {lag} as context for the next request").format(lag=lag)
        case "stale":
            what, words = What.STALE, marked("arrived {lag} after it was sent, too late to act on").format(lag=lag)
        case _:
            what, words = What.ACCEPTED, marked("accepted after {lag}").format(lag=lag)
    return telling.event(signal.accepted_at, what, words, signal.id, signal.node)


def _reason(telling: Telling, signal: TracedSignal) -> str:
    kept = [move.detail for move in telling.trail.moves if move.subject == signal.id]
    return kept[0] if kept else marked("the reason wasn't kept")


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
        return marked("answered, {total} after it was sent").format(total=total)
    return marked("answered all {group} messages, {total} after the first was sent").format(
        group=len(group), total=total
    )
