"""Poller of a process: asks the store once a second, and wakes the workers with something to do.

Most work wakes its worker by itself: what is made here notifies here, and what other nodes make is told by them. The poller
finds the rest: what comes with time, what was made by a command on the store itself, and what its maker did not live to
tell. So nobody else looks by himself more often than each `REST`, and a process at rest does next to nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import DUE, LANES, ROLES, SUSPECTS, UNSEALED
from runtime.contract import NodeId
from runtime.errors import StoreError
from runtime.store.protocol.cluster import Agenda

log = structlog.get_logger("poller")

POLL_INTERVAL: Final = timedelta(seconds=1)


class Agendas(Protocol):
    """The store's agenda."""

    def now(self) -> datetime: ...

    async def agenda(self, but: NodeId) -> Agenda:
        """Work that is due now, on one snapshot; of leases those of other nodes than `but`."""


class Poller:
    """Looks, and wakes. `reap` frees what nodes held whose lease ended; `look_around` has the couriers look, `seen`
    is told all there is."""

    def __init__(
        self,
        *,
        store: Agendas,
        node: NodeId,
        notifier: LocalNotifier,
        reap: Callable[[], Awaitable[None]],
        look_around: Callable[[], None],
        seen: Callable[[Agenda], None] = lambda agenda: None,
    ) -> None:
        self._store = store
        self._node = node
        self._notifier = notifier
        self._reap = reap
        self._look_around = look_around
        self._seen = seen

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            wait = POLL_INTERVAL
            try:
                wait = await self.look()
            except StoreError as error:
                log.debug("what there is to do cannot be read yet", reason=str(error))
            await asyncio.sleep(wait.total_seconds())

    async def look(self) -> timedelta:
        """Wake the workers with something to do. Returns the time to the next look, zero when a lease ends.

        Whoever is still at it is woken again: one look too many costs less than one too few.
        """
        agenda, now = await self._store.agenda(self._node), self._store.now()
        self._seen(agenda)
        if agenda.lease_ends_at and agenda.lease_ends_at <= now:
            await self._reap()
        for topic in topics(agenda, now):
            self._notifier.notify_here(topic)
        if agenda.deliveries:
            self._look_around()
        return rest(agenda, now)


def topics(agenda: Agenda, now: datetime) -> list[str]:
    """Topics to ring. The timer is told before the next look, since it fires at the instant and not at a look."""
    soon = agenda.fires_at is not None and agenda.fires_at <= now + POLL_INTERVAL
    told = {
        LANES: agenda.lanes,
        SUSPECTS: agenda.suspects,
        UNSEALED: agenda.facts,
        ROLES: agenda.roles,
        DUE: soon,
    }
    return [topic for topic, rings in told.items() if rings]


def rest(agenda: Agenda, now: datetime) -> timedelta:
    if agenda.lease_ends_at is None or agenda.lease_ends_at <= now:
        return POLL_INTERVAL
    return min(POLL_INTERVAL, agenda.lease_ends_at - now)
