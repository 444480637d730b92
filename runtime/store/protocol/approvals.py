"""Approvals, decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from runtime.contract import (
    Address,
    ApprovalId,
    SessionKey,
)
from runtime.domain.approvals import Approval, ApprovalState


@dataclass(frozen=True, slots=True)
class Decided:
    """`objection` tells why nothing changed. Otherwise what to wake; `notice` is for who clicked, where it is still open."""

    objection: str | None = None
    approval: Approval | None = None
    session: SessionKey | None = None
    lane_ready: bool = False
    deliveries: tuple[Address, ...] = ()
    notice: str | None = None


class Approvals(Protocol):
    """Approvals outside of `accept`."""

    async def approval(self, approval_id: ApprovalId) -> Approval | None: ...

    async def approvals(
        self, *, state: ApprovalState | None = None, room: Address | None = None, limit: int = 200
    ) -> list[Approval]:
        """Newest first; of one room with its threads, or of all."""

    async def expire(self) -> list[Decided]:
        """Settle questions whose time is over, at most 100."""
