"""Checkpoint of a room: what is known to be on screen there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from runtime.contract import Address, DeliveryId, Kind


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last part on screen in a room. `receipt` is the platform's id of it, empty where it gives none."""

    room: Address
    delivery: DeliveryId
    kind: Kind
    run: str
    part: int
    receipt: str
    shown_at: datetime
    node: str
