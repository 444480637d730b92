"""Models for operators, with their cooldowns, and budgets."""

from __future__ import annotations

from bot.operator import views
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from runtime.cluster.topics import COOLDOWNS
from runtime.http.errors import Refusal
from runtime.models.choice.cooling import Standing


@by_role
class ModelsApi(PartialApi):
    """Models, their cooldowns, and the budgets that bound their use."""

    async def models(self) -> list[View]:
        rests = {rest.model: rest for rest in await self._store.cooldowns.resting()}
        now = self._context.now()
        return [views.model(one, rests.get(one.name), now) for one in self._context.models()]

    async def model(self, name: str) -> View:
        rows = await self.models()
        found = next((row for row in rows if name in (row["name"], row["model"])), None)
        if found is None:
            names = ", ".join(row["name"] for row in rows)
            raise Refusal(404, f"There is no model {name}. There are: {names}.")
        return found

    async def cooldowns(self) -> list[View]:
        return [views.cooldown(rest) for rest in await self._store.cooldowns.resting()]

    async def clear_cooldown(self, model: str) -> View:
        if not await self._store.cooldowns.clear(model, self.actor.person.name):
            raise Refusal(409, f"The model {model} isn't resting.")
        self._context.notifier.notify(COOLDOWNS)
        return {"model": model, "state": Standing.WELL.value}

    async def budgets(self) -> list[View]:
        """Every budget that is set, with what is left of it for each whom it bounds."""
        rules, counters = self._store.budgets.rules, await self._store.budgets.counters()
        people = {str(known.person.id): known.person.name for known in await self._store.people.people()}
        await self._context.refresh()
        return views.budgets(rules, counters, people, self._context.called, self._store.now())
