"""Counters of budgets: one statement changes all those that a call counts in.

A counter that is missing is made of the usage of its time, so that a budget which is set today knows what was spent before.
The usage of the call itself is recorded first, and is in that sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, bindparam, case, delete, func, literal_column, or_, select, update

from runtime.contract import Address, NewId, Usage
from runtime.domain.ids import first_at
from runtime.domain.schedules import NO_MODEL
from runtime.policy.budgets import (
    CLOCKS_DIFFER,
    HOURLY,
    BudgetRules,
    Counter,
    Level,
    Scope,
    began_of,
    ends_of,
    in_order,
)
from runtime.store.common import add, in_room
from runtime.store.schema import budgets, reservations, usage
from runtime.store.sql.driver import Op, is_word, micros, moment

LONGEST_RUN: Final = timedelta(days=2)
FAR_AHEAD: Final = timedelta(days=366)
"""No clock of ours is so far ahead."""

NO_SUBJECT: Final = "-"
"""Subject of no counter."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Rules of a transaction, its time, and ids for what it makes."""

    rules: BudgetRules
    now: datetime
    new_id: NewId


@dataclass(frozen=True, slots=True)
class Payer:
    """Agent, room and person that a call counts for."""

    agent: str
    room: Address
    person: str | None

    def subject(self, scope: Scope) -> str | None:
        """The subject of its counter; None where there is none."""
        match scope:
            case Scope.DAY | Scope.MONTH:
                return ""
            case Scope.PERSON_DAY:
                return self.person
            case Scope.ROOM_DAY:
                return str(self.room.whole_room)
            case Scope.AGENT_DAY | Scope.AGENT_TOKENS_HOUR | Scope.AGENT_CALLS_HOUR:
                return self.agent


@dataclass(frozen=True, slots=True)
class Change:
    """Change of counters by a call: what it took, and what is held back more, or less."""

    cost: int = 0
    tokens: int = 0
    calls: int = 0
    unpriced: int = 0
    hold: int = 0
    held: int = 0

    @classmethod
    def of(cls, used: Usage | None, *, hold: int = 0, held: int = 0) -> Change:
        if used is None or used.model == NO_MODEL:
            return cls(hold=hold, held=held)
        tokens = max(0, used.input_tokens) + max(0, used.output_tokens)
        return cls(max(0, used.cost_micros), tokens, 1, int(used.unpriced), hold, held)

    def values(self) -> dict[str, int]:
        return {f"by_{name}": getattr(self, name) for name in self.__slots__}


COLUMNS = (
    budgets.c.scope,
    budgets.c.subject,
    budgets.c.spent,
    budgets.c.tokens,
    budgets.c.calls,
    budgets.c.unpriced,
    budgets.c.reserved,
    budgets.c.held,
    budgets.c.level,
    budgets.c.ends_at,
)
THESE = or_(
    *(and_(is_word(budgets.c.scope, scope), budgets.c.subject == bindparam(f"of_{scope.value}")) for scope in Scope)
)
IS_ON = budgets.c.ends_at > bindparam("now_")
NEXT_END = case(
    (IS_ON, budgets.c.ends_at),
    (is_word(budgets.c.scope, *HOURLY), bindparam("hour_ends")),
    (is_word(budgets.c.scope, Scope.MONTH), bindparam("month_ends")),
    else_=bindparam("day_ends"),
)


def _still(column: Any) -> Any:
    return case((IS_ON, column), else_=literal_column("0"))


CHANGE = (
    update(budgets)
    .where(THESE)
    .values(
        spent=_still(budgets.c.spent) + bindparam("by_cost"),
        tokens=_still(budgets.c.tokens) + bindparam("by_tokens"),
        calls=_still(budgets.c.calls) + bindparam("by_calls"),
        unpriced=_still(budgets.c.unpriced) + bindparam("by_unpriced"),
        level=_still(budgets.c.level),
        reserved=budgets.c.reserved + bindparam("by_hold"),
        held=budgets.c.held + bindparam("by_held"),
        ends_at=NEXT_END,
    )
    .returning(*COLUMNS)
)
LOOK = select(*COLUMNS).where(THESE)
DROP = delete(budgets).where(budgets.c.scope == bindparam("false_scope"), budgets.c.subject == bindparam("whose"))

_new = add(budgets)
MAKE = _new.on_conflict_do_update(  # another node was faster, and has not seen what this call takes
    index_elements=["scope", "subject"],
    set_={
        "spent": budgets.c.spent + bindparam("by_cost"),
        "tokens": budgets.c.tokens + bindparam("by_tokens"),
        "calls": budgets.c.calls + bindparam("by_calls"),
        "unpriced": budgets.c.unpriced + bindparam("by_unpriced"),
        "reserved": budgets.c.reserved + bindparam("by_hold"),
        "held": budgets.c.held + bindparam("by_held"),
    },
).returning(*COLUMNS)

_USED = (
    func.coalesce(func.sum(usage.c.cost_micros), 0),
    func.coalesce(func.sum(usage.c.input_tokens + usage.c.output_tokens), 0),
    func.count(),
    func.coalesce(func.sum(usage.c.unpriced), 0),
)
# Ids grow with time: older rows are not looked at. A range with both ends is walked by its index everywhere.
_SINCE = (
    usage.c.run_id >= bindparam("first"),
    usage.c.run_id <= bindparam("last"),
    usage.c.at >= bindparam("since"),
    usage.c.at < bindparam("until"),  # what a clock that was ahead has dated later is none of this time
    usage.c.model != literal_column(f"'{NO_MODEL}'"),
)
_HELD = (func.coalesce(func.sum(reservations.c.micros), 0), func.count())
_WHOSE: Final[Mapping[Scope, tuple[Any, Any]]] = {
    Scope.PERSON_DAY: (usage.c.person_id == bindparam("whose"), reservations.c.person_id == bindparam("whose")),
    Scope.ROOM_DAY: (in_room(usage.c.address), reservations.c.room == bindparam("whose")),
    **dict.fromkeys(
        (Scope.AGENT_DAY, *HOURLY), (usage.c.agent == bindparam("whose"), reservations.c.agent == bindparam("whose"))
    ),
}
SPENT_SO_FAR = {scope: select(*_USED).select_from(usage).where(*_SINCE, *_WHOSE.get(scope, ())[:1]) for scope in Scope}
HELD_SO_FAR = {scope: select(*_HELD).select_from(reservations).where(*_WHOSE.get(scope, ())[1:]) for scope in Scope}


def counter_of(row: Sequence[Any]) -> Counter:
    scope, subject, spent, tokens, calls, unpriced, reserved, held, level, ends_at = row
    sums = spent, tokens, calls, unpriced, reserved, held
    return Counter(Scope(scope), subject, *sums, Level(level), moment(ends_at))


def subjects(payer: Payer, rules: BudgetRules) -> dict[Scope, str]:
    """Counters that a call counts in."""
    known = ((scope, payer.subject(scope)) for scope in rules.scopes)
    return {
        scope: subject for scope, subject in known if subject is not None and rules.limit_of(scope, subject) is not None
    }


def _these(whose: Mapping[Scope, str]) -> dict[str, object]:
    return {f"of_{scope.value}": whose.get(scope, NO_SUBJECT) for scope in Scope}


def changed(payer: Payer, change: Change, rules: BudgetRules, now: datetime) -> Op[list[Counter]]:
    """Every counter of a call, after it was changed."""
    whose = subjects(payer, rules)
    times = {
        "now_": micros(now),
        "hour_ends": micros(ends_of(HOURLY[0], now)),
        "day_ends": micros(ends_of(Scope.DAY, now)),
        "month_ends": micros(ends_of(Scope.MONTH, now)),
    }
    rows = yield CHANGE, {**_these(whose), **times, **change.values()}
    found = [counter_of(row) for row in rows]
    for counter in [one for one in found if not one.is_on(now)]:  # a clock was ahead once: it is made anew
        yield DROP, {"false_scope": counter.scope.value, "whose": counter.subject}
        found.remove(counter)
    for scope in _missing(whose, found):
        fresh = yield from _made(scope, whose[scope], change, now)
        found.append(fresh)
    return found


def _missing(whose: Mapping[Scope, str], found: Iterable[Counter]) -> list[Scope]:
    known = {counter.scope for counter in found}
    return [scope for scope in whose if scope not in known]


def looked_at(payer: Payer, rules: BudgetRules, now: datetime) -> Op[list[Counter]]:
    """Every counter of a call as it is now, for whoever only wants to know."""
    whose = subjects(payer, rules)
    found = [one.at(now) for one in map(counter_of, (yield LOOK, _these(whose))) if not one.is_from_ahead(now)]
    for scope in _missing(whose, found):
        fresh = yield from _summed(scope, whose[scope], now)
        found.append(fresh)
    return in_order(found)


def _made(scope: Scope, subject: str, change: Change, now: datetime) -> Op[Counter]:
    counted = yield from _summed(scope, subject, now)
    row = {
        "scope": scope.value,
        "subject": subject,
        "spent": counted.spent,
        "tokens": counted.tokens,
        "calls": counted.calls,
        "unpriced": counted.unpriced,
        "reserved": counted.reserved + change.hold,
        "held": counted.held + change.held,
        "level": int(Level.BELOW),
        "ends_at": micros(counted.ends_at),
    }
    rows = yield MAKE, {**row, **change.values()}
    return counter_of(rows[0])


def _summed(scope: Scope, subject: str, now: datetime) -> Op[Counter]:
    """A counter made of what is recorded."""
    since = began_of(scope, now)
    until = ends_of(scope, now + CLOCKS_DIFFER)
    within = {
        "since": micros(since),
        "until": micros(until),
        "first": first_at(since - LONGEST_RUN),
        "last": first_at(now + FAR_AHEAD),
    }
    used = yield SPENT_SO_FAR[scope], {**within, "whose": subject, "room": subject}
    spent, tokens, calls, unpriced = map(int, used[0])
    reserved, held = map(int, (yield HELD_SO_FAR[scope], {"whose": subject})[0])
    sums = spent, tokens, calls, unpriced, reserved, held
    return Counter(scope, subject, *sums, Level.BELOW, ends_of(scope, now))
