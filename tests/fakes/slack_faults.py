"""Faults that a test puts in the way of an app's calls to the fake Slack."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from tests.fakes.slack_rules import Refused


class Do(StrEnum):
    ERROR = "error"  # HTTP 500, not applied
    BUSY = "busy"  # HTTP 429 with Retry-After, not applied
    CLOSED = "closed"  # ok: false, is_archived; not applied
    REFUSE = "refuse"  # ok: false with the error named, not applied
    FORM = "form"  # invalid_blocks for a file or blocks of rich text; plain text passes and does not use up the fault
    CUT_BEFORE = "cut_before"  # the connection is cut, not applied
    CUT_AFTER = "cut_after"  # applied, then the connection is cut
    CUT_LATE = "cut_late"  # the connection is cut, applied `seconds` later


SENDS: Final = frozenset({"chat.postMessage", "chat.startStream", "files.completeUploadExternal"})
EDITS: Final = frozenset({"chat.update", "chat.appendStream", "chat.stopStream"})
LOOKS: Final = frozenset({"conversations.history", "conversations.replies", "files.info"})
GROUPS: Final = {"send": SENDS, "edit": EDITS, "look": LOOKS}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing going wrong. `seconds` is the Retry-After of BUSY and the delay of CUT_LATE; `error` is REFUSE's."""

    do: Do
    seconds: float = 0.0
    error: str = ""


@dataclass(slots=True)
class Faults:
    """Faults in the order they will strike, and switches that stay until they are lifted.

    `away`: every call is answered 503. `token`: the error of every call with a token, such as "token_revoked".
    `without`: scopes the app does not have; `untold`: no answer tells its scopes.
    `unknown`: kinds of blocks that this workspace does not have. `refuses_names`: an author's name without its scope is an error. `lag`: seconds until the history has a message. `share`: seconds until a
    finished upload is shared; negative for never. `twice`: each event is delivered twice. `rooms`: what is special about
    a channel, by its id: {"C1": {"is_member": false}} or {"is_archived": true}.
    """

    away: bool = False
    token: str = ""
    without: frozenset[str] = frozenset()
    untold: bool = False
    unknown: frozenset[str] = frozenset()
    refuses_names: bool = False
    lag: float = 0.0
    share: float = 0.0
    twice: bool = False
    rooms: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    _queues: dict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))

    def add(self, raw: Mapping[str, Any]) -> None:
        """A switch by its name, or {"do": …, "count": 1, "seconds": 0, "error": "", "on": "send" or a method's name}."""
        if "do" in raw:
            fault = Fault(Do(raw["do"]), float(raw.get("seconds", 0)), str(raw.get("error", "")))
            self._queues[raw.get("on", "send")].extend([fault] * int(raw.get("count", 1)))
            return
        for name, value in raw.items():
            setattr(self, name, frozenset(value) if name in ("without", "unknown") else value)

    def lift(self) -> None:
        self.away, self.token, self.without, self.lag, self.share, self.twice = False, "", frozenset(), 0.0, 0.0, False
        self.rooms, self.untold, self.unknown, self.refuses_names = {}, False, frozenset(), False
        self._queues.clear()

    def check_room(self, channel: str, *, posts: bool) -> None:
        """Errors: Refused for who is not in it, and who would post in one that is archived."""
        special = self.rooms.get(channel, {})
        if not special.get("is_member", True):
            raise Refused("not_in_channel")
        if posts and special.get("is_archived"):
            raise Refused("is_archived")

    def check_kinds(self, blocks: Iterable[Mapping[str, Any]]) -> None:
        """Errors: Refused for a block that there is not, as Slack words it."""
        if wrong := [block["type"] for block in blocks if block.get("type") in self.unknown]:
            raise Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] unsupported type: {wrong[0]}"]})

    def strike(self, method: str, *, rich: bool) -> Fault | None:
        """The fault that meets this call, used up; None lets it pass."""
        for on in (method, *(group for group, methods in GROUPS.items() if method in methods)):
            queue = self._queues.get(on)
            if queue and (queue[0].do is not Do.FORM or rich):
                return queue.popleft()
        return None
