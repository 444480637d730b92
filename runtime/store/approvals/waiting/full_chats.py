"""Private chats that hold as many open cards as one may: further questions stand behind a line, and get cards as others end.

A deferred question has a delivery by the name of its origin: the line, or an edit of it. The bound spares a reader, so two
questions asked in the same instant may both find the last place free.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Text, bindparam, exists, func, literal_column, select

from runtime.chat import inbox
from runtime.chat.cards import listing, open_cards
from runtime.contract import Address, ApprovalId, Content, DeliveryId, Kind, NewId
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.store.approvals.decisions import locked
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import listed_with, standing
from runtime.store.common import ADD_DELIVERY, delivery_row
from runtime.store.protocol import NewDelivery
from runtime.store.schema import approvals, deliveries
from runtime.store.sql.driver import Op, is_word

DEFERRED: Final = "deferred:"
"""Before a question's id: the origin of its line. As long as that of a card, so that retention finds the question."""
LINES: Final = (DEFERRED, "deferred;")
"""All such origins are from the first on, and before the second."""
LEFT: Final = "deferred-left:"
OVER: Final = "deferred-over:"
"""Before a line's id: the origins of its later edits, and of the last one."""

a_card, end, any_line = deliveries.alias("a_card"), deliveries.alias("ending"), deliveries.alias("any_line")
HAS_CARD_HERE = exists().where(
    a_card.c.origin == literal_column("'approval:'", Text).concat(approvals.c.id),
    a_card.c.address == bindparam("room"),
    a_card.c.edits.is_(None),
)
CARDS_HERE = select(func.count()).select_from(approvals).where(is_word(approvals.c.state, "pending"), HAS_CARD_HERE)
BEHIND = (
    select(approvals.c.id, deliveries.c.id, deliveries.c.edits)
    .select_from(approvals)
    .join(deliveries, deliveries.c.origin == literal_column(f"'{DEFERRED}'", Text).concat(approvals.c.id))
    .where(is_word(approvals.c.state, "pending"), deliveries.c.address == bindparam("room"), ~HAS_CARD_HERE)
    .order_by(deliveries.c.number)
)
OPEN_LINES = select(deliveries.c.id, deliveries.c.address).where(
    deliveries.c.origin >= literal_column(f"'{LINES[0]}'", Text),
    deliveries.c.origin < literal_column(f"'{LINES[1]}'", Text),
    deliveries.c.edits.is_(None),
    ~exists().where(end.c.origin == literal_column(f"'{OVER}'", Text).concat(deliveries.c.id)),
)
LOCK_LINE = select(deliveries.c.id).where(deliveries.c.id == bindparam("line")).with_for_update()
OF_ORIGIN = select(func.count()).select_from(any_line).where(any_line.c.origin == bindparam("o"))


def is_full(room: Address) -> Op[bool]:
    """True if a private chat holds as many open cards as one may."""
    return bool((yield CARDS_HERE, {"room": str(room)})[0][0] >= inbox.CHAT_CARDS_MAX)


def defer(question: ApprovalId, newest: str, room: Address, ordinal: int, now: datetime, new_id: NewId) -> Op[None]:
    """A question stands behind the line of a full chat; `newest` tells in words what it is about."""
    rows = yield BEHIND, {"room": str(room)}
    line = (rows[0][2] or rows[0][1]) if rows else None
    said = Content(inbox.deferred(len(rows) + 1, newest))
    new = NewDelivery(DeliveryId(new_id()), f"{DEFERRED}{question}", ordinal, Kind.APPROVAL, room, said, line)
    yield ADD_DELIVERY, delivery_row(new, now)


def behind(room: Address) -> Op[list[ApprovalId]]:
    """Open questions without a card in a private chat, oldest first."""
    return [ApprovalId(row[0]) for row in (yield BEHIND, {"room": str(room)})]


def to_refill() -> Op[list[tuple[DeliveryId, Address]]]:
    """Lines of private chats in which there is room by now, or nothing left behind the line."""
    found = []
    for line, at in (yield OPEN_LINES, {}):
        room = Address.parse(at)
        if not (yield from behind(room)) or not (yield from is_full(room)):
            found.append((DeliveryId(line), room))
    return found


def refill(line: DeliveryId, room: Address, rights: Rights, now: datetime, new_id: NewId) -> Op[bool]:
    """The oldest questions behind a line get their cards, as many as there is room for; false where nothing changed."""
    yield LOCK_LINE, {"line": line}  # of two nodes one comes first, and the other finds it done
    waiting = yield from behind(room)
    free = inbox.CHAT_CARDS_MAX - int((yield CARDS_HERE, {"room": str(room)})[0][0])
    for one in waiting[: max(free, 0)]:
        yield from _put(one, room, rights, now, new_id)
    left = yield from behind(room)
    if left and len(left) == len(waiting):
        return False
    origin = f"{LEFT if left else OVER}{line}"
    ordinal = (yield OF_ORIGIN, {"o": origin})[0][0]
    if ordinal and not left:
        return False
    said = Content(inbox.deferred(len(left)) if left else inbox.NONE_DEFERRED)
    edit = NewDelivery(DeliveryId(new_id()), origin, ordinal, Kind.APPROVAL, room, said, line)
    yield ADD_DELIVERY, delivery_row(edit, now)
    return True


def _put(question: ApprovalId, room: Address, rights: Rights, now: datetime, new_id: NewId) -> Op[None]:
    """A card of its own in this room, unless somebody decided meanwhile, or another node put it there."""
    approval = yield from locked(question)
    copies, ordinal = yield from standing(question)
    if approval is None or approval.state is not ApprovalState.PENDING or any(at == room for _, at in copies):
        return
    names = yield from approved_by(approval, rights)
    group = (yield from listed_with(approval)) if approval.lead else []
    said = _card(approval, group, names, room, now)
    card = NewDelivery(DeliveryId(new_id()), f"approval:{approval.id}", ordinal, Kind.APPROVAL, room, said)
    yield ADD_DELIVERY, delivery_row(card, now, approval.run_id)


def _card(approval: Approval, group: Sequence[Approval], names: Sequence[str], room: Address, now: datetime) -> Content:
    if group:
        return listing.card(group, now, home=False, voted=names)
    return open_cards.pending(approval, now, home=False, voted=names, at=room)
