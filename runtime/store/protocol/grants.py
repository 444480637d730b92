"""Grants, as they are listed and ended by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from runtime.policy.grants import Grant, GrantId


@dataclass(frozen=True, slots=True)
class Granted:
    """A grant with the names of who gave it, and of whom it is for; empty for somebody who is gone, or for all."""

    grant: Grant
    giver: str = ""
    person: str = ""


class Grants(Protocol):
    """Grants outside of the work that they allow."""

    async def grants(self) -> Sequence[Granted]:
        """All there are, newest first."""

    async def revoke(self, grant: GrantId, by: str) -> bool:
        """End one before its time; whether it was not ended by somebody before."""
