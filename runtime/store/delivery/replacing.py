"""Preview whose place a new delivery takes, settled in the transaction that makes it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, exists, func, select

from runtime.contract import DeliveryId
from runtime.domain.deliveries import DROP, DeliveryEvent
from runtime.store.common import moved
from runtime.store.delivery.moves import move_delivery
from runtime.store.schema import deliveries, parts
from runtime.store.sql.driver import Op, is_word, micros

LEFT_OUT: Final = "its text is already on screen"

_later = deliveries.alias()
# The run says something else in its place only while it is at work, so what came later in its room is not much.
STANDING = (
    select(deliveries.c.id)
    .where(
        deliveries.c.origin == bindparam("o"),
        is_word(deliveries.c.state, "queued", "open", "shown"),
        ~exists().where(
            _later.c.address == deliveries.c.address,
            _later.c.created_at >= deliveries.c.created_at,
            _later.c.edits == deliveries.c.id,
        ),
    )
    .order_by(deliveries.c.ordinal.desc())
    .limit(1)
    .with_for_update(of=deliveries)
)
BEGUN = (
    select(func.count())
    .select_from(parts)
    .where(parts.c.delivery_id == bindparam("d"), is_word(parts.c.state, "marked", "unsettled", "shown"))
)


def standing_preview(origin: str) -> Op[DeliveryId | None]:
    """The preview of `origin` in whose place nothing was said yet; its row is locked."""
    rows = yield STANDING, {"o": origin}
    return DeliveryId(rows[0][0]) if rows else None


def replaced(origin: str, now: datetime) -> Op[DeliveryId | None]:
    """Preview of `origin` that is or may be on screen; what never left is thrown away."""
    preview = yield from standing_preview(origin)
    if preview is None or (yield BEGUN, {"d": preview})[0][0]:
        return preview
    yield from moved(now, preview, None, DROP, LEFT_OUT)
    yield from move_delivery(preview, DeliveryEvent.DISCARD, LEFT_OUT, micros(now))
    return None
