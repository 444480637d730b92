"""Fires what is due. The truth is in the store, where each instant is written once, whoever sees it come."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.cluster.notifier import REST, LocalNotifier
from runtime.cluster.topics import DUE, LANES
from runtime.contract import Now, OccurrenceId, Probe, Schedule, no_probe
from runtime.domain.schedules import Firing, sorted_out
from runtime.errors import StoreError
from runtime.store.protocol.schedules import Schedules

log = structlog.get_logger("timer")

FIRING_ROLE: Final = "timer"
FIRING_RETRY_DELAY: Final = timedelta(seconds=1)
FIRED_AT_ONCE: Final = 100
INSTANTS_WALKED: Final = 50_000
"""Instants of one schedule that are walked after a long rest: five weeks of every minute."""


class Scheduler:
    """Looks what is due, and fires it while this process has the role. `chance` in [0, 1) spreads what has a jitter."""

    def __init__(
        self,
        *,
        book: Schedules,
        notifier: LocalNotifier,
        take: Callable[[str], Awaitable[object | None]],
        now: Now,
        chance: Callable[[], float] = random.random,
        probe: Probe = no_probe,
    ) -> None:
        self._book = book
        self._notifier = notifier
        self._listener = notifier.listen(DUE)
        self._take = take
        self._now = now
        self._chance = chance
        self._probe = probe

    async def run(self) -> None:
        while True:
            try:
                wait = await self.look()
            except StoreError as error:
                log.debug("what is due cannot be read yet", reason=str(error))
                wait = FIRING_RETRY_DELAY
            await self._listener.within(wait.total_seconds())

    async def look(self) -> timedelta:
        """Fire what is due; how long until there may be more."""
        if (rest := await self._rest()) > timedelta():
            return rest
        if not await self._take(FIRING_ROLE):
            return REST  # whoever has the role fires it; if that one is gone, the poller goes on to tell
        while due := await self._book.due_schedules(self._now(), limit=FIRED_AT_ONCE):
            fired = await self._each([self._fire(schedule) for schedule in due])
            if not any(fired):
                break  # another one was faster with all of them, or a clock went back
        for occurrence in await self._book.due_again(self._now(), limit=FIRED_AT_ONCE):
            await self._again(occurrence)
        return await self._rest()

    async def _each(self, works: Sequence[Awaitable[bool]]) -> list[bool]:
        return list(await asyncio.gather(*works))  # they share a commit where the store groups them

    async def _fire(self, schedule: Schedule) -> bool:
        """True if it was for us to fire."""
        firing = await asyncio.to_thread(planned, schedule, self._now(), self._chance())
        started = await self._book.fire(firing)
        self._probe("fired")
        if started:
            log.info("schedule fired", schedule=schedule.id, name=schedule.name)
            self._notifier.notify(LANES)
        return started is not None

    async def _again(self, occurrence: OccurrenceId) -> None:
        if await self._book.fire_again(occurrence):
            self._notifier.notify(LANES)

    async def _rest(self) -> timedelta:
        coming = await self._book.next_due()
        return REST if coming is None else max(min(REST, coming - self._now()), timedelta())


def planned(schedule: Schedule, now: datetime, chance: float) -> Firing:
    """Firing of a schedule whose time has come, and what comes next."""
    from runtime.calendar import instants, next_after, read  # not loaded where nothing is planned

    first = schedule.next_at or now  # one that is due has a next instant
    rule = read(schedule.when)
    upto = min(now, schedule.ends_at or now)
    later = instants(rule, first, anchor=schedule.anchor_at, most=INSTANTS_WALKED, until=upto)
    come = [first, *later]
    following = next_after(rule, come[-1], anchor=schedule.anchor_at)
    if following and schedule.ends_at and following > schedule.ends_at:
        following = None
    due_at = following + schedule.terms.jitter * chance if following else None
    return Firing(schedule.id, first, sorted_out(schedule.terms, come, now), following, due_at)
