"""Open deliveries, as the courier reads them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Integer, bindparam, func, select

from runtime.contract import Address, Content, Delivery, DeliveryId, Kind, Receipt
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.store.protocol import OpenDelivery, OpenPart
from runtime.store.schema import deliveries, parts
from runtime.store.sql.driver import Op, is_word, maybe_moment, moment

open_ = is_word(deliveries.c.state, "queued", "open")

FIRST_ROOM = select(func.min(deliveries.c.address)).where(
    deliveries.c.channel == bindparam("c"), deliveries.c.account == bindparam("a"), open_
)
# One index probe a room, however many deliveries each holds: a long queue in one room must not slow the others.
NEXT_ROOM = FIRST_ROOM.where(deliveries.c.address > bindparam("after"))
DELIVERY_COLUMNS = (
    deliveries.c.number,
    deliveries.c.id,
    deliveries.c.origin,
    deliveries.c.ordinal,
    deliveries.c.kind,
    deliveries.c.address,
    deliveries.c.content,
    deliveries.c.edits,
    deliveries.c.state,
    deliveries.c.rank,
    deliveries.c.not_before,
    deliveries.c.run_id,
    deliveries.c.doubted_at,
    deliveries.c.reply_to,
)
OPEN_AT = (
    select(*DELIVERY_COLUMNS)
    .where(deliveries.c.address == bindparam("room"), open_)
    .order_by(deliveries.c.rank, deliveries.c.number)
    .limit(bindparam("n", type_=Integer))
)
PART_COLUMNS = (
    parts.c.ordinal,
    parts.c.state,
    parts.c.body,
    parts.c.fallback,
    parts.c.attempts,
    parts.c.marked_at,
    parts.c.looks,
    parts.c.receipt,
    parts.c.repeat_mark,
    parts.c.floor,
    parts.c.first_at,
)
PARTS_OF = select(*PART_COLUMNS).where(parts.c.delivery_id == bindparam("d")).order_by(parts.c.ordinal)
RECEIPTS_OF = (
    select(parts.c.receipt, deliveries.c.kind, deliveries.c.content)
    .join(deliveries, deliveries.c.id == parts.c.delivery_id)
    .where(parts.c.delivery_id == bindparam("d"), parts.c.receipt.is_not(None))
    .order_by(parts.c.ordinal)
)


def rooms(channel: str, account: str) -> Op[list[Address]]:
    found: list[Address] = []
    rows = yield FIRST_ROOM, {"c": channel, "a": account}
    while rows[0][0] is not None:
        found.append(Address.parse(rows[0][0]))
        rows = yield NEXT_ROOM, {"c": channel, "a": account, "after": rows[0][0]}
    return found


def open_at(address: Address, limit: int) -> Op[list[OpenDelivery]]:
    rows = yield OPEN_AT, {"room": str(address), "n": limit}
    found, origins = [], set()
    for row in sorted(rows, key=lambda row: row[0]):  # by age, so that an origin's first one is met first
        if row[2] not in origins:
            found.append((yield from opened(row)))
        origins.add(row[2])
    return sorted(found, key=lambda d: (d.rank, d.number))


def change_in(room: Address) -> Op[OpenDelivery | None]:
    """The change that waits in `room`, new and alone; None where something else is to be looked at first."""
    waiting = yield OPEN_AT, {"room": str(room), "n": 2}
    if len(waiting) != 1:
        return None
    found = yield from opened(waiting[0])
    is_new = found.state is DeliveryState.QUEUED and not found.in_doubt
    return found if is_new and found.edit_of and not found.over_preview else None


def opened(row: tuple[Any, ...]) -> Op[OpenDelivery]:
    number, delivery_id, origin, ordinal, kind, address, content, edits, *rest = row
    state, rank, not_before, run_id, doubted_at, reply_to = rest
    delivery = Delivery(
        DeliveryId(delivery_id),
        origin,
        ordinal,
        Kind(kind),
        Address.parse(address),
        Content.from_json(content),
        DeliveryId(edits) if edits else None,
        reply_to,
    )
    own = (yield PARTS_OF, {"d": delivery_id}) if state != DeliveryState.QUEUED else []  # which is not rendered yet
    receipt, over = (yield from message_of(DeliveryId(edits))) if edits else (None, "")
    if delivery.content.reaction:  # it may be put onto a person's message, which was never a delivery
        receipt, over = Receipt(reply_to), ""
    return OpenDelivery(
        delivery,
        DeliveryState(state),
        rank,
        number,
        moment(not_before),
        tuple(map(part_of, own)),
        receipt,
        run_id,
        doubted_at is not None,
        over == Kind.PROGRESS,
    )


def message_of(delivery: DeliveryId) -> Op[tuple[Receipt | None, str]]:
    """The message of it that another one replaces, and its kind. That is the one with the buttons: the last on screen; a
    card that is one message has at most a file behind it."""
    rows = yield RECEIPTS_OF, {"d": delivery}
    if not rows:
        return None, ""
    is_whole = len(rows) > 1 and Content.from_json(rows[0][2]).whole
    receipt, kind, _ = rows[0 if is_whole else -1]
    return Receipt(receipt), kind


def part_of(row: tuple[Any, ...]) -> OpenPart:
    ordinal, state, body, fallback, attempts, marked_at, looks, receipt, repeat_mark, floor, first_at = row
    return OpenPart(
        ordinal,
        PartState(state),
        body,
        fallback,
        attempts,
        maybe_moment(marked_at),
        looks,
        Receipt(receipt) if receipt else None,
        bool(repeat_mark),
        floor,
        maybe_moment(first_at),
    )
