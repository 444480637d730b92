"""The triggers of the settings in the store: added, changed and removed as they are there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from bot.accounts.naming import Account, Accounts, Known, accounts_of
from bot.settings.settings import Settings
from bot.settings.triggers.tables import TriggerTable
from bot.wiring.schedules import Synced
from runtime.contract import Address
from runtime.domain.agents.manifest import MAIN
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import ANY_ROOM, EventTrigger, TriggerState

BY: Final = "settings"
FILE_ID: Final = "file:"
"""Before the name of a trigger of the settings: its id."""
GLOBS: Final = frozenset("*?[")


class Book(Protocol):
    async def keep_triggers_of_file(
        self, wanted: Sequence[KeptTrigger], by: str, spared: Collection[str] = ()
    ) -> list[str]: ...


class FileTriggers:
    """Brings the store in line with the settings, then has `looked` look again. `before` are accounts of earlier starts."""

    def __init__(
        self,
        *,
        book: Book,
        accounts: Collection[Account],
        before: Sequence[Known] = (),
        looked: Callable[[], Awaitable[None]],
    ) -> None:
        self._book = book
        self._accounts: Accounts[Account] = Accounts([*accounts, *accounts_of(before)])
        self._looked = looked

    async def sync(self, settings: Settings) -> Synced:
        """A repeat changes nothing. Errors: StoreError."""
        agents = {flow.name: flow.agent for flow in settings.workflows}
        made = [(table, self._made(table, agents)) for table in settings.triggers]
        waiting = [table.name for table, one in made if one is None]
        spared = [f"{FILE_ID}{name}" for name in waiting]
        changed = await self._book.keep_triggers_of_file([one for _, one in made if one], BY, spared)
        await self._looked()
        return Synced(
            tuple(changed), tuple(f"trigger {name!r} waits until its account has connected" for name in waiting)
        )

    def _made(self, table: TriggerTable, agents: Mapping[str, str]) -> KeptTrigger | None:
        """None while an account that it names isn't known yet."""
        room, to = self._glob(table.room), self._accounts.address(table.to) if table.to else None
        if room is None or (table.to and to is None):
            return None
        trigger = EventTrigger(
            id=f"{FILE_ID}{table.name}",
            name=table.name,
            on=table.on,
            room=room,
            words=table.words,
            prompt=table.prompt,
            workflow=table.workflow,
            inputs=table.inputs,
            agent=table.agent or agents.get(table.workflow, "") or MAIN,
            to=str(to or ""),
            fires_max=table.most,
            cooldown=table.cooldown,
        )
        return KeptTrigger(trigger, TriggerState.ACTIVE, by_file=True)

    def _glob(self, room: str) -> str | None:
        """A glob with its account as the platform knows it; one whose account is a glob itself stays as it is."""
        if room == ANY_ROOM or GLOBS & set(room.partition("/")[0]):
            return room
        try:
            written = Address.parse(room if "/" in room else f"{room}/*")
        except ValueError:
            return room
        known = self._accounts.address(str(replace(written, room="any", thread="")))
        return str(replace(written, account=known.account)) if known else None
