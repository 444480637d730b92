"""The outbox's transactions: what must still be shown, and what is known about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, case, func, literal_column, select, update

from runtime.contract import Address, DeliveryId, Kind, NewId, Receipt, RunId, Wire
from runtime.domain.deliveries import DeliveryEvent, PartEvent
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.trigger import EventKind
from runtime.store.common import ADD_DELIVERY, delivery_row, fact, held, moved
from runtime.store.delivery.enqueue import ADD_PART, NO_MORE, add_parts, on_screen, part_row
from runtime.store.delivery.moves import (
    DELIVERY,
    PART,
    changed,
    move_delivery,
    move_part,
    ours,
)
from runtime.store.protocol import Duty, NewDelivery
from runtime.store.schema import deliveries, parts
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.store.triggers.firing import happened

ENQUEUE = ADD_DELIVERY.on_conflict_do_nothing().returning(deliveries.c.number)
ABANDONED = (
    select(parts.c.delivery_id, parts.c.ordinal, parts.c.marked_at)
    .join(deliveries, deliveries.c.id == parts.c.delivery_id)
    .where(
        is_word(parts.c.state, "marked"),
        deliveries.c.channel == bindparam("c"),
        deliveries.c.account == bindparam("a"),
    )
)
WAIT_UNTIL = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("d"))
    .values(not_before=bindparam("at"), reason=bindparam("why"))
)
GOES_FIRST = update(deliveries).where(deliveries.c.id == bindparam("d")).values(rank=0)
MARKED_AT = (
    update(parts)
    .where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n"))
    .values(
        marked_at=bindparam("at"),
        first_at=func.coalesce(parts.c.first_at, bindparam("at")),
        node=bindparam("by"),
        floor=bindparam("lowest"),
    )
)
SHOWN_AT = (
    update(parts)
    .where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n"))
    .values(shown_at=bindparam("at"), receipt=bindparam("slip"), node=bindparam("by"))
)
USE_PLAIN = (
    update(parts)
    .where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n"))
    .values(body=parts.c.fallback, fallback=None, more=NO_MORE)
)
MORE = select(parts.c.more).where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n"))
LAST_ORDINAL = select(func.max(parts.c.ordinal)).where(parts.c.delivery_id == bindparam("d"))
LEFT_BESIDE = (
    select(func.count())
    .select_from(parts)
    .where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal != bindparam("n"), parts.c.state != "shown")
)

COURIER_ENDED: Final = "its process died between sending and recording the result"

DOUBTED_AT = select(deliveries.c.doubted_at).where(deliveries.c.id == bindparam("d"))
# One that was certainly not shown before has the marker of an attempt that is of no account any more.
NOT_SHOWN = (
    select(
        parts.c.ordinal,
        case((is_word(parts.c.state, "marked", "unsettled"), parts.c.marked_at)),
        case((is_word(parts.c.state, "marked", "unsettled"), parts.c.floor), else_=literal_column("''")),
    )
    .where(parts.c.delivery_id == bindparam("d"), is_word(parts.c.state, "pending", "marked", "unsettled"))
    .order_by(parts.c.ordinal)
)


def enqueue(new: NewDelivery, now: datetime) -> Op[bool]:
    rows = yield ENQUEUE, delivery_row(new, now)
    return bool(rows)


def adopt(duty: Duty, channel: str, account: str, look_after: timedelta, now: datetime) -> Op[int | None]:
    """Put parts that an ended courier left marked in doubt; their number, or None if the duty was lost."""
    if not (yield from held(duty)):
        return None
    abandoned = yield ABANDONED, {"c": channel, "a": account}
    for delivery, ordinal, marked_at in abandoned:
        at = moment(marked_at) + look_after
        yield from move_part(DeliveryId(delivery), ordinal, PartEvent.DOUBT, COURIER_ENDED)
        yield from moved(now, delivery, duty.node, PartEvent.DOUBT, f"part {ordinal}: {COURIER_ENDED}")
        yield WAIT_UNTIL, {"d": delivery, "at": micros(at), "why": "being checked"}
        yield GOES_FIRST, {"d": delivery}
    return len(abandoned)


def render(
    duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], mark_first: bool, floor: str, now: datetime
) -> Op[bool]:
    known = yield from ours(duty, delivery, (DELIVERY, {"d": delivery}), (DOUBTED_AT, {"d": delivery}))
    if known is None:
        return False
    about, ((doubted,),) = known
    yield from add_parts(delivery, wires, duty, floor, micros(now) if mark_first and doubted is None else None)
    yield from move_delivery(delivery, DeliveryEvent.RENDER, "", None, about)
    if doubted is not None:
        yield from doubt_parts(delivery, doubted)
    return True


def doubt_parts(delivery: DeliveryId, since: int) -> Op[None]:
    """After a restore: what is not known to be on screen may have come there since the backup was taken, `since`."""
    for ordinal, marked_at, floor in (yield NOT_SHOWN, {"d": delivery}):
        yield from move_part(delivery, ordinal, PartEvent.RESTORE, "a backup was restored", looked=0)
        at = since if marked_at is None else marked_at
        yield MARKED_AT, {"d": delivery, "n": ordinal, "at": at, "by": None, "lowest": floor}


def render_shown(
    duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], receipts: Sequence[Receipt], now: datetime
) -> Op[bool]:
    if (yield from ours(duty, delivery)) is None:
        return False
    yield from add_parts(delivery, wires, duty, "")
    yield from move_delivery(delivery, DeliveryEvent.RENDER, "", None)
    for ordinal, receipt in enumerate(receipts, 1):
        yield from _show(duty, delivery, ordinal, receipt, now)
    about = yield from move_delivery(delivery, DeliveryEvent.SHOW, "", micros(now))
    yield from on_screen(delivery, Kind(about["kind"]), about["run"], about["address"], now)
    return True


def mark(duty: Duty, delivery: DeliveryId, ordinal: int, floor: str, now: datetime) -> Op[bool]:
    if (yield from ours(duty, delivery)) is None:
        return False
    yield from _mark(duty, delivery, ordinal, floor, now)
    return True


def _mark(duty: Duty, delivery: DeliveryId, ordinal: int, floor: str, now: datetime) -> Op[None]:
    yield from move_part(delivery, ordinal, PartEvent.MARK, tried=1, looked=0)
    yield MARKED_AT, {"d": delivery, "n": ordinal, "at": micros(now), "by": duty.node, "lowest": floor}


def checkpoint(duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt, now: datetime) -> Op[bool]:
    part = {"d": delivery, "n": ordinal}
    known = yield from ours(duty, delivery, (DELIVERY, {"d": delivery}), (PART, part), (LEFT_BESIDE, part))
    if known is None:
        return False
    read, shown, ((left,),) = known
    yield from _show(duty, delivery, ordinal, receipt, now, shown)
    if left:
        yield GOES_FIRST, {"d": delivery}
    else:
        about = yield from move_delivery(delivery, DeliveryEvent.SHOW, "", micros(now), read)
        yield from on_screen(delivery, Kind(about["kind"]), about["run"], about["address"], now)
    return True


def _show(
    duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt, now: datetime, known: Sequence[Any] = ()
) -> Op[None]:
    yield from move_part(delivery, ordinal, PartEvent.CHECKPOINT, known=known)
    yield SHOWN_AT, {"d": delivery, "n": ordinal, "at": micros(now), "slip": receipt.message_id, "by": duty.node}


def change(
    duty: Duty,
    delivery: DeliveryId,
    ordinal: int,
    event: PartEvent,
    why: str,
    now: datetime,
    *,
    at: datetime | None = None,
    looked: int | None = None,
) -> Op[bool]:
    """A part that is neither shown nor given up: it moves, and its delivery waits until `at`."""
    if (yield from ours(duty, delivery)) is None:
        return False
    yield from changed(duty, delivery, ordinal, event, why, now, looked=looked)
    if event is PartEvent.DOUBT:
        yield GOES_FIRST, {"d": delivery}
    if at is not None:
        yield WAIT_UNTIL, {"d": delivery, "at": micros(at), "why": why}
    return True


def plain(duty: Duty, delivery: DeliveryId, ordinal: int, why: str, now: datetime) -> Op[bool]:
    """Its fall-back takes its place; where one message held what several do without it, the others follow the last."""
    if (yield from ours(duty, delivery)) is None:
        return False
    rows = yield MORE, {"d": delivery, "n": ordinal}
    more = json.loads(rows[0][0])
    told = f"{why}; {len(more)} more follow" if more else why
    yield from changed(duty, delivery, ordinal, PartEvent.PLAIN, told, now)
    yield USE_PLAIN, {"d": delivery, "n": ordinal}
    if more:
        last = yield LAST_ORDINAL, {"d": delivery}
        for number, body in enumerate(more, last[0][0] + 1):
            yield ADD_PART, part_row(delivery, number, body, None)
        yield from fact(now, "delivery split", "", delivery, f"part {ordinal}: {told}")
    return True


LOOKS_OF_PART = select(parts.c.looks).where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n"))


def look_again(duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, counted: bool, now: datetime) -> Op[bool]:
    rows = yield LOOKS_OF_PART, {"d": delivery, "n": ordinal}
    looked = rows[0][0] + (1 if counted else 0)
    why = "being checked: " + ("not there yet" if counted else "the platform couldn't be asked")
    return (yield from change(duty, delivery, ordinal, PartEvent.LOOK, why, now, at=at, looked=looked))


def end(
    duty: Duty,
    delivery: DeliveryId,
    ordinal: int | None,
    events: tuple[PartEvent, DeliveryEvent],
    why: str,
    now: datetime,
    new_id: NewId,
) -> Op[bool]:
    """End a part that won't be sent automatically any more, with its delivery. `ordinal` None: never rendered."""
    if (yield from ours(duty, delivery)) is None:
        return False
    if ordinal is not None:
        yield from move_part(delivery, ordinal, events[0], why)
    yield from moved(now, delivery, duty.node, events[1], f"part {ordinal}: {why}" if ordinal else why)
    about = yield from move_delivery(delivery, events[1], why, micros(now))
    yield from fact(now, f"delivery {events[1].value}", "", delivery, f"{about['address']}: {why}")
    if events[1] is DeliveryEvent.GIVE_UP:
        run, room = about["run"] and RunId(about["run"]), Address.parse(about["address"])
        event = Happening(EventKind.DELIVERY_DEAD, delivery, room, why, run=run)
        yield from happened(event, now, new_id)
    return True
