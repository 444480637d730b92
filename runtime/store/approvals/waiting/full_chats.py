"""Private chats that hold as many open cards as one may: further questions stand behind a line, and get cards as others end.

A deferred question has a delivery by the name of its origin: the line, or an edit of it. Whoever counts the cards of a chat
holds its row until the new card is there, and holds the lanes of all questions before that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Text, bindparam, exists, func, literal_column, select

from runtime.chat import inbox
from runtime.chat.audience import able
from runtime.chat.cards import listing, open_cards
from runtime.contract import Address, ApprovalId, ApprovalKind, Content, DeliveryId, Kind, NewId
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.store.approvals.audience import those_who_decide
from runtime.store.approvals.decisions import locked
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import ONE, approval_of, listed_with, standing
from runtime.store.common import ADD_DELIVERY, delivery_row, put
from runtime.store.protocol import NewDelivery
from runtime.store.schema import approvals, chats, deliveries
from runtime.store.sql.driver import Op, is_word
from runtime.store.sql.upsert import insert
from runtime.text.words import said_at, say

DEFERRED: Final = "deferred:"
"""Before a question's id: the origin of its line. As long as that of a card, so that retention finds the question."""
LINES: Final = (DEFERRED, "deferred;")
"""All such origins are from the first on, and before the second."""
LEFT: Final = "deferred-left:"
OVER: Final = "deferred-over:"
"""Before a line's id: the origins of its later edits, and of the last one."""

a_card, end, any_line = deliveries.alias("a_card"), deliveries.alias("ending"), deliveries.alias("any_line")


def _has_card(room: ColumnElement[str]) -> ColumnElement[bool]:
    """A question has a card of its own in a room."""
    origin = literal_column("'approval:'", Text).concat(approvals.c.id)
    return exists().where(a_card.c.origin == origin, a_card.c.address == room, a_card.c.edits.is_(None))


HAS_CARD_HERE = _has_card(bindparam("room"))
CARDS_HERE = select(func.count()).select_from(approvals).where(is_word(approvals.c.state, "pending"), HAS_CARD_HERE)
BEHIND = (
    select(approvals.c.id, deliveries.c.id, deliveries.c.edits)
    .select_from(approvals)
    .join(deliveries, deliveries.c.origin == literal_column(f"'{DEFERRED}'", Text).concat(approvals.c.id))
    .where(is_word(approvals.c.state, "pending"), deliveries.c.address == bindparam("room"), ~HAS_CARD_HERE)
    .order_by(deliveries.c.number)
)
DEFERRED_IN = (
    select(deliveries.c.address)
    .join(approvals, approvals.c.id == bindparam("id"))
    .where(deliveries.c.origin == bindparam("o"), ~_has_card(deliveries.c.address))
    .order_by(deliveries.c.number)
)
OPEN_LINES = select(deliveries.c.id, deliveries.c.address).where(
    deliveries.c.origin >= literal_column(f"'{LINES[0]}'", Text),
    deliveries.c.origin < literal_column(f"'{LINES[1]}'", Text),
    deliveries.c.edits.is_(None),
    ~exists().where(end.c.origin == literal_column(f"'{OVER}'", Text).concat(deliveries.c.id)),
)
_new_chat = insert(chats).values(room=bindparam("room"), told=0)
LOCK_CHAT = _new_chat.on_conflict_do_update(index_elements=["room"], set_={"room": _new_chat.excluded.room})
SET_TOLD = put(chats)
TOLD = select(chats.c.told).where(chats.c.room == bindparam("room"))
LOCK_LINE = select(deliveries.c.id).where(deliveries.c.id == bindparam("line")).with_for_update()
OF_ORIGIN = select(func.count()).select_from(any_line).where(any_line.c.origin == bindparam("o"))


def is_full(room: Address, leaving: int = 0) -> Op[bool]:
    """True if a private chat holds as many open cards as one may, but for those `leaving` it in this transaction.

    The chat is the caller's until its transaction ends.
    """
    yield LOCK_CHAT, {"room": str(room)}
    return (yield from _cards_in(room)) - leaving >= inbox.CHAT_CARDS_MAX


def _cards_in(room: Address) -> Op[int]:
    return int((yield CARDS_HERE, {"room": str(room)})[0][0])


def defer(question: ApprovalId, newest: str, room: Address, mark: str | None, now: datetime, new_id: NewId) -> Op[None]:
    """A question stands behind the line of a full chat, once; `newest` tells in words what it is about."""
    rows = yield BEHIND, {"room": str(room)}
    if any(row[0] == question for row in rows):
        return
    origin, line = f"{DEFERRED}{question}", (rows[0][2] or rows[0][1]) if rows else None
    ordinal = (yield OF_ORIGIN, {"o": origin})[0][0]
    yield SET_TOLD, {"room": str(room), "told": len(rows) + 1}
    with said_at(room):
        said = Content(inbox.deferred(len(rows) + 1, newest, mark))
    new = NewDelivery(DeliveryId(new_id()), origin, ordinal, Kind.APPROVAL, room, said, line)
    yield ADD_DELIVERY, delivery_row(new, now)


def deferred_in(question: ApprovalId) -> Op[list[Address]]:
    """Private chats in which a question stands behind the line."""
    return [Address.parse(room) for (room,) in (yield DEFERRED_IN, {"o": f"{DEFERRED}{question}", "id": question})]


def behind(room: Address) -> Op[list[ApprovalId]]:
    """Open questions without a card in a private chat, oldest first."""
    return [ApprovalId(row[0]) for row in (yield BEHIND, {"room": str(room)})]


def to_refill(rights: Rights, now: datetime) -> Op[list[tuple[DeliveryId, Address]]]:
    """Lines of private chats in which there is room by now, or that tell of another number than is left for their readers."""
    found = []
    for line, at in (yield OPEN_LINES, {}):
        room = Address.parse(at)
        every = yield from behind(room)
        waiting = yield from _of_readers(every, room, rights, now)
        is_free = waiting and (yield from _cards_in(room)) < inbox.CHAT_CARDS_MAX
        if not every or is_free or (yield TOLD, {"room": at}) != [(len(waiting),)]:
            found.append((DeliveryId(line), room))
    return found


def refill(line: DeliveryId, room: Address, mark: str, rights: Rights, now: datetime, new_id: NewId) -> Op[bool]:
    """The oldest questions behind a line get their cards, as many as there is room for; false where nothing changed.

    Whoever may decide none of the others any more is told of none. They may do so again: the line ends with the last question.
    """
    yield LOCK_LINE, {"line": line}  # of two nodes one comes first, and the other finds it done
    waiting = yield from _of_readers((yield from behind(room)), room, rights, now)
    for one in waiting[: inbox.CHAT_CARDS_MAX]:
        yield from locked(one)
    yield LOCK_CHAT, {"room": str(room)}
    free = inbox.CHAT_CARDS_MAX - (yield from _cards_in(room))
    for one in waiting[: max(free, 0)]:
        yield from _put(one, room, rights, now, new_id)
    every = yield from behind(room)
    left = yield from _of_readers(every, room, rights, now)
    if every and not waiting[: max(free, 0)] and (yield TOLD, {"room": str(room)}) == [(len(left),)]:
        return False
    origin = f"{LEFT if every else OVER}{line}"
    ordinal = (yield OF_ORIGIN, {"o": origin})[0][0]
    if ordinal and not every:
        return False
    yield SET_TOLD, {"room": str(room), "told": len(left)}
    with said_at(room):
        said = Content(inbox.deferred(len(left), mark=mark) if left else say(inbox.NONE_DEFERRED))
    edit = NewDelivery(DeliveryId(new_id()), origin, ordinal, Kind.APPROVAL, room, said, line)
    yield ADD_DELIVERY, delivery_row(edit, now)
    return True


def _of_readers(waiting: Sequence[ApprovalId], room: Address, rights: Rights, now: datetime) -> Op[list[ApprovalId]]:
    """Questions that whoever reads this chat may still decide: they have seen none of them."""
    found = []
    for question in waiting:
        approval = approval_of((yield ONE, {"id": question})[0])
        terms = approval.terms
        is_named = str(room) in (*terms.to, *terms.escalate_to)
        named = terms.approvers if approval.kind is ApprovalKind.ANSWER else rights.approvers
        candidates = () if is_named else (yield from those_who_decide(approval.address, named, now))
        if is_named or any(room in one.rooms for one in able(approval, candidates, rights)):
            found.append(question)
    return found


def _put(question: ApprovalId, room: Address, rights: Rights, now: datetime, new_id: NewId) -> Op[None]:
    """A card of its own in this room, unless somebody decided meanwhile, or another node put it there."""
    approval = yield from locked(question)
    copies, ordinal = yield from standing(question)
    if approval is None or approval.state is not ApprovalState.PENDING or any(at == room for _, at in copies):
        return
    names = yield from approved_by(approval, rights)
    group = (yield from listed_with(approval)) if approval.lead else []
    with said_at(room):
        said = _card(approval, group, names, room, now)
    card = NewDelivery(DeliveryId(new_id()), f"approval:{approval.id}", ordinal, Kind.APPROVAL, room, said)
    yield ADD_DELIVERY, delivery_row(card, now, approval.run_id)


def _card(approval: Approval, group: Sequence[Approval], names: Sequence[str], room: Address, now: datetime) -> Content:
    home = room == approval.address
    if group:
        return listing.card(group, now, home=home, voted=names)
    return open_cards.pending(approval, now, home=home, voted=names, at=None if home else room)
