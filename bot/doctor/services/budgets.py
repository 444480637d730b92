"""Budgets: what each allows and what follows, and the models whose calls none of them can count in dollars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from bot.settings.models.tables import DEMO
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
NOT_SPOKEN: Final = 'budgets.unpriced is "refuse", so nothing is spoken.'
SPEECH_PRICE: Final = "set speech.price to US dollars for a million characters, such as 15.0"


async def check_budgets(subject: Subject) -> Sequence[Finding]:
    """Nothing where no budget is set."""
    rules = budget_rules_of(subject.settings)
    found = [*_unpriced(subject, rules), *_unpriced_speech(subject, rules)]
    return [fine("budgets.set", _told(rules)), *found] if rules.is_set else []


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


def _unpriced_speech(subject: Subject, rules: BudgetRules) -> Iterator[Finding]:
    """Most models of voices have a price by tokens in the list, by which no call of theirs can be counted."""
    speech = subject.settings.speech
    if speech.name in ("", DEMO) or speech.price is not None:
        return
    from runtime.models.vendors import character_price_of

    if character_price_of(speech.name) is not None:
        return
    what = f"nobody knows what {speech.name} costs for a character"
    if refuses_unpriced(subject.settings):
        yield fault("budgets.speech", what, NOT_SPOKEN, SPEECH_PRICE)
    elif not set(rules.scopes).isdisjoint(MONEY):
        yield warning("budgets.speech", what, UNCOUNTED, f'{SPEECH_PRICE}, or budgets.unpriced = "refuse"')
