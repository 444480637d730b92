"""Budgets: what may be spent, by whom and until when, and which of them forbids the next call. Pure.

A counter is kept for each budget that is set, and for each person, room or agent that it bounds. Money is in millionths of
a US dollar. Days and months are those of UTC, as in every report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final

DOLLAR: Final = 1_000_000
USUAL_HOLD: Final = 50_000
"""Held back for a call under way: a long request to a usual model, 20,000 tokens read."""


class Scope(StrEnum):
    """Bounds of a budget, by the name of its setting: whose spending it bounds, and for how long."""

    DAY = "day"
    MONTH = "month"
    PERSON_DAY = "person_day"
    ROOM_DAY = "room_day"
    AGENT_DAY = "agent_day"
    AGENT_TOKENS_HOUR = "agent_tokens_hour"
    AGENT_CALLS_HOUR = "agent_calls_hour"


HOURLY: Final = (Scope.AGENT_TOKENS_HOUR, Scope.AGENT_CALLS_HOUR)
MONEY: Final = tuple(scope for scope in Scope if scope not in HOURLY)
OF_AGENTS: Final = (Scope.AGENT_DAY, *HOURLY)
"""Budgets that bound each agent, and may bound one of them otherwise."""


CLOCKS_DIFFER: Final = timedelta(minutes=5)


class Then(StrEnum):
    """Course of a run that no budget allows another call."""

    STOP = "stop"
    CHEAPEST = "cheapest"
    ASK = "ask"


class Level(IntEnum):
    """Step of a counter that people are told of, each once."""

    BELOW = 0
    WARNED = 1
    REACHED = 2


@dataclass(frozen=True, slots=True)
class BudgetRules:
    """Budgets as they are set. `limits` are in millionths of a dollar, in tokens or in calls; `hold` is kept back for a call.

    `agents` have limits of their own in place of those that bound each agent. `is_set`: anything is bounded.
    """

    limits: Mapping[Scope, int] = field(default_factory=dict)
    warn_at: float = 0.8
    then: Then = Then.STOP
    hold: int = USUAL_HOLD
    agents: Mapping[str, Mapping[Scope, int]] = field(default_factory=dict)
    is_set: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_set", bool(self.limits or self.agents))

    @property
    def scopes(self) -> Sequence[Scope]:
        """Kinds of budgets that are set for everybody or for some agent."""
        own = {scope for limits in self.agents.values() for scope in limits}
        return [scope for scope in Scope if scope in self.limits or scope in own]

    def limit_of(self, scope: Scope, subject: str) -> int | None:
        """Limit of the counter of `subject`; None where none is set."""
        own = self.agents.get(subject, {}) if scope in OF_AGENTS else {}
        return own.get(scope, self.limits.get(scope))

    def limit(self, counter: Counter) -> int:
        """Limit of a counter that is kept."""
        found = self.limit_of(counter.scope, counter.subject)
        return self.limits[counter.scope] if found is None else found


NO_BUDGETS: Final = BudgetRules()


@dataclass(slots=True)
class Budgets:
    """Rules that hold at this moment; each transaction takes them as a value."""

    rules: BudgetRules = NO_BUDGETS


@dataclass(frozen=True, slots=True)
class Counter:
    """Count of one budget for one subject up to `ends_at`: what was spent, and what is held back for calls under way."""

    scope: Scope
    subject: str
    spent: int
    tokens: int
    calls: int
    unpriced: int
    reserved: int
    held: int
    level: Level
    ends_at: datetime

    @property
    def used(self) -> int:
        """In the unit of its limit."""
        match self.scope:
            case Scope.AGENT_TOKENS_HOUR:
                return self.tokens
            case Scope.AGENT_CALLS_HOUR:
                return self.calls
            case _:
                return self.spent

    @property
    def under_way(self) -> int:
        """Held back for calls that were not counted yet; of tokens nobody knows."""
        match self.scope:
            case Scope.AGENT_TOKENS_HOUR:
                return 0
            case Scope.AGENT_CALLS_HOUR:
                return self.held
            case _:
                return self.reserved

    def is_on(self, now: datetime) -> bool:
        """True if this is its time."""
        return self.ends_at > now and not self.is_from_ahead(now)

    def is_from_ahead(self, now: datetime) -> bool:
        """True if a clock that was ahead began it. Clocks of nodes may differ a little."""
        return self.ends_at > ends_of(self.scope, now + CLOCKS_DIFFER)

    def at(self, now: datetime) -> Counter:
        """As it is `now`: its time may be over, and nobody has counted since."""
        if self.is_on(now):
            return self
        fresh = replace(self, spent=0, tokens=0, calls=0, unpriced=0, level=Level.BELOW)
        return replace(fresh, ends_at=ends_of(self.scope, now))


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A budget that forbids a call until `ends_at`. `is_held`: it is not spent, but calls under way may take the rest.

    `was_asked`: people were asked to go on beyond it, and did not say yes.
    """

    scope: Scope
    limit: int
    used: int
    ends_at: datetime
    then: Then
    is_held: bool = False
    was_asked: bool = False


@dataclass(frozen=True, slots=True)
class Allowance:
    """Answer to a run that wants to call a model, where budgets are set. `over` is the budget that forbids it."""

    over: Exceeded | None = None


def ends_of(scope: Scope, now: datetime) -> datetime:
    """The instant from which a budget counts anew.

    >>> from datetime import UTC
    >>> [ends_of(scope, datetime(2026, 12, 31, 23, 30, tzinfo=UTC)).isoformat()[:16] for scope in ("month", "day")]
    ['2027-01-01T00:00', '2027-01-01T00:00']
    """
    hour = now.replace(minute=0, second=0, microsecond=0)
    if scope in HOURLY:
        return hour + timedelta(hours=1)
    day = hour.replace(hour=0)
    if scope == Scope.MONTH:
        return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return day + timedelta(days=1)


def began_of(scope: Scope, now: datetime) -> datetime:
    """The instant from which a budget counts what is spent now."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    if scope in HOURLY:
        return hour
    day = hour.replace(hour=0)
    return day.replace(day=1) if scope == Scope.MONTH else day


def fresh(scope: Scope, now: datetime) -> Counter:
    """A counter of nobody, of which nothing is used."""
    return Counter(scope, "", 0, 0, 0, 0, 0, 0, Level.BELOW, ends_of(scope, now))


def in_order(counters: Iterable[Counter]) -> list[Counter]:
    """The order in which settings and reports have them."""
    return sorted(counters, key=lambda counter: (list(Scope).index(counter.scope), counter.subject))


def exceeded(rules: BudgetRules, counters: Iterable[Counter], own: int = 0) -> Exceeded | None:
    """The budget that forbids a call: the one that is spent for longest. `own` is held back for that call already."""
    found = [
        (counter, limit)
        for counter in counters
        if (limit := rules.limit_of(counter.scope, counter.subject)) is not None
        and counter.used + counter.under_way - _own(counter.scope, own) >= limit
    ]
    if not found:
        return None
    counter, limit = max(found, key=lambda one: (one[0].used >= one[1], one[0].ends_at))
    return Exceeded(counter.scope, limit, counter.used, counter.ends_at, rules.then, counter.used < limit)


def _own(scope: Scope, hold: int) -> int:
    return {Scope.AGENT_TOKENS_HOUR: 0, Scope.AGENT_CALLS_HOUR: int(hold > 0)}.get(scope, hold)


def level_of(rules: BudgetRules, counter: Counter) -> Level:
    """Level by what was spent, whatever people were told so far."""
    limit = rules.limit(counter)
    if counter.used >= limit:
        return Level.REACHED
    return Level.WARNED if counter.used >= rules.warn_at * limit else Level.BELOW
