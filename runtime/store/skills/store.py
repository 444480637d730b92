"""Locks of skills over an engine."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.contract import CallKey
from runtime.domain.skills.lock import Locked
from runtime.domain.skills.skill import Skill
from runtime.store.skills.locking import accept_skill, give_up_skill, locks, tell_of_skill, use_skill
from runtime.store.skills.proposing import accept_proposed, take_back_proposed
from runtime.store.sql.base import Base


class SkillLockStore(Base):
    """Implements `runtime.skills.ready.Locks`."""

    async def skill_locks(self) -> Mapping[str, Locked]:
        return await self._driver.read(locks)

    async def accept_skill(self, skill: Skill, text: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: accept_skill(skill, text, by, now))

    async def accept_proposed(self, skill: Skill, text: str, call: CallKey) -> str:
        now = self.now()
        return await self._driver.write(lambda: accept_proposed(skill, text, call, now))

    async def take_back_proposed(self, name: str, wrote: str, before: Skill | None, text: str, call: CallKey) -> str:
        now = self.now()
        return await self._driver.write(lambda: take_back_proposed(name, wrote, before, text, call, now))

    async def tell_of_skill(self, name: str, digest: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: tell_of_skill(name, digest, now))

    async def give_up_skill(self, name: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: give_up_skill(name, by, now))

    async def use_skill(self, name: str, by: str, why: str) -> None:
        now = self.now()
        await self._driver.write(lambda: use_skill(name, by, why, now))
