"""Figures for reports: counts, sums and lists over everything that is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from runtime.contract.people import Address


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed."""

    run: str
    address: Address
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Activity:
    """Events since an instant, counted by their outcome. `rooms` are runs by room, most first."""

    messages: Mapping[str, int] = field(default_factory=dict)
    runs: Mapping[str, int] = field(default_factory=dict)
    approvals: Mapping[str, int] = field(default_factory=dict)
    deliveries: Mapping[str, int] = field(default_factory=dict)
    occurrences: Mapping[str, int] = field(default_factory=dict)
    rooms: tuple[tuple[Address, int], ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """Use of an agent in a room. `cost_micros` is in millionths of a US dollar.

    `cached_tokens` of the input came from a vendor's cache; `fallbacks` are calls that another model than theirs answered.
    """

    agent: str
    address: Address
    runs: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_micros: int
    cached_tokens: int = 0
    fallbacks: int = 0


@dataclass(frozen=True, slots=True)
class Costs:
    """Use of all together, and by whom and where the most: the dearest first."""

    runs: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    rows: tuple[Cost, ...] = ()
    cached_tokens: int = 0
    fallbacks: int = 0


@dataclass(frozen=True, slots=True)
class DayCost:
    """Use of all together in the 24 hours from `day` on."""

    day: datetime
    cost_micros: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that waits for people. `question` has the words of one that is put to a person, with its answers."""

    id: str
    tool: str
    arguments: str
    effect: str
    address: Address
    requester: str
    asked_at: datetime
    expires_at: datetime
    question: str = ""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A message that did not get to its room: given up (dead), or on hold since nobody can tell whether it did."""

    id: str
    state: str
    kind: str
    address: Address
    reason: str
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Opinion:
    """Rating of one message: `value` is up or down, `words` are the person's, `text` begins the message."""

    person: str
    value: str
    words: str
    text: str
    address: Address
    run: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Opinions:
    """Ratings that stand, counted; `rows` are the newest."""

    up: int = 0
    down: int = 0
    rows: tuple[Opinion, ...] = ()


class Figures(Protocol):
    """Reads only. With `room` it is about that room and its threads alone. Lists are bounded by `most`."""

    async def activity(self, since: datetime, *, room: Address | None = None, most: int = 10) -> Activity:
        """Since `since`; lists newest or largest first."""

    async def costs(self, since: datetime, *, room: Address | None = None, most: int = 1000) -> Costs:
        """Since `since`. A thread has a row of its own; the sums are over all, listed or not."""

    async def cost_by_day(self, first: datetime, days: int) -> list[DayCost]:
        """A sum for each of the `days` from `first` on, also of those on which nothing was used."""

    async def pending_approvals(self, *, room: Address | None = None, most: int = 50) -> tuple[int, list[Pending]]:
        """Number of pending approvals, and at most `most` of them, the first to expire first."""

    async def dead_letters(self, *, room: Address | None = None, most: int = 50) -> tuple[int, list[Stuck]]:
        """Number of messages that are dead or on hold, and at most `most` of them, newest first."""

    async def feedback(self, since: datetime, *, room: Address | None = None, most: int = 50) -> Opinions:
        """Ratings of the agent's messages since `since`, of at most 10,000 the newest."""
