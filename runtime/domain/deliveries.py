"""Deliveries and their parts as state machines. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class DeliveryState(StrEnum):
    QUEUED = "queued"  # not rendered yet
    OPEN = "open"  # rendered; parts are being shown
    SHOWN = "shown"  # every part is on screen
    HELD = "held"  # nobody can tell whether a part is on screen; leaves by a person's word only
    DEAD = "dead"  # given up; the payload is kept
    DISCARDED = "discarded"  # thrown away by a person


class DeliveryEvent(StrEnum):
    RENDER = "render"
    SHOW = "show"
    HOLD = "hold"
    GIVE_UP = "give-up"
    REQUEUE = "requeue"
    DISCARD = "discard"


# All moves are here and nowhere else. A state without a row is final.
DELIVERY_MOVES: Final[Mapping[tuple[DeliveryState, DeliveryEvent], DeliveryState]] = {
    (DeliveryState.QUEUED, DeliveryEvent.RENDER): DeliveryState.OPEN,
    (DeliveryState.QUEUED, DeliveryEvent.GIVE_UP): DeliveryState.DEAD,
    (DeliveryState.QUEUED, DeliveryEvent.DISCARD): DeliveryState.DISCARDED,
    (DeliveryState.OPEN, DeliveryEvent.RENDER): DeliveryState.OPEN,  # given up before it was rendered, then requeued
    (DeliveryState.OPEN, DeliveryEvent.SHOW): DeliveryState.SHOWN,
    (DeliveryState.OPEN, DeliveryEvent.HOLD): DeliveryState.HELD,
    (DeliveryState.OPEN, DeliveryEvent.GIVE_UP): DeliveryState.DEAD,
    (DeliveryState.OPEN, DeliveryEvent.DISCARD): DeliveryState.DISCARDED,
    (DeliveryState.HELD, DeliveryEvent.REQUEUE): DeliveryState.OPEN,
    (DeliveryState.HELD, DeliveryEvent.DISCARD): DeliveryState.DISCARDED,
    (DeliveryState.DEAD, DeliveryEvent.REQUEUE): DeliveryState.OPEN,
    (DeliveryState.DEAD, DeliveryEvent.DISCARD): DeliveryState.DISCARDED,
}


DROP: Final = "drop"
"""How a trace calls the DISCARD of something that tells of work under way and could not be shown at once."""


class PartState(StrEnum):
    PENDING = "pending"  # certainly not on screen
    MARKED = "marked"  # being sent
    UNSETTLED = "unsettled"  # perhaps on screen: being looked for
    SHOWN = "shown"  # on screen; its receipt is recorded
    HELD = "held"  # nobody can tell
    DEAD = "dead"  # refused by the platform


class PartEvent(StrEnum):
    MARK = "mark"
    CHECKPOINT = "checkpoint"  # it is on screen
    RETRY = "retry"  # certainly not shown: later again
    DOUBT = "doubt"  # cut after sending, or killed between sending and checkpoint
    LOOK = "look"  # looked once, not there yet
    ABSENT = "absent"  # two empty looks
    REPEAT = "repeat"  # nobody can tell; sent again with a visible mark
    HOLD = "hold"
    PLAIN = "plain"  # refused for its form: its plain twin goes instead
    GIVE_UP = "give-up"
    REQUEUE = "requeue"
    RESTORE = "restore"  # a backup was restored: perhaps it was shown after that was taken


PART_MOVES: Final[Mapping[tuple[PartState, PartEvent], PartState]] = {
    (PartState.PENDING, PartEvent.MARK): PartState.MARKED,
    (PartState.PENDING, PartEvent.CHECKPOINT): PartState.SHOWN,  # channels whose screen is our store
    (PartState.PENDING, PartEvent.GIVE_UP): PartState.DEAD,
    (PartState.PENDING, PartEvent.RESTORE): PartState.UNSETTLED,
    (PartState.MARKED, PartEvent.CHECKPOINT): PartState.SHOWN,
    (PartState.MARKED, PartEvent.RETRY): PartState.PENDING,
    (PartState.MARKED, PartEvent.PLAIN): PartState.PENDING,
    (PartState.MARKED, PartEvent.DOUBT): PartState.UNSETTLED,
    (PartState.MARKED, PartEvent.GIVE_UP): PartState.DEAD,
    (PartState.MARKED, PartEvent.RESTORE): PartState.UNSETTLED,
    (PartState.UNSETTLED, PartEvent.LOOK): PartState.UNSETTLED,
    (PartState.UNSETTLED, PartEvent.CHECKPOINT): PartState.SHOWN,
    (PartState.UNSETTLED, PartEvent.ABSENT): PartState.PENDING,
    (PartState.UNSETTLED, PartEvent.REPEAT): PartState.PENDING,
    (PartState.UNSETTLED, PartEvent.HOLD): PartState.HELD,
    (PartState.UNSETTLED, PartEvent.RESTORE): PartState.UNSETTLED,
    (PartState.HELD, PartEvent.REQUEUE): PartState.PENDING,
    (PartState.DEAD, PartEvent.REQUEUE): PartState.PENDING,
}
