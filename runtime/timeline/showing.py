"""Deliveries on a timeline, each with its parts, their attempts and their failures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from runtime.contract import Kind
from runtime.domain.deliveries import DROP, DeliveryEvent, PartEvent
from runtime.markup import parse, to_plain
from runtime.text.words import marked
from runtime.timeline.trail import Move, TracedDelivery, TracedPart
from runtime.timeline.words import Event, Telling, What, span

OF_PART: Final = re.compile(r"part (\d+)(?:: (.*))?", re.DOTALL)
OUTCOMES: Final = (PartEvent.RETRY, PartEvent.DOUBT, PartEvent.PLAIN, PartEvent.GIVE_UP, DROP)
"""Moves that end an attempt."""
FOUND: Final = (
    marked("{piece} was found on screen"),
    marked("{piece} was found on screen (message {receipt} on the platform)"),
)
"""Without the platform's id of it, and with it."""
APPEARED: Final[Mapping[tuple[bool, bool], str]] = {
    (False, False): marked("{piece} appeared"),
    (True, False): marked("{piece} appeared (message {receipt} on the platform)"),
    (False, True): marked("{piece} appeared, {time} after the attempt began"),
    (True, True): marked("{piece} appeared (message {receipt} on the platform), {time} after the attempt began"),
}
"""By whether the platform's id is known, and when the attempt began."""
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
    PartEvent.RETRY.value: marked("attempt {attempt} to show {piece} failed; retrying{because}"),
    PartEvent.DOUBT.value: marked("attempt {attempt} may have shown {piece}; checking{because}"),
    PartEvent.LOOK.value: marked("{piece} is {why}"),
    PartEvent.ABSENT.value: marked("{piece} isn't on screen; sending it again"),
    PartEvent.REPEAT.value: marked("can't tell whether {piece} is on screen; sending it again with a mark"),
    PartEvent.PLAIN.value: marked(
        "attempt {attempt}: the platform refused the formatting of {piece}; sending it as plain text{because}"
    ),
    DROP: marked("{piece} was left out{because}"),
    DeliveryEvent.HOLD.value: marked("{piece} was put on hold{because}"),
    DeliveryEvent.GIVE_UP.value: marked("{piece} couldn't be shown{because}"),
    DeliveryEvent.REQUEUE.value: marked("requeued by {why}"),
    DeliveryEvent.DISCARD.value: marked("discarded by {why}"),
    PartEvent.RESTORE.value: "restored{because}",
}


def showing(telling: Telling, delivery: TracedDelivery) -> Iterator[Event]:
    text = (
        f": {telling.short(to_plain(parse(telling.masked(delivery.text)[:MARKDOWN])))}"
        if delivery.kind is not Kind.APPROVAL
        else ""
    )
    words = marked("{message} was queued (delivery {id}){text}").format(
        message=noun(delivery), id=delivery.id, text=text
    )
    yield telling.event(delivery.created_at, What.ENQUEUED, words, delivery.id)
    own = [move for move in telling.trail.moves if move.subject == delivery.id]
    yield from _strayed(telling, delivery, own)
    for part in delivery.parts:
        yield from _part(telling, delivery, part, [move for move in own if _ordinal(move) == part.ordinal])


def noun(delivery: TracedDelivery) -> str:
    match delivery.kind:
        case Kind.APPROVAL:
            return marked("the settled card") if delivery.edits else marked("the card with the question")
        case Kind.FINAL:
            return marked("the reply")
        case Kind.REPORT:
            return marked("the report")
        case Kind.PROGRESS:
            return marked("the preview of the reply")


def _piece(delivery: TracedDelivery, ordinal: int | None) -> str:
    """Subject of an event: the delivery, or its part where it has several."""
    if ordinal is None or len(delivery.parts) < 2:
        return noun(delivery)
    return marked("part {ordinal} of {parts} of {message}").format(
        ordinal=ordinal, parts=len(delivery.parts), message=noun(delivery)
    )


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
        words = marked("attempt {attempt} to show {piece}").format(attempt=part.attempts, piece=piece)
        yield telling.event(part.marked_at, What.ATTEMPT, words, delivery.id, part.node)
    if part.shown_at:
        what, words = _shown(part, part.shown_at, own, piece)
        yield telling.event(part.shown_at, what, words, delivery.id, part.node)


def _shown(part: TracedPart, at: datetime, own: list[Move], piece: str) -> tuple[What, str]:
    is_found = bool(own) and own[-1].what in (PartEvent.DOUBT, PartEvent.LOOK)
    time = span(at - part.marked_at) if part.marked_at and not is_found else ""
    words = FOUND[bool(part.receipt)] if is_found else APPEARED[bool(part.receipt), bool(time)]
    return What.FOUND if is_found else What.SHOWN, words.format(piece=piece, receipt=part.receipt, time=time)
