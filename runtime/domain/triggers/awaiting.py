"""A run that waits for an event: the trigger that ends the wait, and the words that the run then reads. No I/O."""

from __future__ import annotations

import glob
import json
from datetime import datetime

from runtime.contract import Address, EventWish, RunId
from runtime.domain.triggers.firing import Happening, parts_of
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import ROOMLESS_KINDS, EventKind, EventTrigger, TriggerState
from runtime.text.outside import material


def awaited(run: RunId, step: int, wish: EventWish, here: Address, until: datetime) -> KeptTrigger:
    """The trigger for a call of a run. Without a room of its own it watches that of the run."""
    kind = EventKind(wish.event)
    room = wish.room or ("*" if kind in ROOMLESS_KINDS else glob.escape(str(here.whole_room)))
    trigger = EventTrigger(
        f"{run}-{step}", f"wait {run[-6:]}", kind, room, tuple(wish.words), wakes=f"{run}/{step}", fires_max=1
    )
    return KeptTrigger(trigger, TriggerState.ACTIVE, ends_at=until)


def event_read(event: Happening) -> str:
    """The event as the steps behind it read it: JSON, between the marks of others' words."""
    return material(json.dumps(parts_of(event), ensure_ascii=False), event.who or event.kind.value, markup=False)
