"""This process as a node: its lease, kept by a heartbeat, and the reaper of others whose lease ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.contract import NodeId
from runtime.domain.clock import steady
from runtime.errors import BotError, StoreError
from runtime.store.protocol import Cluster, Duty, Lease

log = structlog.get_logger("node")

SAFE: Final = 0.9
"""The share of the lease after which a node that could not renew starts no tool and no send."""

SLOW: Final = timedelta(seconds=1)
"""How long a heartbeat may be under way until the store is said to be in trouble; it takes some milliseconds."""


class NodeLost(BotError):
    """This node was declared dead: others own its work now, so it drops it."""


class Node:
    """One live process. Its lease is renewed each third of its length by `run`."""

    def __init__(
        self,
        *,
        store: Cluster,
        lease: Lease,
        length: timedelta,
        on_reaped: Callable[[], None],
        clock: Callable[[], float] = steady,
    ) -> None:
        self.lease = lease
        self._store = store
        self._length = length
        self._on_reaped = on_reaped
        self._clock = clock
        self._renewed = clock()
        self._asked: float | None = None  # since when a beat is under way
        self.is_lost = False

    @classmethod
    async def join(
        cls, *, store: Cluster, node: NodeId, label: str, length: timedelta, alone: bool, on_reaped: Callable[[], None]
    ) -> Node:
        """A new node with a fresh lease. `alone` proves that every earlier node is dead."""
        lease = await store.join(node, label, length, alone=alone)
        return cls(store=store, lease=lease, length=length, on_reaped=on_reaped)

    def fresh(self) -> bool:
        """Whether the lease surely holds, by this process's own clock: without that nothing with effects begins."""
        return self._clock() - self._renewed < self._length.total_seconds() * SAFE

    def trouble(self) -> str | None:
        """Why nothing can be written at the moment, as far as the heartbeat has seen; `/readyz` tells it."""
        waits = 0.0 if self._asked is None else self._clock() - self._asked
        return f"The database has not answered for {waits:.0f} s." if waits > SLOW.total_seconds() else None

    async def take(self, role: str) -> Duty | None:
        return await self._store.take(self.lease, role)

    async def run(self) -> None:
        """Renew until cancelled. Errors: NodeLost when this node was declared dead."""
        wait = self._length / 3
        while True:
            await asyncio.sleep(wait.total_seconds())
            began = self._asked = self._clock()
            try:
                held = await self._store.beat(self.lease, self._length)
            except StoreError as error:
                log.debug("heartbeat failed", reason=str(error))
                wait = self._length / 10
                continue
            finally:
                self._asked = None
            if not held:
                self.is_lost = True
                raise NodeLost("This process gave no sign for longer than its lease; its work goes on elsewhere.")
            self._renewed, wait = began, self._length / 3

    async def reap(self) -> None:
        """Free what other nodes held whose lease ended. Errors: StoreError."""
        if await self._store.reap(but=self.lease.node):
            self._on_reaped()

    async def leave(self) -> None:
        """Give lanes and roles back at once."""
        await self._store.leave(self.lease)
