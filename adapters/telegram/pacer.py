"""How fast probes go. They are edits, so the platform counts them with everything else that is sent to a chat."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from adapters.telegram.rooms import is_group
from adapters.telegram.settings import Waits

AT_ONCE: Final = 3
"""Probes of one chat before the first wait: the lost message mostly is the first or second id above the floor."""


class Pacer:
    """Gives each probe its time."""

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._all = 0.0
        self._chats: dict[int, float] = {}

    async def turn(self, chat: int) -> None:
        now = monotonic()
        every = (self._waits.probe_group if is_group(chat) else self._waits.probe_chat).total_seconds()
        mine = max(self._chats.get(chat, 0.0), now - AT_ONCE * every) + every
        self._chats = {other: at for other, at in self._chats.items() if at > now - AT_ONCE * every} | {chat: mine}
        self._all = max(self._all, now - self._waits.probe_all.total_seconds()) + self._waits.probe_all.total_seconds()
        await asyncio.sleep(max(mine, self._all) - now)
