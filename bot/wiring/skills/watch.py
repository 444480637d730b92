"""Looks for skills that wait for an owner, and tells operators of each form once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import structlog

from bot.wiring.skills.telling import told_of
from runtime.chat.views.skills import card, card_origin
from runtime.cluster.notifier import Listener
from runtime.contract import Content
from runtime.domain.skills.skill import Skill
from runtime.errors import Rejected, StoreError
from runtime.skills.ready import ReadySkills, Shelved

log = structlog.get_logger("skills")

LOOK_EVERY_SECONDS: Final = 15.0

Tell = Callable[[str, Content], Awaitable[None]]
"""Has operators read something, once for its origin."""


class Told(Protocol):
    async def tell_of_skill(self, name: str, digest: str) -> bool: ...


class SkillWatch:
    """One in each process: folders are each node's own."""

    def __init__(self, *, ready: ReadySkills, told: Told, tell: Tell, rung: Listener) -> None:
        self._ready = ready
        self._told = told
        self._tell = tell
        self._rung = rung
        self._asked: dict[tuple[str, str], str] = {}
        """Last form of each skill that operators were told of from here. Another node's folder, or another agent's, may hold
        another one by that name, of which they are told as well: neither takes turns with it for ever."""

    async def run(self) -> None:
        """Never returns."""
        while True:
            try:
                await self.look()
            except (StoreError, Rejected) as error:
                log.warning("skills are not looked at yet", reason=str(error))
            await self._rung.within(LOOK_EVERY_SECONDS)

    async def look(self) -> None:
        for key, shelved in (await self._ready.look()).items():
            skill = shelved.found.skill
            if skill and not shelved.standing.is_open and self._asked.get(key) != skill.digest:
                await self._ask(skill, shelved)
                self._asked[key] = skill.digest

    async def _ask(self, skill: Skill, shelved: Shelved) -> None:
        """The post comes first: told twice is better than never, and its origin keeps it to once."""
        name, digest = skill.locked_as, skill.digest
        if shelved.lock and shelved.lock.told == digest:
            return
        await self._tell(card_origin(skill), card(told_of(skill.name, shelved)))
        if await self._told.tell_of_skill(name, digest):
            log.warning("a skill waits for an owner", skill=name, standing=shelved.standing.value)
