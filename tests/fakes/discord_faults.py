"""Faults that a test puts in the way of a bot on the fake Discord."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aiohttp import web

from tests.fakes.discord_rules import Refusal


class Do(StrEnum):
    ERROR = "error"  # 500, not applied
    BUSY = "busy"  # 429 with Retry-After, not applied
    BUSY_EVERYWHERE = "busy_everywhere"  # … for all calls of the account
    FORBIDDEN = "forbidden"  # 403 Missing Access, not applied
    FORM = "form"  # 400 for a message with markup, not applied; a plain one passes and does not use up the fault
    CUT_BEFORE = "cut_before"  # the connection is cut, not applied
    CUT_AFTER = "cut_after"  # applied, then the connection is cut
    CUT_LATE = "cut_late"  # the connection is cut, applied `seconds` later
    ERROR_AFTER = "error_after"  # applied, then 502


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing going wrong. `seconds` is the Retry-After of BUSY and the delay of CUT_LATE."""

    do: Do
    seconds: float = 0.0


@dataclass(slots=True)
class Faults:
    """Faults in the order they will strike, for each kind of call; and what holds until it is lifted.

    `away`: 503 to all. `token`: our token is refused. `lag`: seconds until a message is in the history. `denied`:
    permissions taken away. `intents`: privileged intents that the application may use.
    """

    away: bool = False
    token: bool = False
    lag: float = 0.0
    denied: frozenset[str] = frozenset()
    _queues: dict[str, deque[Fault]] = field(default_factory=dict)

    def add(self, raw: Mapping[str, Any]) -> None:
        """Queue what a test asks: {"do": …, "count": 1, "seconds": 0, "on": "send" | "edit" | "callback" | …}."""
        fault = Fault(Do(raw["do"]), float(raw.get("seconds", 0)))
        self._queues.setdefault(raw.get("on", "send"), deque()).extend([fault] * int(raw.get("count", 1)))

    def lift(self) -> None:
        self.away = self.token = False
        self.lag, self.denied = 0.0, frozenset()
        self._queues.clear()

    def strike(self, on: str, *, rich: bool = True) -> Fault | None:
        """The fault that meets this request, used up; None lets it pass."""
        queue = self._queues.get(on)
        if not queue or (queue[0].do is Do.FORM and not rich):
            return None
        return queue.popleft()


def refusal(fault: Fault) -> web.Response:
    """The answer of a fault under which nothing is applied."""
    match fault.do:
        case Do.BUSY | Do.BUSY_EVERYWHERE:
            return Refusal.busy(fault.seconds, everywhere=fault.do is Do.BUSY_EVERYWHERE).answer()
        case Do.FORBIDDEN:
            return Refusal(403, 50001, "Missing Access").answer()
        case Do.FORM:
            return Refusal.form("content", "BASE_TYPE_BAD", "This markup is not understood.").answer()
        case _:
            return web.json_response({"message": "500: Internal Server Error", "code": 0}, status=500)
