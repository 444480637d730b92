"""Changes of what is shown: the message that is meant, and the delivery that rewrites it or marks it with an emoji.

A change is a delivery that `edits` the message: what is on screen is known, so it may be made again without any doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select

from runtime.contract import Address, Content, RunId, SessionKey
from runtime.domain.deliveries import DeliveryState
from runtime.store.common import ADD_DELIVERY, delivery_row
from runtime.store.delivery.moves import LOCK_DELIVERY
from runtime.store.delivery.open_deliveries import RECEIPTS_OF
from runtime.store.protocol import NewDelivery
from runtime.store.protocol.outbox import ChangeTarget
from runtime.store.schema import deliveries, runs, signals
from runtime.store.sql.driver import Op, is_word

ASKED = (
    select(signals.c.id, signals.c.message_id)
    .where(
        signals.c.run_id == bindparam("run"), signals.c.address == bindparam("room"), is_word(signals.c.kind, "said")
    )
    .order_by(signals.c.seq)
    .limit(1)
)
POSTED = select(deliveries.c.id, deliveries.c.content, deliveries.c.state).where(
    deliveries.c.origin == bindparam("origin"), deliveries.c.address == bindparam("room"), deliveries.c.ordinal == 0
)
ANSWERED_LAST = (
    select(deliveries.c.id, deliveries.c.content, deliveries.c.state)
    .join(runs, runs.c.id == deliveries.c.run_id)
    .where(
        deliveries.c.address == bindparam("room"),
        runs.c.session == bindparam("session"),
        is_word(deliveries.c.kind, "final"),
        is_word(deliveries.c.state, "shown"),
    )
    .order_by(deliveries.c.created_at.desc())
    .limit(1)
)
LOCK_SIGNAL = select(signals.c.id).where(signals.c.id == bindparam("d")).with_for_update()
MADE = select(deliveries.c.origin).where(
    deliveries.c.origin >= bindparam("first"), deliveries.c.origin < bindparam("behind")
)
EARLIER = select(func.count()).where(
    deliveries.c.address == bindparam("room"), deliveries.c.edits.is_not(None), deliveries.c.edits == bindparam("d")
)


def asked_in(run: RunId, room: Address) -> Op[ChangeTarget | None]:
    rows = yield ASKED, {"run": run, "room": str(room)}
    return ChangeTarget(rows[0][0], tuple(filter(None, [rows[0][1]]))) if rows else None


def posted_as(origin: str, room: Address) -> Op[ChangeTarget | None]:
    return (yield from _target((yield POSTED, {"origin": origin, "room": str(room)})))


def last_answer(session: SessionKey, room: Address) -> Op[ChangeTarget | None]:
    return (yield from _target((yield ANSWERED_LAST, {"session": session, "room": str(room)})))


def _target(rows: Sequence[tuple[Any, ...]]) -> Op[ChangeTarget | None]:
    if not rows:
        return None
    delivery, content, state = rows[0]
    receipts = yield RECEIPTS_OF, {"d": delivery}
    shown = tuple(receipt for receipt, *_ in receipts)
    return ChangeTarget(delivery, shown, Content.from_json(content), DeliveryState(state))


def change_shown(new: NewDelivery, most: int, now: datetime) -> Op[bool]:
    """Add it with the number of the change. The row of the message is locked: two changes of it have two numbers."""
    yield LOCK_DELIVERY, {"d": new.edits}
    yield LOCK_SIGNAL, {"d": new.edits}
    run = new.origin.rpartition(":")[0]
    made = yield MADE, {"first": f"{run}:", "behind": f"{run};"}
    if (new.origin,) in [tuple(row) for row in made]:
        return True
    if len(made) >= most:
        return False
    earlier = yield EARLIER, {"room": str(new.address), "d": new.edits}
    yield ADD_DELIVERY, delivery_row(replace(new, ordinal=earlier[0][0] + 1), now)
    return True
