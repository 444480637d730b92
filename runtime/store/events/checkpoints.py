"""Checkpoints: the last part on screen in each room, with the platform's id of it."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Integer, Text, bindparam, func, select

from runtime.contract import Address, DeliveryId, Kind
from runtime.domain.events.checkpoints import Checkpoint
from runtime.store.common import in_room
from runtime.store.schema import deliveries, parts
from runtime.store.sql.driver import Op, is_word, moment

NEWEST_DELIVERIES: Final = 20
"""Deliveries of a room among which the last part is looked for: changes of older messages come after newer ones."""

# One step each by the index of addresses: a table of a million deliveries has perhaps a hundred rooms.
NEXT_ROOM = select(func.min(deliveries.c.address)).where(deliveries.c.address > bindparam("after", type_=Text))
ROOMS_OF = (
    select(deliveries.c.address)
    .where(in_room(deliveries.c.address))
    .distinct()
    .order_by(deliveries.c.address)
    .limit(bindparam("n", type_=Integer))
)
_newest = (
    select(deliveries.c.id)
    .where(deliveries.c.address == bindparam("room"), is_word(deliveries.c.state, "shown", "open", "held"))
    .order_by(deliveries.c.created_at.desc())
    .limit(NEWEST_DELIVERIES)
    .subquery()
)
LAST_PART = (
    select(
        deliveries.c.id,
        deliveries.c.kind,
        deliveries.c.run_id,
        parts.c.ordinal,
        parts.c.receipt,
        parts.c.shown_at,
        parts.c.node,
    )
    .join(_newest, _newest.c.id == deliveries.c.id)
    .join(parts, parts.c.delivery_id == deliveries.c.id)
    .where(is_word(parts.c.state, "shown"), parts.c.shown_at.is_not(None))
    .order_by(parts.c.shown_at.desc(), parts.c.ordinal.desc())
    .limit(1)
)


def checkpoints(room: Address | None, limit: int) -> Op[list[Checkpoint]]:
    """Of one room with its threads, or of all, the newest first."""
    found = []
    for address in (yield from _rooms(room, limit)):
        for delivery, kind, run, ordinal, receipt, shown, node in (yield LAST_PART, {"room": address}):
            found.append(
                Checkpoint(
                    Address.parse(address),
                    DeliveryId(delivery),
                    Kind(kind),
                    run or "",
                    ordinal,
                    receipt or "",
                    moment(shown),
                    node or "",
                )
            )
    return sorted(found, key=lambda one: one.shown_at, reverse=True)


def _rooms(room: Address | None, limit: int) -> Op[list[str]]:
    if room is not None:
        return [address for (address,) in (yield ROOMS_OF, {"room": str(room), "n": limit})]
    found: list[str] = []
    while len(found) < limit and (after := (yield NEXT_ROOM, {"after": found[-1] if found else ""})[0][0]):
        found.append(after)
    return found
