"""The duty that removes what is old: a little now and then, by one node."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.contract import Now
from runtime.errors import StoreError
from runtime.store.protocol import Duty, Stock, Sweeping
from runtime.workspace.cleanup import Leftovers

log = structlog.get_logger("retention")

RETENTION_ROLE: Final = "retention"
START_DELAY: Final = timedelta(minutes=1)
"""After the start, which has better things to do."""
RETENTION_INTERVAL: Final = timedelta(minutes=10)
BEHIND: Final = timedelta(seconds=30)
FULL_WALK_INTERVAL: Final = timedelta(days=1)
"""How often to walk from the first row again, for what was still open when it was passed."""
SLICES: Final = 25
"""Slices of one stock in a round: 5,000 rows."""
JUST_BROUGHT: Final = timedelta(minutes=1)
"""A file that came within it into a deleted conversation stays: somebody may go on there."""
PAUSE: Final = timedelta(seconds=0.02)
"""Between two slices, so that others write meanwhile."""
UPLOADS_KEPT: Final = timedelta(days=1)
"""No upload takes so long: what a kill left of one may go."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Times that stocks are kept. A stock without one is kept for good, and so are workspaces."""

    stocks: Mapping[Stock, timedelta]
    workspaces: timedelta | None = None


class Retention:
    """Walks each stock from its oldest row on and remembers where it stopped."""

    def __init__(
        self,
        *,
        store: Sweeping,
        leftovers: Leftovers,
        keep: Keep,
        take: Callable[[str], Awaitable[Duty | None]],
        now: Now,
        pause: timedelta = PAUSE,
    ) -> None:
        self._store = store
        self._leftovers = leftovers
        self._keep = keep
        self._take = take
        self._now = now
        self._pause = pause
        self._reached: dict[Stock, str | int] = {}
        self._began: datetime | None = None

    async def run(self) -> None:
        """Remove what is old until cancelled."""
        wait = START_DELAY
        while True:
            await asyncio.sleep(wait.total_seconds())
            wait = RETENTION_INTERVAL
            try:
                if (duty := await self._take(RETENTION_ROLE)) and await self.round(duty):
                    wait = BEHIND
            except (StoreError, OSError) as error:
                log.warning("what is old could not be removed yet", reason=str(error))

    async def round(self, duty: Duty) -> bool:
        """Go on with every walk, a bounded way; whether one of them is not at its end."""
        if self._began is None or self._now() - self._began >= FULL_WALK_INTERVAL:
            self._began = self._now()
            self._reached.clear()
            await self._tidy_folders()
        more = [await self._walk(duty, stock, age) for stock, age in self._keep.stocks.items()]
        return any([*more, await self._expire(duty), await self._clear_deleted(duty)])

    async def _clear_deleted(self, duty: Duty) -> bool:
        """Remove conversations that people deleted, files included; whether there is more of them."""
        for _ in range(SLICES):
            cleared = await self._store.clear_deleted(duty)
            if cleared is None:
                return False
            if cleared.bare:
                before = self._now() - JUST_BROUGHT
                stay = await asyncio.to_thread(self._leftovers.drop_workspaces, cleared.bare, before)
                await self._store.end_deleted(duty, tuple(room for room in cleared.bare if room not in stay))
            if not cleared.removed:
                return False
            log.info("removed deleted conversations", rows=cleared.removed)
            await asyncio.sleep(self._pause.total_seconds())
        return True

    async def _expire(self, duty: Duty) -> bool:
        """Remove what has a time of its own, whatever the settings say; whether there is more of it."""
        removed, more = 0, True
        for _ in range(SLICES):
            expired = await self._store.drop_expired(duty)
            removed, more = removed + (expired or 0), bool(expired)
            if not more:
                break
            await asyncio.sleep(self._pause.total_seconds())
        if removed:
            await self._store.clear_traces()
        return more

    async def _walk(self, duty: Duty, stock: Stock, age: timedelta) -> bool:
        before, removed, more = self._now() - age, 0, True
        for _ in range(SLICES):
            swept = await self._store.sweep(duty, stock, self._reached.get(stock), before)
            if swept is None:  # another node does this now
                return False
            self._reached[stock] = swept.last
            removed, more = removed + swept.removed, swept.more
            if not more:
                break
            await asyncio.sleep(self._pause.total_seconds())
        if removed:
            log.info("removed what is old", what=stock.value, rows=removed)
        return more

    async def _tidy_folders(self) -> None:
        await asyncio.to_thread(self._leftovers.drop_uploads, self._now() - UPLOADS_KEPT)
        if self._keep.workspaces is None:
            return
        before, after, more = self._now() - self._keep.workspaces, "", True
        while more:
            quiet = await self._store.quiet_rooms(after, before)
            after, more = quiet.last, quiet.more
            await asyncio.to_thread(self._leftovers.drop_workspaces, quiet.rooms, before)
