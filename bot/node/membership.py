"""The place of this process among the nodes, for whoever must know whether it still holds."""

from __future__ import annotations

from runtime.cluster.node import Node
from runtime.cluster.notifier import REST, LocalNotifier
from runtime.cluster.topics import ROLES
from runtime.intake.dispatch import Dispatch
from runtime.intake.reception import Accept
from runtime.store.protocol import Duty, Lease, Taken


class Membership:
    """Empty until the process is a node. One that joins again takes it anew."""

    def __init__(self, notifier: LocalNotifier) -> None:
        self._notifier = notifier
        self._node: Node | None = None
        self._dispatch: Dispatch | None = None

    @property
    def is_empty(self) -> bool:
        return self._node is None

    def sit(self, node: Node, dispatch: Dispatch) -> None:
        self._node, self._dispatch = node, dispatch

    @property
    def lease(self) -> Lease | None:
        return self._node.lease if self._node else None

    def lease_is_fresh(self) -> bool:
        return self._node is not None and self._node.fresh()

    def trouble(self) -> str | None:
        """Why nothing can be written at the moment, as far as the heartbeat has seen."""
        return self._node.trouble() if self._node else None

    async def take(self, role: str) -> Duty | None:
        """A duty that one node has at a time; None while another has it, or before we are one."""
        return await self._node.take(role) if self._node else None

    async def vacancy(self) -> None:
        """Until such a duty may have come free: whoever frees one rings, and the pulse for as long as nobody has it."""
        await self._notifier.listen(ROLES).within(REST.total_seconds())

    async def take_in(self, accept: Accept) -> Taken:
        """A message begins its run at once where this node has room for one more."""
        return await (self._dispatch.take_in(accept) if self._dispatch else accept(None))
