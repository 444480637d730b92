"""The cluster as its nodes see it: leases, roles, what there is to do, and whose way to a platform is open."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from runtime.contract import NodeId
from runtime.domain.failover import Ping
from runtime.store.cluster.agenda import agenda
from runtime.store.cluster.clock_shift import last_written, shift
from runtime.store.cluster.failover import asked, hand_over, ping
from runtime.store.cluster.nodes import (
    account_identity,
    beat,
    give_up_roles,
    has_siblings,
    join,
    leave,
    live_nodes,
    named_accounts,
    note,
    note_account,
    note_agents,
    reap,
    served_accounts,
    take,
)
from runtime.store.protocol import Duty, Lease
from runtime.store.protocol.cluster import Agenda
from runtime.store.protocol.leases import UNTOLD, AboutNode, Beat
from runtime.store.sql.base import Base

SHORTEST: Final = timedelta(seconds=1)
"""What a beat may take where leases are short."""


class ClusterStore(Base):
    """Implements `protocol.Cluster` and `protocol.Failover`."""

    async def join(
        self, node: NodeId, label: str, ttl: timedelta, *, alone: bool, agents: str = "", about: AboutNode = UNTOLD
    ) -> Lease:
        now = self.now()
        lease = await self._driver.write(lambda: join(node, label, ttl, alone, agents, about, now))
        self._observer.joined()
        return lease

    async def note_agents(self, lease: Lease, agents: str, settings: str = "") -> None:
        await self._driver.write(lambda: note_agents(lease, agents, settings))

    async def beat(self, lease: Lease, ttl: timedelta, *, offset: timedelta | None = None) -> Beat | None:
        now = self.now()
        within = max(ttl / 4, SHORTEST)  # so that one that is lost on the way leaves time for another
        held = await self._driver.write(lambda: beat(lease, ttl, offset, now), within=within)
        if held is None:
            self._observer.lost()
            self._driver.look_at_clock()  # a server's, set meanwhile, ends leases too
        return held

    async def give_up_roles(self, lease: Lease) -> bool:
        return await self._driver.write(lambda: give_up_roles(lease))

    async def reap(self, *, but: NodeId | None = None) -> int:
        now = self.now()
        count = await self._driver.write(lambda: reap(but, now))
        if count:
            self._observer.reaped(count)
        return count

    async def leave(self, lease: Lease) -> None:
        now = self.now()
        await self._driver.write(lambda: leave(lease, now))
        self._observer.left()

    async def take(self, lease: Lease, role: str) -> Duty | None:
        duty = await self._driver.write(lambda: take(lease, role))
        self._observer.took(role, duty)
        return duty

    async def account_identity(self, channel: str, name: str, fresh: str) -> str:
        return await self._driver.write(lambda: account_identity(channel, name, fresh))

    async def note_account(self, channel: str, name: str, identity: str) -> None:
        await self._driver.write(lambda: note_account(channel, name, identity))

    async def named_accounts(self) -> list[tuple[str, str, str]]:
        return await self._driver.read(named_accounts)

    async def served_accounts(self) -> list[tuple[str, str]]:
        return await self._driver.read(served_accounts)

    async def has_siblings(self, within: timedelta) -> bool:
        """True if more than one node was live within so long."""
        since = self.now() - within
        return await self._driver.read(lambda: has_siblings(since))

    async def shift(self, by: timedelta, unseen: timedelta = timedelta()) -> None:
        now = self.now()
        await self._driver.write(lambda: shift(by, unseen, now))

    async def last_written(self) -> datetime | None:
        return await self._driver.read(last_written)

    async def live_nodes(self) -> list[str]:
        return await self._driver.read(live_nodes)

    async def note_fact(self, kind: str, by: str, subject: str, detail: str) -> None:
        now = self.now()
        await self._driver.write(lambda: note(kind, by, subject, detail, now))

    async def ping(self, lease: Lease, account: str, *, answered_at: datetime | None, asks: bool) -> list[Ping]:
        now = self.now()
        return await self._driver.write(lambda: ping(lease, account, answered_at, asks, now))

    async def asked(self, but: NodeId) -> list[str]:
        return await self._driver.read(lambda: asked(but))

    async def hand_over(self, lease: Lease, account: str, roles: Sequence[str], to: NodeId) -> bool:
        now = self.now()
        return await self._driver.write(lambda: hand_over(lease, account, roles, to, now))

    async def agenda(self, but: NodeId) -> Agenda:
        return await self._driver.read(lambda: agenda(but))
