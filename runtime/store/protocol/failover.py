"""State of the nodes' ways to a platform, and the handover of an account's roles to another node."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from runtime.contract import NodeId
from runtime.domain.failover import Ping
from runtime.store.protocol.leases import Lease


class Failover(Protocol):
    """An account is `telegram:1001`: its channel and its identity there."""

    async def ping(self, lease: Lease, account: str, *, answered_at: datetime | None, asks: bool) -> list[Ping]:
        """Tell how our way stands, and whether the others are asked to try theirs; what other live nodes told."""

    async def asked(self, but: NodeId) -> list[str]:
        """Accounts for which other nodes than `but` ask."""

    async def hand_over(self, lease: Lease, account: str, roles: Sequence[str], to: NodeId) -> bool:
        """Give the `roles` that are ours to a live node; False when it is none, or we are none: nothing has changed."""
