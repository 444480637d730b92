"""Budgets as operators see them, and as a process begins with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, delete, literal_column, select

from runtime.domain.ids import first_at
from runtime.policy.budgets import BudgetRules, Counter, Level, Scope, in_order
from runtime.store.budgets.counters import COLUMNS, DROP, FAR_AHEAD, LONGEST_RUN, counter_of
from runtime.store.schema import budgets, reservations, usage
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros

ALL = select(*COLUMNS)
FORGET_COUNTERS: Final = {scope: delete(budgets).where(is_word(budgets.c.scope, scope)) for scope in Scope}
HOLD_NOTHING = delete(reservations)
SWEEP = delete(budgets).where(budgets.c.ends_at <= bindparam("now"), budgets.c.held == literal_column("0"))
"""Counters whose time is over: whoever needs one makes it anew."""
WITHOUT_A_PRICE = (
    select(usage.c.model)
    .where(
        usage.c.run_id >= bindparam("first"),
        usage.c.run_id <= bindparam("last"),
        usage.c.unpriced == literal_column("1"),
        usage.c.at >= bindparam("since"),
    )
    .distinct()
    .order_by(usage.c.model)
)


class BudgetStore(Base):
    """Implements `protocol.Budgeting`."""

    @property
    def rules(self) -> BudgetRules:
        return self._budgets.rules

    def obey(self, rules: BudgetRules) -> None:
        """Take `rules` for those that hold, and leave the counters as they are."""
        self._budgets.rules = rules

    async def begin(self, rules: BudgetRules) -> None:
        """Obey `rules` from now on. Counters of budgets that are not set are dropped: nobody keeps them right.

        Errors: StoreError, and the rules of before hold.
        """
        now, before = self.now(), self.rules
        self.obey(rules)
        try:
            await self._driver.write(lambda: _begun(rules, micros(now)))
        except BaseException:
            self.obey(before)
            raise

    async def counters(self) -> list[Counter]:
        """Every counter as it is now."""
        now = self.now()
        return [counter.at(now) for counter in await self._driver.read(_all)]

    async def alarms(self) -> list[Counter]:
        """Counters that operators should hear of."""
        found = [one for one in await self.counters() if one.level is not Level.BELOW]
        return [one for one in found if self.rules.limit_of(one.scope, one.subject) is not None]

    async def without_price(self) -> list[str]:
        """Models that were called today and whose price nobody knows."""
        day = self.now().replace(hour=0, minute=0, second=0, microsecond=0)
        within = {"since": micros(day), "first": first_at(day - LONGEST_RUN), "last": first_at(day + FAR_AHEAD)}
        return await self._driver.read(lambda: _without_price(within))


def _begun(rules: BudgetRules, now: int) -> Op[None]:
    yield SWEEP, {"now": now}
    for scope in Scope:
        if scope not in rules.scopes:
            yield FORGET_COUNTERS[scope], {}
    if rules.agents:
        yield from _dropped(rules)
    if not rules.is_set:
        yield HOLD_NOTHING, {}


def _dropped(rules: BudgetRules) -> Op[None]:
    """Counters of agents that are not bounded, where others are."""
    for counter in (yield from _all()):
        if rules.limit_of(counter.scope, counter.subject) is None:
            yield DROP, {"false_scope": counter.scope.value, "whose": counter.subject}


def _all() -> Op[list[Counter]]:
    return in_order(counter_of(row) for row in (yield ALL, {}))


def _without_price(within: Mapping[str, object]) -> Op[list[str]]:
    return [model for (model,) in (yield WITHOUT_A_PRICE, within)]
