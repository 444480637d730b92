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
WRONG_MIN: Final = timedelta(seconds=5)
"""How far two clocks may be apart; a look at the server's is a second or two old."""
SET_CLOCK: Final = "timedatectl set-ntp true, or run chrony"


class Jumps:
    """Compares the store's clock with a steady one. What waits until a moment is moved with a jump, so that a clock
    set forward ends no question early, and one set back makes nothing wait longer than it should.

    `mend` is given each jump, and how long nobody here had looked at the clock before: `seen` tells when it was looked at,
    by the steady clock, where `now` reckons in between. `last` is the newest time that the store knows: a start before it finds a clock set back.
    `wall` is this machine's clock where the store's is another one: that it is wrong is told when it begins and ends.
    """

    def __init__(
        self,
        *,
        now: Now,
        mend: Callable[[timedelta, timedelta], Awaitable[None]],
        last: datetime | None = None,
        wall: Now | None = None,
        seen: Callable[[], float] | None = None,
        steady: Callable[[], float] = steady,
    ) -> None:
        self._now = now
        self._mend = mend
        self._wall = wall
        self._is_wrong = False
        self._looking = asyncio.Lock()
        self._steady = steady
        self._look_seen = seen or steady
        self._at, self._tick = now(), steady()
        self._seen = self._unseen_since = self._look_seen()
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
        self._compare()
        async with self._looking:  # whoever looks beside it goes on once what waits was moved
            await self._look()

    async def _look(self) -> None:
        at, tick = self._now(), self._steady()
        jump = at - self._at - timedelta(seconds=tick - self._tick)
        before, self._seen = self._seen, self._look_seen()
        self._at, self._tick = at, tick
        if abs(jump) >= SHIFT_MIN:
            self._unseen_since = min(before, self._unseen_since) if self._owed else before
            self._owed += jump
        owed = self._owed
        if abs(owed) < SHIFT_MIN:
            return
        await self._mend(owed, timedelta(seconds=self._steady() - self._unseen_since))
        self._owed -= owed  # another one may have come meanwhile
        log.warning("the clock was set", by=in_words(owed), reason="what waits for its time was moved with it")

    def _compare(self) -> None:
        apart = self._wall() - self._now() if self._wall else timedelta()
        is_wrong = abs(apart) > (WRONG_MIN / 2 if self._is_wrong else WRONG_MIN)
        if is_wrong is self._is_wrong:
            return
        self._is_wrong = is_wrong
        if is_wrong:
            why = (
                "leases, schedules and questions follow the database's clock; what this machine writes down has its own"
            )
            log.warning("the clock of this machine is wrong", off=_apart(apart), reason=why, fix=SET_CLOCK)
        else:
            log.warning("the clock of this machine agrees with the database's again")


def _apart(off: timedelta) -> str:
    return f"{abs(off).total_seconds():.0f} s {'ahead' if off > timedelta() else 'behind'}"


def in_words(jump: timedelta) -> str:
    return f"{abs(jump)} {'forward' if jump > timedelta() else 'back'}"
