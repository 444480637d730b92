"""Budgets: what each allows and what follows, and the models whose calls none of them can count in dollars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.subject import Subject, fine, warning
from bot.wiring.agents import budget_rules_of
from bot.wiring.models.catalogue import NO_PRICE, catalogue_of
from bot.wiring.models.made import refuses_unpriced
from runtime.chat.budgets import amount
from runtime.contract import Finding
from runtime.policy.budgets import MONEY, BudgetRules, Then

FOLLOWS: Final = {
    Then.STOP: "then work stops",
    Then.CHEAPEST: "then the cheapest model answers",
    Then.ASK: "then approvers are asked",
}
UNCOUNTED: Final = "Its calls cost money that no budget sees."


async def check_budgets(subject: Subject) -> Sequence[Finding]:
    """Nothing where no budget is set."""
    rules = budget_rules_of(subject.settings)
    return [fine("budgets.set", _told(rules)), *_unpriced(subject, rules)] if rules.is_set else []


def _told(rules: BudgetRules) -> str:
    told = [f"{scope} {amount(scope, limit)}" for scope, limit in rules.limits.items()]
    for agent, own in rules.agents.items():
        told += [f"{scope} of {agent} {amount(scope, limit)}" for scope, limit in own.items()]
    return f"{', '.join(told)}; {FOLLOWS[rules.then]}"


def _unpriced(subject: Subject, rules: BudgetRules) -> Iterator[Finding]:
    if refuses_unpriced(subject.settings) or set(rules.scopes).isdisjoint(MONEY):
        return
    for one in catalogue_of(subject.settings):
        if one.price.source == NO_PRICE:
            fix = 'set its input_price and output_price, or budgets.unpriced = "refuse"'
            yield warning(f"budgets.{one.name}", f"nobody knows what {one.given.name} costs", UNCOUNTED, fix)
