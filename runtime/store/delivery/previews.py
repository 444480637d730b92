"""Previews: a message that shows a reply growing, and whose place is taken by what is said last.

A preview is a delivery like any other: marked before it is sent, checkpointed when it is on screen. What is different is
that it is worth showing now or never: one that is certainly not on screen is thrown away rather than sent again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, func, select, update

from runtime.contract import DeliveryId, RunId
from runtime.domain.deliveries import DROP, DeliveryEvent, PartEvent
from runtime.store.common import at_once, moved, owned
from runtime.store.delivery.enqueue import asks_free, put_marked
from runtime.store.delivery.moves import changed, move_delivery, move_part, ours
from runtime.store.delivery.open_deliveries import message_of
from runtime.store.delivery.replacing import standing_preview
from runtime.store.protocol import Duty, Lane, NewDelivery, Previewed
from runtime.store.schema import deliveries
from runtime.store.sql.driver import Op, micros

NEXT = select(func.coalesce(func.max(deliveries.c.ordinal) + 1, 0)).where(deliveries.c.origin == bindparam("o"))
ON_ITS_OWN = update(deliveries).where(deliveries.c.id == bindparam("d")).values(edits=None)


def preview(lane: Lane, run: RunId, new: NewDelivery, now: datetime) -> Op[Previewed | None]:
    """Begin `new`, unless a preview of its origin is there already: a cut run that goes on has that one back."""
    handed = new.rendered
    if (yield from owned(lane)) is None or handed is None or handed.duty is None:
        return None
    held, waits = yield at_once(*asks_free(new))  # its role is locked before any delivery, as couriers do
    known = yield from standing_preview(new.origin)
    if known:
        receipt, _ = yield from message_of(known)
        return Previewed(known, receipt=receipt)
    if waits or not held:
        return None
    rows = yield NEXT, {"o": new.origin}
    yield from put_marked(replace(new, ordinal=rows[0][0]), handed, handed.duty, now, run)
    return Previewed(new.id, begun=True)


def drop(duty: Duty, delivery: DeliveryId, ordinal: int, event: PartEvent, why: str, now: datetime) -> Op[bool]:
    if (yield from ours(duty, delivery)) is None:
        return False
    yield from move_part(delivery, ordinal, event, why)
    yield from moved(now, delivery, duty.node, DROP, f"part {ordinal}: {why}")
    yield from move_delivery(delivery, DeliveryEvent.DISCARD, why, micros(now))
    return True


def detach(duty: Duty, delivery: DeliveryId, ordinal: int, why: str, now: datetime) -> Op[bool]:
    if (yield from ours(duty, delivery)) is None:
        return False
    yield from changed(duty, delivery, ordinal, PartEvent.RETRY, f"the message it replaces can't be edited: {why}", now)
    yield ON_ITS_OWN, {"d": delivery}
    return True
