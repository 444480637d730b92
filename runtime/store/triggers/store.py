"""Triggers as settings, tools and commands see them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runtime.contract import Address
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import EventTrigger
from runtime.store.sql.base import Base
from runtime.store.triggers.rows import (
    add_trigger,
    drop_trigger,
    for_messages,
    keep_as_file,
    listed,
    listed_in,
    set_active,
    set_paused,
)


class TriggerStore(Base):
    """The book of triggers."""

    async def for_messages(self) -> list[EventTrigger]:
        """Triggers that are looked for in each message."""
        now = self.now()
        return await self._driver.read(lambda: for_messages(now))

    async def triggers(self) -> list[KeptTrigger]:
        return await self._driver.read(listed)

    async def triggers_in(self, room: Address) -> list[KeptTrigger]:
        now = self.now()
        return await self._driver.read(lambda: listed_in(room, now))

    async def add_trigger(self, new: KeptTrigger, most: int, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: add_trigger(new, most, by, now))

    async def drop_trigger(self, trigger: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: drop_trigger(trigger, by, now))

    async def resume_trigger(self, trigger: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: set_active(trigger, by, now))

    async def pause_trigger(self, trigger: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: set_paused(trigger, by, now))

    async def keep_triggers_of_file(
        self, wanted: Sequence[KeptTrigger], by: str, spared: Collection[str] = ()
    ) -> list[str]:
        """Bring those of the settings in line; changes, in words."""
        now = self.now()
        return await self._driver.write(lambda: keep_as_file(wanted, spared, by, now))
