"""A trigger as it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from runtime.contract import Person
from runtime.domain.triggers.trigger import EventTrigger, TriggerState


@dataclass(frozen=True, slots=True)
class KeptTrigger:
    """A trigger as it stands. `home` is the room in which a person asked for it; `owner` None for one of the settings."""

    trigger: EventTrigger
    state: TriggerState
    home: str = ""
    reason: str = ""
    owner: Person | None = None
    actor: str = ""
    by_file: bool = False
    fires: int = 0
    fired_at: datetime | None = None
    ends_at: datetime | None = None
