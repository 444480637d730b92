"""Feedback in rows: a mark is put onto a message of ours, and taken away again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, and_, bindparam, delete, select

from runtime.contract import Address, Content, NewId, Person, Reaction
from runtime.domain.events.feedback import FEEDBACK_WORDS_MAX_CHARS, Feedback, Rating, rating_of
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.trigger import EventKind
from runtime.store.common import fact, in_room, whom
from runtime.store.common import put as put_row
from runtime.store.schema import deliveries, feedback, parts
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.store.triggers.firing import happened

RATED_CHARS: Final = 300
"""Characters of a rated message in a list."""

# Found by the index of receipts: another room may have the same one.
RATED = (
    select(deliveries.c.id, deliveries.c.run_id, deliveries.c.address)
    .join(parts, parts.c.delivery_id == deliveries.c.id)
    .where(
        in_room(deliveries.c.address),
        deliveries.c.edits.is_(None),
        is_word(deliveries.c.kind, "final", "report"),
        parts.c.receipt == bindparam("receipt"),
    )
    .order_by(deliveries.c.created_at.desc())
    .limit(1)
)
RATED_DELIVERY = select(deliveries.c.id, deliveries.c.run_id, deliveries.c.address).where(
    deliveries.c.id == bindparam("d"), in_room(deliveries.c.address), is_word(deliveries.c.kind, "final", "report")
)
PUT_FEEDBACK = put_row(feedback)
MARK = select(feedback.c.words).where(
    feedback.c.delivery_id == bindparam("d"),
    feedback.c.actor == bindparam("who"),
    feedback.c.value == bindparam("rating"),
)
TAKE_BACK = (
    delete(feedback)
    .where(
        feedback.c.delivery_id == bindparam("d"),
        feedback.c.actor == bindparam("who"),
        feedback.c.value == bindparam("rating"),
    )
    .returning(feedback.c.value)
)
_newer = feedback.alias()
STANDING = (
    select(
        feedback.c.delivery_id,
        feedback.c.run_id,
        feedback.c.address,
        feedback.c.name,
        feedback.c.value,
        feedback.c.words,
        feedback.c.at,
        deliveries.c.content,
    )
    .outerjoin(deliveries, deliveries.c.id == feedback.c.delivery_id)
    .where(
        feedback.c.at >= bindparam("since"),
        ~select(_newer.c.at)
        .where(
            and_(
                _newer.c.delivery_id == feedback.c.delivery_id,
                _newer.c.actor == feedback.c.actor,
                _newer.c.value != feedback.c.value,
                (_newer.c.at > feedback.c.at) | ((_newer.c.at == feedback.c.at) & (_newer.c.value > feedback.c.value)),
            )
        )
        .exists(),
    )
    .order_by(feedback.c.at.desc(), feedback.c.delivery_id)
    .limit(bindparam("n", type_=Integer))
)
STANDING_IN = STANDING.where(in_room(feedback.c.address))
OWN_MARKS = (
    select(feedback.c.delivery_id, feedback.c.value)
    .where(feedback.c.actor == bindparam("who"), in_room(feedback.c.address))
    .order_by(feedback.c.at)
)


def react(reaction: Reaction, now: datetime, new_id: NewId) -> Op[bool]:
    """Note what a person put onto a message, or took away; whether that changed anything.

    Only on answers and reports of ours, and only of people who are known: the mark of a stranger is no word to us.
    """
    added = [rating for emoji in reaction.added if (rating := rating_of(emoji))]
    removed = [rating for emoji in reaction.removed if (rating := rating_of(emoji))]
    if not (added or removed):
        return False
    who = yield from whom(reaction.actor)
    if reaction.delivery:
        rows = yield RATED_DELIVERY, {"room": str(reaction.room), "d": reaction.delivery}
    else:
        rows = yield RATED, {"room": str(reaction.room), "receipt": reaction.message_id}
    if who is None or not rows:
        return False
    delivery, run, address = rows[0]
    changed = False
    for rating in removed:
        gone = yield TAKE_BACK, {"d": delivery, "who": reaction.actor, "rating": int(rating)}
        if gone:
            changed = True
            yield from fact(now, "feedback taken back", who.name, delivery, f"{address} {rating.word}")
    for rating in added[-1:]:
        known = yield MARK, {"d": delivery, "who": reaction.actor, "rating": int(rating)}
        if known and reaction.words in ("", known[0][0]):
            continue  # told once more by the platform
        changed = True
        yield (
            PUT_FEEDBACK,
            {
                "delivery_id": delivery,
                "actor": reaction.actor,
                "value": int(rating),
                "person_id": who.id,
                "name": who.name,
                "address": address,
                "run_id": run,
                "words": reaction.words[:FEEDBACK_WORDS_MAX_CHARS],
                "at": micros(now),
            },
        )
        yield from fact(now, "feedback given", who.name, delivery, f"{address} {rating.word}")
        yield from happened(_rated(reaction, rating, delivery, Address.parse(address), who, now), now, new_id)
    return changed


def _rated(reaction: Reaction, rating: Rating, delivery: str, room: Address, who: Person, now: datetime) -> Happening:
    """The event for triggers. A mark that is put on again later is another one."""
    key = f"{delivery} {reaction.actor} {rating.word} {micros(now)}"
    text = f"{rating.emoji} {reaction.words}".rstrip()
    return Happening(EventKind.REACTION, key, room, text, who.name, person=who.id)


def standing(since: datetime, room: Address | None, limit: int) -> Op[list[Feedback]]:
    given: dict[str, object] = {"since": micros(since), "n": limit}
    if room is None:
        rows = yield STANDING, given
    else:
        rows = yield STANDING_IN, given | {"room": str(room)}
    return [_feedback_of(row) for row in rows]


def _feedback_of(row: Sequence[Any]) -> Feedback:
    delivery, run, address, name, value, words, at, content = row
    said = Content.from_json(content).text[:RATED_CHARS] if content else ""
    return Feedback(delivery, run or "", Address.parse(address), name, Rating(value), words, moment(at), said)


def own_marks(actor: str, room: Address) -> Op[dict[str, int]]:
    """Value of each message in a room that a person rated: the newest counts."""
    rows = yield OWN_MARKS, {"who": actor, "room": str(room)}
    return {str(row[0]): int(row[1]) for row in rows}
