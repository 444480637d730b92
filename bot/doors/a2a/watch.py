"""Watch for tasks that are told elsewhere: until there is one, nothing else of it is loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import structlog

from runtime.cluster.notifier import rung
from runtime.errors import StoreError

if TYPE_CHECKING:
    from bot.doors.a2a.pushing import Pusher

PUSH_IDLE_LOOK: Final = timedelta(seconds=15)
"""Longest time until a node goes on with what another one left, and hears of places that another one was given."""
log = structlog.get_logger("a2a")


class PushWatch:
    """Wakes the pusher while places are to be told. Any number of nodes may run it: one has the duty."""

    def __init__(
        self, *, is_any: Callable[[], Awaitable[bool]], rung: AsyncIterator[str], made: Callable[[], Pusher]
    ) -> None:
        self._is_any = is_any
        self._rung = rung
        self._made = made

    async def run(self) -> None:
        """Watch until cancelled."""
        pusher = None
        while True:
            try:
                if await self._is_any():
                    pusher = pusher or self._made()
                    await pusher.rest()
            except StoreError as error:
                log.debug("push notifications wait", reason=str(error))
            await rung(self._rung, PUSH_IDLE_LOOK.total_seconds())
