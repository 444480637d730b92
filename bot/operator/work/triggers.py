"""Triggers for operators: what waits for what, how often each fired, and how one is ended or let go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.cluster.topics import TRIGGERS
from runtime.contract import Address, Notifier
from runtime.domain.triggers.kept import KeptTrigger
from runtime.http.errors import Refusal
from runtime.store.triggers.store import TriggerStore
from runtime.text.words import marked

TRIGGER_NAME_MIN_CHARS: Final = 4
NO_TRIGGER: Final = marked(
    "No trigger is called {name!r}. Its name, or the end of its id, four characters or more, is enough."
)
OF_SETTINGS: Final = marked("This trigger stands in the settings: take it out there, then reload.")
NOT_ACTIVE: Final = marked("This trigger is {state}, so there is nothing to pause.")
IS_ACTIVE: Final = marked("This trigger is active already.")


@dataclass(frozen=True, slots=True)
class TriggerOperations:
    """Triggers as operators call things."""

    triggers: TriggerStore
    notifier: Notifier
    called: Named
    mask: Callable[[str], str]

    async def listed(self) -> list[View]:
        """All of them: those of the settings, and those that people asked for."""
        return [self._view(one) for one in await self.triggers.triggers()]

    async def ended(self, name: str, actor: Actor) -> View:
        found = await self._meant(name)
        if found.by_file:
            raise Refusal(409, OF_SETTINGS)
        await self.triggers.drop_trigger(found.trigger.id, actor.person.name)
        self.notifier.notify(TRIGGERS)
        return self._view(found)

    async def resumed(self, name: str, actor: Actor) -> View:
        """Let one fire again that ended or was stopped."""
        found = await self._meant(name)
        if not await self.triggers.resume_trigger(found.trigger.id, actor.person.name):
            raise Refusal(409, IS_ACTIVE)
        self.notifier.notify(TRIGGERS)
        return self._view(await self._meant(found.trigger.id))

    async def paused(self, name: str, actor: Actor) -> View:
        """Have one let events pass until it is resumed."""
        found = await self._meant(name)
        if not await self.triggers.pause_trigger(found.trigger.id, actor.person.name):
            raise Refusal(409, NOT_ACTIVE.format(state=found.state))
        self.notifier.notify(TRIGGERS)
        return self._view(await self._meant(found.trigger.id))

    async def _meant(self, name: str) -> KeptTrigger:
        every = await self.triggers.triggers()
        called = [one for one in every if name in (one.trigger.name, one.trigger.id)]
        if not called and len(name) >= TRIGGER_NAME_MIN_CHARS:
            called = [one for one in every if one.trigger.id.endswith(name)]
        if len(called) != 1:
            raise Refusal(404, NO_TRIGGER.format(name=name))
        return called[0]

    def _view(self, kept: KeptTrigger) -> View:
        one = kept.trigger
        to = one.to or kept.home
        return {
            "id": one.id,
            "name": one.name,
            "on": one.on.value,
            "words": self.mask(", ".join(one.words)),
            "room": one.room,
            "to": self.called(Address.parse(to)) if to else "",
            "begins": f"the workflow {one.workflow}" if one.workflow else self.mask(one.prompt),
            "agent": one.agent,
            "state": kept.state.value,
            "by_file": kept.by_file,
            "reason": kept.reason,
            "by": kept.owner.name if kept.owner else "settings",
            "fires": kept.fires,
            "fired_at": at(kept.fired_at),
            "ends_at": at(kept.ends_at),
        }


@by_role
class TriggersApi(PartialApi):
    """Work that begins when something happens."""

    async def triggers(self) -> list[View]:
        """Work that begins when something happens."""
        return await self._triggers.listed()

    async def resume_trigger(self, name: str) -> View:
        return await self._triggers.resumed(name, self.actor)

    async def end_trigger(self, name: str) -> View:
        return await self._triggers.ended(name, self.actor)

    async def pause_trigger(self, name: str) -> View:
        return await self._triggers.paused(name, self.actor)

    @property
    def _triggers(self) -> TriggerOperations:
        has = self._context
        return TriggerOperations(has.store.triggers, has.notifier, has.called, has.mask)
