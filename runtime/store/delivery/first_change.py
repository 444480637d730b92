"""Change of a message that its courier makes as soon as the commit is in which it was decided."""

from __future__ import annotations

from runtime.contract import Address
from runtime.domain.deliveries import DeliveryState
from runtime.store.delivery.open_deliveries import OPEN_AT, opened
from runtime.store.protocol import OpenDelivery
from runtime.store.sql.driver import Op

ALONE = 2
"""How many are read, to know that there is only one."""


def change_in(room: Address) -> Op[OpenDelivery | None]:
    """The change that waits in `room`, new and alone; None where something else is to be looked at first."""
    waiting = yield OPEN_AT, {"room": str(room), "n": ALONE}
    if len(waiting) != 1:
        return None
    found = yield from opened(waiting[0])
    is_new = found.state is DeliveryState.QUEUED and not found.in_doubt
    return found if is_new and found.edit_of and not found.over_preview else None
