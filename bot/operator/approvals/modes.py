"""Modes of conversations: how much may be done there unasked."""

from __future__ import annotations

from typing import Final

from bot.accounts.naming import Named
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from runtime.chat.modes import meaning
from runtime.contract import Address
from runtime.domain.agents.manifest import MAIN
from runtime.http.errors import Refusal
from runtime.markup.moments import in_words
from runtime.policy.modes import Mode, RoomMode
from runtime.text.words import marked, say

NEVER_AT_WORK: Final = marked("No account {account} has run here yet. Check its name, or start Signalbox with it once.")


@by_role
class ModesApi(PartialApi):
    """Modes of conversations."""

    async def modes(self) -> list[View]:
        """Conversations for which a mode was set, the newest first."""
        rows = await self._store.approvals.modes()
        return await self._entitled([mode_view(address, row, *self._names) for address, row in rows])

    async def set_mode(self, room: str, mode: str) -> View:
        """Set the mode of a room or thread. Trusted mode can only be set in the room itself."""
        address, wanted = await self._room_meant(room), word_of(Mode, mode)
        if address is None or wanted is None or wanted is Mode.TRUSTED:
            raise Refusal(400, marked("Name a room, and one of the modes normal, read-only and plan."))
        if not await self._context.finder.is_served(address):
            account = self._names[0](address).partition("/")[0]
            raise Refusal(404, say(NEVER_AT_WORK, account=account))
        made = await self._store.approvals.set_mode(MAIN, address, wanted, self.actor.person, self.actor.name)
        self._context.nudge(address)
        return await self._one_entitled(mode_view(address, made, *self._names))


def mode_view(address: Address, row: RoomMode, named: Named, called: Named) -> View:
    """The mode of a conversation, and what it does in words."""
    return {
        "address": named(address),
        "room": called(address),
        "mode": row.mode,
        "meaning": in_words(meaning(row)),
        "trusted": row.person_name,
        "set_by": row.set_by_name,
        "set_at": at(row.set_at),
        "until": at(row.until),
    }
