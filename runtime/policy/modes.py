"""Modes of a conversation: how much runs there unasked, after the rules have spoken. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from runtime.contract import PersonId

TRUSTED_MAX: Final = timedelta(hours=24)
"""For how long somebody is trusted at most."""


class Mode(StrEnum):
    NORMAL = "normal"  # the rules alone
    READ_ONLY = "read-only"  # nothing but reads
    PLAN = "plan"  # all changes of one answer are one question
    TRUSTED = "trusted"  # one person's writes need no question, until then


MODE_WORDS: Final = frozenset(one.value for one in Mode)


@dataclass(frozen=True, slots=True)
class RoomMode:
    """Mode of a conversation. `person` is who is trusted, `until` when that ends; names are those of today."""

    mode: Mode = Mode.NORMAL
    person: PersonId | None = None
    person_name: str = ""
    set_by: PersonId | None = None
    set_by_name: str = ""
    set_at: datetime | None = None
    until: datetime | None = None


NORMAL: Final = RoomMode()
"""Where nobody set one."""
READ_ONLY_REASON: Final = (
    "This conversation is read-only: only calls that read run here. Don't try it again; say what you would have done."
)
"""Words for the model in place of a call's result."""
