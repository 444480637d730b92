"""Modes of conversations."""

from __future__ import annotations

from typing import Protocol

from runtime.contract import Address, PersonId, RunId
from runtime.domain.approvals import Voter
from runtime.policy.modes import RoomMode


class Modes(Protocol):
    """Read where a call is sorted that does more than read."""

    async def mode_at(self, agent: str, address: Address) -> RoomMode:
        """Of a thread's mode and its room's the one that was set last."""

    async def voter(self, person: PersonId, address: Address) -> Voter | None:
        """Somebody as a voter of a room, with their role and names of today; None for one who was removed."""

    async def speakers(self, run: RunId) -> frozenset[PersonId]:
        """People whose words a run heard."""
