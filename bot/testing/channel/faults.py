"""Faults that a test puts in the way of the fake channel's next sends and edits."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Do(StrEnum):
    ERROR = "error"  # 500, not applied
    BUSY = "busy"  # 429 with Retry-After, not applied
    FORBIDDEN = "forbidden"  # 403, not applied
    FORM = "form"  # 400 for a body in rich form, not applied; its plain twin passes and does not use up the fault
    CUT_BEFORE = "cut_before"  # the connection is cut, not applied
    CUT_AFTER = "cut_after"  # applied, then the connection is cut
    CUT_LATE = "cut_late"  # the connection is cut, applied `seconds` later


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing going wrong. `seconds` is the Retry-After of BUSY and the delay of CUT_LATE: with an endless one it is applied
    when a test in this process says so."""

    do: Do
    seconds: float = 0.0


@dataclass(slots=True)
class Faults:
    """Faults in the order they will strike; `away` refuses everything until it is lifted."""

    away: bool = False
    _queues: dict[str, deque[Fault]] = field(default_factory=lambda: {"send": deque(), "edit": deque()})

    def add(self, raw: Mapping[str, Any]) -> None:
        """Queue what a test asks: {"do": …, "count": 1, "seconds": 0, "on": "send" | "edit"} or {"away": true}."""
        if "away" in raw:
            self.away = bool(raw["away"])
            return
        fault = Fault(Do(raw["do"]), float(raw.get("seconds", 0)))
        self._queues[raw.get("on", "send")].extend([fault] * int(raw.get("count", 1)))

    def lift(self) -> None:
        self.away = False
        for queue in self._queues.values():
            queue.clear()

    def strike(self, on: str, form: str) -> Fault | None:
        """The fault that meets this request, used up; None lets it pass."""
        queue = self._queues[on]
        if not queue or (queue[0].do is Do.FORM and form != "rich"):
            return None
        return queue.popleft()
