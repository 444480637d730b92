"""This process as a node: its lease, kept by a heartbeat, and the reaper of others whose lease ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.cluster.notifier import REST, LocalNotifier
from runtime.cluster.topics import ROLES
from runtime.contract import NodeId
from runtime.domain.clock import steady
from runtime.errors import BotError, StoreError
from runtime.store.protocol import Accept, Cluster, Duty, Lease, TakeIn, Taken
from runtime.store.protocol.leases import UNTOLD, AboutNode

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
        offset: Callable[[], timedelta | None] = lambda: None,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.lease = lease
        self._store = store
        self._length = length
        self._on_reaped = on_reaped
        self._offset = offset
        self._clock = clock
        self._renewed = clock()
        self._asked: float | None = None  # since when a beat is under way
        self.is_lost = False
        self._drain_ends = 0.0
        self._drain_asked = asyncio.Event()

    @classmethod
    async def join(
        cls,
        *,
        store: Cluster,
        node: NodeId,
        label: str,
        length: timedelta,
        alone: bool,
        on_reaped: Callable[[], None],
        agents: str = "",
        about: AboutNode = UNTOLD,
        offset: Callable[[], timedelta | None] = lambda: None,
    ) -> Node:
        """A new node with a fresh lease. `alone` proves that every earlier node is dead; `agents` is the digest of its own;
        `offset` tells how far the clock of this machine is ahead of the store's."""
        lease = await store.join(node, label, length, alone=alone, agents=agents, about=about)
        return cls(store=store, lease=lease, length=length, on_reaped=on_reaped, offset=offset)

    def fresh(self) -> bool:
        """True if the lease surely holds, by this process's own clock: without that nothing with effects begins."""
        return self._clock() - self._renewed < self._length.total_seconds() * SAFE

    def trouble(self) -> str | None:
        """The reason nothing can be written at the moment, as the heartbeat sees it, for `/readyz`; None if writes work."""
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
                held = await self._store.beat(self.lease, self._length, offset=self._offset())
            except StoreError as error:
                log.debug("heartbeat failed", reason=str(error))
                wait = self._length / 10
                continue
            finally:
                self._asked = None
            if held is None:
                self.is_lost = True
                raise NodeLost("This process gave no sign for longer than its lease; its work goes on elsewhere.")
            self._renewed, wait = began, self._length / 3
            if held.drain is not None:
                self._drain_ends = self._clock() + held.drain.total_seconds()
                self._drain_asked.set()

    async def asked_to_drain(self) -> timedelta:
        """Wait until somebody asks this node to leave; how long what is at work may take until then."""
        await self._drain_asked.wait()
        return self.drain_left

    @property
    def drain_left(self) -> timedelta:
        """Time until what is at work is cut. Whoever asks once more changes it, with the next beat."""
        return timedelta(seconds=max(self._drain_ends - self._clock(), 0))

    async def reap(self) -> None:
        """Free what other nodes held whose lease ended. Errors: StoreError."""
        if await self._store.reap(but=self.lease.node):
            self._on_reaped()

    async def give_up_roles(self) -> None:
        """Give roles back, and keep what is at work."""
        await self._store.give_up_roles(self.lease)

    async def leave(self) -> None:
        """Give lanes and roles back at once."""
        await self._store.leave(self.lease)


class Membership:
    """The place of this process among the nodes, for whoever must know whether it still holds.

    Empty until the process is a node; one that joins again takes it anew.
    """

    def __init__(self, notifier: LocalNotifier) -> None:
        self._notifier = notifier
        self._node: Node | None = None
        self.is_draining = False
        self._take_in: TakeIn | None = None

    @property
    def is_empty(self) -> bool:
        return self._node is None

    def sit(self, node: Node, take_in: TakeIn) -> None:
        self._node, self._take_in = node, take_in

    @property
    def lease(self) -> Lease | None:
        return self._node.lease if self._node else None

    def lease_is_fresh(self) -> bool:
        return self._node is not None and self._node.fresh()

    def trouble(self) -> str | None:
        """The reason nothing can be written at the moment, as the heartbeat sees it; None if writes work or no node joined."""
        return self._node.trouble() if self._node else None

    async def take(self, role: str) -> Duty | None:
        """A duty that one node has at a time; None while another has it, before we are one, and once we are to leave."""
        return await self._node.take(role) if self._node and not self.is_draining else None

    async def vacancy(self) -> None:
        """Wait until such a duty may be free. Its last owner notifies, as does the poller while it's free."""
        await self._notifier.listen(ROLES).within(REST.total_seconds())

    async def take_in(self, accept: Accept) -> Taken:
        """Begin the run of a message at once where this node has room for one more."""
        return await (self._take_in(accept) if self._take_in else accept(None))
