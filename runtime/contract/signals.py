"""The way in: what happened on a channel, and what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from runtime.contract.ids import ApprovalId, Identity, SignalId
from runtime.contract.people import Address


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"


class Busy(StrEnum):
    """What happens to a message that comes while its session's lane works."""

    STEER = "steer"  # joins the live run before its next model call
    FOLLOWUP = "followup"  # waits and gets a run of its own
    COLLECT = "collect"  # waits; all that wait share the next run


class Choice(StrEnum):
    """What a button says. `done`, `again` and `skip` answer a question about an unknown outcome."""

    APPROVE = "approve"
    DENY = "deny"
    DONE = "done"
    AGAIN = "again"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file in a session's workspace. `path` is relative to it, with forward slashes; `size` is in bytes."""

    name: str
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Said:
    """A person wrote something to the agent."""

    text: str
    files: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Clicked:
    """A person pressed a button of a card. The id is as the platform sent it: perhaps forged."""

    approval_id: ApprovalId
    choice: Choice
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person asked that the work in this room ends."""


Body = Said | Clicked | Stopped


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that happened on a channel, in our words.

    `platform` is the account's own identity at its platform (not its name in the settings); with `dedupe_key` it is
    unique, so a repeat is the same event. `natural_key` is a second such key where a platform reports one thing
    under two ids. `console` marks an event that an operator made outside the room (console page, CLI).
    """

    platform: str
    dedupe_key: str
    actor: Identity
    actor_name: str
    address: Address
    body: Body
    received_at: datetime
    natural_key: str | None = None
    urgency: Urgency = Urgency.NORMAL
    console: bool = False


class Outcome(StrEnum):
    ACCEPTED = "accepted"  # it waits for a run, or joined one
    MERGED = "merged"  # the same words from the same person, still unanswered: one run for both
    DUPLICATE = "duplicate"  # this very event was taken in before
    DECIDED = "decided"  # a click or stop that changed something
    UNCHANGED = "unchanged"  # a click or stop that changed nothing: late, repeated, forged or not allowed
    REFUSED = "refused"  # the gate said no


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a Signal. `notice` (at most 200 characters) is for the sender alone, best effort."""

    outcome: Outcome
    signal_id: SignalId
    notice: str | None = None


Sink = Callable[[Signal], Awaitable[Verdict]]
"""Takes a Signal in, in one transaction. Errors: StoreError means that it was not taken in: do not acknowledge."""
