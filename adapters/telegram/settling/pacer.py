"""The pace of probes. They are edits, so the platform counts them with everything else sent to a chat."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from time import monotonic
from typing import Final

from adapters.telegram.rooms import is_group
from adapters.telegram.settings import Waits

FIRST_PROBES: Final = 6
"""Probes of a private chat before the first wait: the lost message mostly is the first or second id above the floor."""
FIRST_PROBES_OF_A_GROUP: Final = 8
"""… of a group: all that one look tries where nothing else is lost, so the second begins in time, and is over in time. Both
together are 16 in the 24 s of a message that is nowhere, as they were before."""


class Pacer:
    """Tells when a chat may be probed, and gives each probe its time."""

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._all = 0.0
        self._chats: dict[int, float] = {}

    def ready(self, chat: int) -> bool:
        now = monotonic()
        return self._next(chat, now) <= now

    async def turn(self) -> None:
        """Wait for the account's next probe."""
        now, every = monotonic(), self._waits.probe_all.total_seconds()
        self._all = max(self._all, now - every) + every
        await asyncio.sleep(self._all - now)

    def take(self, chat: int) -> None:
        """A probe of this chat goes now."""
        now = monotonic()
        taken = self._next(chat, now)
        longest = max(FIRST_PROBES, FIRST_PROBES_OF_A_GROUP) * max(
            self._waits.probe_chat.total_seconds(), self._waits.probe_group.total_seconds()
        )
        self._chats = {other: at for other, at in self._chats.items() if at > now - longest} | {chat: taken}

    def pause(self, chat: int, wait: timedelta) -> None:
        """The platform says to wait with this chat."""
        self._chats[chat] = monotonic() + wait.total_seconds()

    def _next(self, chat: int, now: float) -> float:
        every = self._every(chat)
        first = FIRST_PROBES_OF_A_GROUP if is_group(chat) else FIRST_PROBES
        return max(self._chats.get(chat, 0.0), now - first * every) + every

    def _every(self, chat: int) -> float:
        return (self._waits.probe_group if is_group(chat) else self._waits.probe_chat).total_seconds()
