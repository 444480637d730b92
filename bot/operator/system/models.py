"""Models for operators, with their cooldowns, and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.accounts.naming import Named
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from bot.wiring.models.catalogue import ListedModel
from runtime.cluster.topics import COOLDOWNS
from runtime.contract import Address
from runtime.http.errors import Refusal
from runtime.models.choice.cooling import Rest, Standing, standing
from runtime.policy.budgets import DOLLAR, HOURLY, BudgetRules, Counter, Level, Scope, fresh, in_order, level_of
from runtime.text.words import say

STATES: Final = {Level.BELOW: "ok", Level.WARNED: "nearly spent", Level.REACHED: "spent"}
"""Words for how far a budget is spent."""


@by_role
class ModelsApi(PartialApi):
    """Models, their cooldowns, and the budgets that bound their use."""

    async def models(self) -> list[View]:
        rests = {rest.model: rest for rest in await self._store.cooldowns.resting()}
        now = self._context.now()
        return [model_view(one, rests.get(one.name), now) for one in self._context.models()]

    async def model(self, name: str) -> View:
        rows = await self.models()
        found = next((row for row in rows if name in (row["name"], row["model"])), None)
        if found is None:
            names = ", ".join(row["name"] for row in rows)
            raise Refusal(404, say("There is no model {name}. There are: {names}.", name=name, names=names))
        return found

    async def cooldowns(self) -> list[View]:
        return [cooldown_view(rest) for rest in await self._store.cooldowns.resting()]

    async def clear_cooldown(self, model: str) -> View:
        if not await self._store.cooldowns.clear(model, self.actor.person.name):
            raise Refusal(409, say("The model {name} isn't resting.", name=model))
        self._context.notifier.notify(COOLDOWNS)
        return {"model": model, "state": Standing.WELL.value}

    async def budgets(self) -> list[View]:
        """Every budget that is set, with what is left of it for each whom it bounds."""
        rules, counters = self._store.budgets.rules, await self._store.budgets.counters()
        people = {str(known.person.id): known.person.name for known in await self._store.people.people()}
        await self._context.refresh()
        return budgets_view(rules, counters, people, self._context.called, self._store.now())


def model_view(entry: ListedModel, rest: Rest | None, now: datetime) -> View:
    price, stands = entry.price, standing(rest, entry.mark, now)
    failing = rest is not None and rest.is_alone and stands is not Standing.WELL
    dollars = (f"${one:g}" for one in (price.input, price.output) if one is not None)
    return {
        "name": entry.name,
        "model": entry.given.name,
        "vendor": entry.vendor,
        "usual": entry.is_usual,
        "fallback": entry.fallback,
        "for": [work.value for work in entry.works],
        "least_complexity": entry.least_complexity,
        "window": entry.window,
        "window_source": entry.window_source.value,
        "input_price": price.input,
        "output_price": price.output,
        "price": " in, ".join(dollars) + " out" if price.input is not None else "",
        "price_source": price.source,
        "key": entry.key,
        "wanted_key": entry.wanted_key,
        "api_base": entry.given.api_base,
        "state": "failing" if failing else stands.value,
        "cooldown": cooldown_view(rest) if rest and stands is not Standing.WELL else None,
    }


def cooldown_view(rest: Rest) -> View:
    """A model at rest. Without `until` it rests until its settings or its key change; one that is `alone` does not rest."""
    return {
        "model": rest.model,
        "cause": rest.cause.value,
        "reason": rest.reason,
        "since": at(rest.since),
        "until": at(rest.until),
        "failures": rest.count,
        "alone": rest.is_alone,
    }


def budgets_view(
    rules: BudgetRules, counters: Sequence[Counter], people: Mapping[str, str], called: Named, now: datetime
) -> list[View]:
    """A row for each counter of a budget that is set, and one for a budget that nobody has used yet."""
    known = [one for one in counters if rules.limit_of(one.scope, one.subject) is not None]
    unused = [fresh(scope, now) for scope in rules.limits if scope not in {counter.scope for counter in known}]
    counted = {(one.scope, one.subject) for one in known}
    own = ((scope, agent) for agent, limits in rules.agents.items() for scope in limits)
    unused += [replace(fresh(scope, now), subject=agent) for scope, agent in own if (scope, agent) not in counted]
    return [_budget(rules, counter, people, called) for counter in in_order([*known, *unused])]


def _budget(rules: BudgetRules, counter: Counter, people: Mapping[str, str], called: Named) -> View:
    limit, subject = rules.limit(counter), counter.subject
    match counter.scope:
        case Scope.PERSON_DAY:
            subject = people.get(subject, subject)
        case Scope.ROOM_DAY if subject:
            subject = called(Address.parse(subject))
    unit = 1 if counter.scope in HOURLY else DOLLAR
    return {
        "budget": counter.scope.value,
        "whose": subject,
        "limit": limit / unit,
        "used": counter.used / unit,
        "under_way": counter.under_way / unit,
        "left": max(0, limit - counter.used - counter.under_way) / unit,
        "unpriced_calls": counter.unpriced,
        "state": STATES[level_of(rules, counter)],
        "ends_at": at(counter.ends_at),
    }
