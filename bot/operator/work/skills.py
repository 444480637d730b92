"""Skills for operators: how each stands, and an owner's decision about one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from bot.wiring.skills.telling import told_of
from runtime.chat.views.skills import FORM_LETTERS, ToldSkill, accepted, details, form_of
from runtime.cluster.topics import SKILLS
from runtime.contract import Notifier
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.skills.ready import Shelved
from runtime.store.skills.store import SkillLockStore

Look = Callable[[], Awaitable[Mapping[tuple[str, str], Shelved]]]
"""Looks at all folders and locks, anew."""
MOVED_ON: Final = "The skill {name} changed while you looked at it. Look again: signalbox skills show {name}"


@dataclass(frozen=True, slots=True)
class SkillOperations:
    """`mask` hides secrets in what a skill says, and `clean` takes them out of what is kept of it."""

    look: Look
    store: SkillLockStore
    notifier: Notifier
    mask: Callable[[str], str]
    clean: Callable[[str], str]
    actor: Actor

    async def listed(self) -> list[View]:
        return [self._row(agent, name, one) for (agent, name), one in sorted((await self.look()).items())]

    async def shown(self, name: str) -> View:
        agent, one = await self._one(name)
        told = told_of(name, one)
        return self._row(agent, name, one) | {"details": [self.mask(part) for part in details(told)]}

    async def approve(self, name: str, form: str) -> View:
        """Accept a skill as it is now. `form` is the one that the owner saw; without it the present one is meant."""
        _, one = await self._one(name, form)
        skill = one.found.skill
        if skill is None:
            raise Refusal(409, f"The skill {name} can't be read: {'; '.join(one.found.wrong)}.")
        if form and not skill.digest.startswith(form):
            raise Refusal(409, MOVED_ON.format(name=name))
        if one.standing.is_open:
            raise Refusal(409, f"The skill {name} is {one.standing.value} already.")
        await self.store.accept_skill(skill, self.clean(one.found.text), self.actor.name)
        self.notifier.notify(SKILLS)
        return {"name": name, "told": accepted(name)}

    async def remove(self, name: str) -> View:
        """Forget that a skill was accepted. Its folder is whoever's it is."""
        names = {
            one.found.skill.locked_as
            for (_, known), one in (await self.look()).items()
            if known == name and one.found.skill
        }
        given_up = [await self.store.give_up_skill(known, self.actor.name) for known in sorted({name} | names)]
        if not any(given_up):
            raise Refusal(404, f"No skill {name} was accepted.")
        self.notifier.notify(SKILLS)
        return {"name": name, "told": f"{name} is no longer accepted. No agent has it from the next message on."}

    async def _one(self, name: str, form: str = "") -> tuple[str, Shelved]:
        """The skill of that name, and of several the one of that form, or the one that waits."""
        found = [(agent, one) for (agent, known), one in (await self.look()).items() if known == name]
        if not found:
            raise Refusal(404, f"There is no skill {name}. `signalbox skills list` has them.")
        meant = [one for one in found if form and form_of(one[1].found.skill).startswith(form[:FORM_LETTERS])]
        return next((one for one in meant or found if not one[1].standing.is_open), (meant or found)[0])

    def _row(self, agent: str, name: str, one: Shelved) -> View:
        told: ToldSkill = told_of(name, one)
        skill, lock = one.found.skill, one.lock
        return {
            "name": name,
            "state": told.state,
            "standing": "unreadable" if told.wrong else one.standing.value,
            "usable": one.is_usable,
            "waits": skill is not None and not one.standing.is_open,
            "description": self.mask(skill.description) if skill else "",
            "source": skill.source.word if skill else "",
            "agent": agent,
            "agents": list(one.agents),
            "folder": skill.folder if skill else "",
            "scripts": list(skill.scripts) if skill else [],
            "tools": list(skill.allowed) if skill and skill.allowed is not None else None,
            "warnings": [self.mask(str(warned)) for warned in one.found.warned],
            "form": form_of(skill),
            "accepted_by": lock.by if lock else "",
            "accepted_at": at(lock.at) if lock and lock.at else "",
        }


@by_role
class SkillsApi(PartialApi):
    """Skills of all sources."""

    async def skills(self) -> list[View]:
        """Skills of all sources, and how each stands."""
        return await self._skills.listed()

    async def skill(self, name: str) -> View:
        return await self._skills.shown(name)

    async def approve_skill(self, name: str, form: str = "") -> View:
        """Accept a skill as it is now, or in the form that was seen."""
        return await self._skills.approve(name, form)

    async def remove_skill(self, name: str) -> View:
        return await self._skills.remove(name)

    @property
    def _skills(self) -> SkillOperations:
        has = self._context
        clean = partial(has.door().clean, gate=Gate.MEMORY_WRITE)
        return SkillOperations(has.skills, self._context.store.skills, has.notifier, has.mask, clean, self.actor)
