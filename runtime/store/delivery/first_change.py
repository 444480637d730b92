"""Change of a message that goes up with the commit that makes it, as an answer goes up with its run's last one.

The courier keeps a room for it; what then waits there alone is begun as the courier would: cut into parts by its
renderer, the first one marked. So between a press and the change of its card lies one commit.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from runtime.contract import Delivery, Part, Receipt, Wire
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.store.common import held
from runtime.store.delivery.enqueue import MARK_SHOWN, RENDERED, put_marked_parts, put_shown_parts
from runtime.store.delivery.moves import SET_DELIVERY
from runtime.store.delivery.open_deliveries import OPEN_AT, opened
from runtime.store.protocol import KeptRoom, OpenDelivery, OpenPart, Rendered
from runtime.store.sql.driver import Op, micros

ALONE = 2
"""How many are read, to know that there is only one."""


def begin_change(kept: KeptRoom, now: datetime) -> Op[OpenDelivery | None]:
    """The change that waits alone in a kept room, begun; None where something else is to be looked at first."""
    if not (yield from held(kept.duty)):
        return None
    waiting = yield OPEN_AT, {"room": str(kept.room), "n": ALONE}
    if len(waiting) != 1:
        return None
    found = yield from opened(waiting[0])
    delivery = found.delivery
    if not _is_new_change(found) or not (wires := _rendered(kept, delivery)):
        return None
    rendered = Rendered(kept.duty, wires, _receipts(kept, delivery, len(wires)))
    state = MARK_SHOWN if kept.stored else RENDERED
    settled_at = micros(now) if kept.stored else None
    yield SET_DELIVERY, {"d": delivery.id, "new_state": state.value, "why": "", "at": settled_at}
    if kept.stored:
        yield from put_shown_parts(delivery, rendered, now, found.run_id)
    else:
        yield from put_marked_parts(delivery.id, rendered, now)
    return replace(found, state=state, parts=_parts(rendered))


def _is_new_change(found: OpenDelivery) -> bool:
    """True if nothing is known of it but what it replaces, which nothing else changes meanwhile."""
    return (
        found.state is DeliveryState.QUEUED
        and found.edit_of is not None
        and not found.over_preview
        and not found.in_doubt
    )


def _rendered(kept: KeptRoom, delivery: Delivery) -> tuple[Wire, ...]:
    try:
        return kept.render(delivery)
    except Exception:  # noqa: BLE001 - it is rendered once more in its turn, which keeps the payload and tells
        return ()


def _receipts(kept: KeptRoom, delivery: Delivery, count: int) -> tuple[Receipt, ...]:
    if not kept.stored:
        return ()
    return tuple(Receipt(Part(delivery.id, ordinal, kept.room, "").id) for ordinal in range(1, count + 1))


def _parts(rendered: Rendered) -> tuple[OpenPart, ...]:
    first = PartState.SHOWN if rendered.receipts else PartState.MARKED
    rest = PartState.SHOWN if rendered.receipts else PartState.PENDING
    return tuple(
        OpenPart(ordinal, first if ordinal == 1 else rest, wire.body, wire.fallback)
        for ordinal, wire in enumerate(rendered.wires, 1)
    )
