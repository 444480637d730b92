"""Clocks: one that only grows, and a watch for jumps of the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.contract import Now
from runtime.contract import steady as steady
from runtime.errors import StoreError

log = structlog.get_logger("clock")

CLOCK_LOOK_INTERVAL: Final = timedelta(seconds=1)
SHIFT_MIN: Final = timedelta(seconds=2)
"""A smaller step needs no mending: every wait has more slack than that."""


class Jumps:
    """Compares the store's clock with a steady one. What waits until a moment is moved with a jump, so that a clock
    set forward ends no question early, and one set back makes nothing wait longer than it should.

    `mend` is given each jump. `last` is the newest time that the store knows: a start before it finds a clock set back.
    """

    def __init__(
        self,
        *,
        now: Now,
        mend: Callable[[timedelta], Awaitable[None]],
        last: datetime | None = None,
        steady: Callable[[], float] = steady,
    ) -> None:
        self._now = now
        self._mend = mend
        self._steady = steady
        self._at, self._tick = now(), steady()
        self._owed = min(self._at - last, timedelta()) if last else timedelta()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as error:
                log.debug("waits are not moved with the clock yet", reason=str(error))
            await asyncio.sleep(CLOCK_LOOK_INTERVAL.total_seconds())

    async def look(self) -> None:
        """Notice and mend. Errors: StoreError; then the next look mends."""
        at, tick = self._now(), self._steady()
        jump = at - self._at - timedelta(seconds=tick - self._tick)
        self._at, self._tick = at, tick
        self._owed += jump if abs(jump) >= SHIFT_MIN else timedelta()
        owed = self._owed
        if abs(owed) < SHIFT_MIN:
            return
        await self._mend(owed)
        self._owed -= owed  # another one may have come meanwhile
        log.warning("the clock was set", by=in_words(owed), reason="what waits for its time was moved with it")


def in_words(jump: timedelta) -> str:
    return f"{abs(jump)} {'forward' if jump > timedelta() else 'back'}"
