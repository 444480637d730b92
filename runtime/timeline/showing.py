"""Deliveries on a timeline, each with its parts, their attempts and their failures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from runtime.contract import Kind
from runtime.domain.deliveries import DROP, DeliveryEvent, PartEvent
from runtime.markup import parse, to_plain
from runtime.timeline.trail import Move, TracedDelivery, TracedPart
from runtime.timeline.words import Event, Telling, What, span

OF_PART: Final = re.compile(r"part (\d+)(?:: (.*))?", re.DOTALL)
OUTCOMES: Final = (PartEvent.RETRY, PartEvent.DOUBT, PartEvent.PLAIN, PartEvent.GIVE_UP, DROP)
"""Moves that end an attempt."""
MARKDOWN: Final = 600
"""Characters of a text that one line is made from."""
WHAT: Final = {
    PartEvent.RETRY.value: What.RETRY,
    PartEvent.DOUBT.value: What.DOUBT,
    PartEvent.LOOK.value: What.LOOKED,
    PartEvent.ABSENT.value: What.ABSENT,
    PartEvent.REPEAT.value: What.REPEAT,
    PartEvent.PLAIN.value: What.PLAIN,
    DeliveryEvent.HOLD.value: What.HELD,
    DeliveryEvent.GIVE_UP.value: What.GIVEN_UP,
    DeliveryEvent.REQUEUE.value: What.REQUEUED,
    DeliveryEvent.DISCARD.value: What.DISCARDED,
    DROP: What.LEFT_OUT,
    PartEvent.RESTORE.value: What.RESTORED,
}

SENTENCES: Final = {
    PartEvent.RETRY.value: "attempt {attempt} to show {piece} failed; retrying{because}",
    PartEvent.DOUBT.value: "attempt {attempt} may have shown {piece}; checking{because}",
    PartEvent.LOOK.value: "{piece} is {why}",
    PartEvent.ABSENT.value: "{piece} isn't on screen; sending it again",
    PartEvent.REPEAT.value: "can't tell whether {piece} is on screen; sending it again with a mark",
    PartEvent.PLAIN.value: "attempt {attempt}: the platform refused the formatting of {piece}; sending it as plain text{because}",
    DROP: "{piece} was left out{because}",
    DeliveryEvent.HOLD.value: "{piece} was put on hold{because}",
    DeliveryEvent.GIVE_UP.value: "{piece} couldn't be shown{because}",
    DeliveryEvent.REQUEUE.value: "requeued by {why}",
    DeliveryEvent.DISCARD.value: "discarded by {why}",
    PartEvent.RESTORE.value: "restored{because}",
}


def showing(telling: Telling, delivery: TracedDelivery) -> Iterator[Event]:
    text = (
        f": {telling.short(to_plain(parse(telling.masked(delivery.text)[:MARKDOWN])))}"
        if delivery.kind is not Kind.APPROVAL
        else ""
    )
    words = f"{noun(delivery)} was queued (delivery {delivery.id}){text}"
    yield telling.event(delivery.created_at, What.ENQUEUED, words, delivery.id)
    own = [move for move in telling.trail.moves if move.subject == delivery.id]
    yield from _strayed(telling, delivery, own)
    for part in delivery.parts:
        yield from _part(telling, delivery, part, [move for move in own if _ordinal(move) == part.ordinal])


def noun(delivery: TracedDelivery) -> str:
    match delivery.kind:
        case Kind.APPROVAL:
            return "the settled card" if delivery.edits else "the card with the question"
        case Kind.FINAL:
            return "the reply"
        case Kind.REPORT:
            return "the report"
        case Kind.PROGRESS:
            return "the preview of the reply"


def _piece(delivery: TracedDelivery, ordinal: int | None) -> str:
    """Subject of an event: the delivery, or its part where it has several."""
    if ordinal is None or len(delivery.parts) < 2:
        return noun(delivery)
    return f"part {ordinal} of {len(delivery.parts)} of {noun(delivery)}"


def _ordinal(move: Move) -> int | None:
    found = OF_PART.fullmatch(move.detail)
    return int(found[1]) if found else None


def _strayed(telling: Telling, delivery: TracedDelivery, own: list[Move]) -> Iterator[Event]:
    attempts: dict[int | None, int] = {}
    for move in own:
        ordinal = _ordinal(move)
        if move.what in OUTCOMES:
            attempts[ordinal] = attempts.get(ordinal, 0) + 1
        words = _told_move(move, _piece(delivery, ordinal), attempts.get(ordinal, 0))
        yield telling.event(move.at, WHAT.get(move.what, What.OTHER), words, delivery.id, move.node)


def _told_move(move: Move, piece: str, attempt: int) -> str:
    found = OF_PART.fullmatch(move.detail)
    why = (found[2] or "") if found else move.detail
    sentence = SENTENCES.get(move.what, f"{move.what}{{because}}")
    return sentence.format(piece=piece, attempt=attempt, why=why, because=f": {why}" if why else "")


def _part(telling: Telling, delivery: TracedDelivery, part: TracedPart, own: list[Move]) -> Iterator[Event]:
    piece = _piece(delivery, part.ordinal)
    if part.marked_at:
        words = f"attempt {part.attempts} to show {piece}"
        yield telling.event(part.marked_at, What.ATTEMPT, words, delivery.id, part.node)
    if part.shown_at:
        what, words = _shown(part, part.shown_at, own, piece)
        yield telling.event(part.shown_at, what, words, delivery.id, part.node)


def _shown(part: TracedPart, at: datetime, own: list[Move], piece: str) -> tuple[What, str]:
    named = f" (message {part.receipt} on the platform)" if part.receipt else ""
    if own and own[-1].what in (PartEvent.DOUBT, PartEvent.LOOK):
        return What.FOUND, f"{piece} was found on screen{named}"
    after = f", {span(at - part.marked_at)} after the attempt began" if part.marked_at else ""
    return What.SHOWN, f"{piece} appeared{named}{after}"
