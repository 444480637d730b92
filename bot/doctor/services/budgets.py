"""Budgets: what each allows and what follows, and the models whose calls none of them can count in dollars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.subject import Subject, fine, warning
from bot.wiring.models.catalogue import NO_PRICE, catalogue_of
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
    rules = subject.settings.budgets.rules
    return [fine("budgets.set", _told(rules)), *_unpriced(subject)] if rules.limits else []


def _told(rules: BudgetRules) -> str:
    limits = ", ".join(f"{scope} {amount(scope, limit)}" for scope, limit in rules.limits.items())
    return f"{limits}; {FOLLOWS[rules.then]}"


def _unpriced(subject: Subject) -> Iterator[Finding]:
    budgets = subject.settings.budgets
    if budgets.refuses_unpriced or budgets.rules.limits.keys().isdisjoint(MONEY):
        return
    for one in catalogue_of(subject.settings):
        if one.price.source == NO_PRICE:
            fix = 'set its input_price and output_price, or budgets.unpriced = "refuse"'
            yield warning(f"budgets.{one.name}", f"nobody knows what {one.given.name} costs", UNCOUNTED, fix)
