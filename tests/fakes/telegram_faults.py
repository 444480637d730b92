"""Faults that a test puts in the way of a bot's calls to the fake Telegram."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

SENDS: Final = frozenset({"sendMessage", "sendPhoto", "sendDocument", "sendVoice", "sendAudio", "sendMediaGroup"})
EDITS: Final = frozenset({"editMessageText", "editMessageCaption"})
GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "send": SENDS,
    "edit": EDITS,
    "probe": frozenset({"editMessageReplyMarkup"}),
}
"""What a fault's `on` may name beside a method."""


class Do(StrEnum):
    RATE = "rate"  # 429 with retry_after, not applied
    ERROR = "error"  # 500, not applied
    CLOSED = "closed"  # 403, not applied
    FORM = "form"  # 400 for what has entities or a file, not applied; plain text passes and does not use it up
    CUT_BEFORE = "cut before"  # the connection is cut, not applied
    CUT_AFTER = "cut after"  # applied, then the connection is cut
    CUT_LATE = "cut late"  # the connection is cut, applied `seconds` later; with endless ones when a test calls it


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing going wrong. `seconds` is the wait of RATE and the delay of CUT_LATE; `chat` 0 means any."""

    do: Do
    seconds: float = 0.0
    chat: int = 0


@dataclass(slots=True)
class Faults:
    """`away`: every call is 503. `token`: every call is 401."""

    away: bool = False
    token: bool = False
    _queues: dict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))

    def add(self, raw: Mapping[str, Any]) -> None:
        """{"do": …, "count": 1, "seconds": 0, "on": "send" | "edit" | "probe" | a method, "chat": 0} or {"away": true} …"""
        switches = {name: bool(raw[name]) for name in ("away", "token") if name in raw}
        for name, value in switches.items():
            setattr(self, name, value)
        if "do" in raw:
            fault = Fault(Do(raw["do"]), float(raw.get("seconds", 0)), int(raw.get("chat", 0)))
            self._queues[raw.get("on", "send")].extend([fault] * int(raw.get("count", 1)))

    def lift(self) -> None:
        self.away = self.token = False
        self._queues.clear()

    def strike(self, method: str, chat: int, *, plain: bool) -> Fault | None:
        """The fault that meets this call, used up; None lets it pass."""
        for on, queue in self._queues.items():
            if queue and method in GROUPS.get(on, {on}) and queue[0].chat in (0, chat):
                return None if queue[0].do is Do.FORM and plain else queue.popleft()
        return None
