"""Nodes and roles, counted by what their transactions return."""

from __future__ import annotations

from datetime import timedelta

from bot.metrics.counting.base import Counting
from runtime.contract import NodeId
from runtime.store.cluster.nodes import RegistryStore
from runtime.store.protocol import Duty, Lease


class CountedRegistry(Counting, RegistryStore):
    async def join(self, node: NodeId, label: str, ttl: timedelta, *, alone: bool) -> Lease:
        lease = await super().join(node, label, ttl, alone=alone)
        self._meters.node_changes.add("joined")
        return lease

    async def beat(self, lease: Lease, ttl: timedelta) -> bool:
        held = await super().beat(lease, ttl)
        if not held:
            self._meters.node_changes.add("lost")
            self._lose_all()
        return held

    async def reap(self, *, but: NodeId | None = None) -> int:
        count = await super().reap(but=but)
        if count:
            self._meters.node_changes.add("reaped", by=count)
        return count

    async def leave(self, lease: Lease) -> None:
        await super().leave(lease)
        self._meters.node_changes.add("left")

    async def take(self, lease: Lease, role: str) -> Duty | None:
        """Whoever has a duty asks for it again and again: only a change counts."""
        duty = await super().take(lease, role)
        if duty and self._roles.get(role) != duty.fence:
            self._roles[role] = duty.fence
            self._meters.role_changes.add(self._labels.role(role), "taken")
        elif duty is None and self._roles.pop(role, None) is not None:
            self._meters.role_changes.add(self._labels.role(role), "lost")
        return duty

    def _lose_all(self) -> None:
        for role in self._roles:
            self._meters.role_changes.add(self._labels.role(role), "lost")
        self._roles.clear()
