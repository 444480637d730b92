"""Holdings of a node: its lease, a lane, a duty."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from runtime.contract import (
    NodeId,
    SessionKey,
)

COURIER_ROLE: Final = "courier"
"""First word of the role of an account's courier; its channel and its identity follow: `courier:slack:T1`."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A node's right to act, repeated by every write it makes as an owner."""

    node: NodeId
    fence: int


@dataclass(frozen=True, slots=True)
class AboutNode:
    """A node's program, and its settings as `bot.wiring.fingerprints` describes them."""

    version: str = ""
    settings: str = ""


UNTOLD: Final = AboutNode()


@dataclass(frozen=True, slots=True)
class Beat:
    """Answer to a heartbeat that counts. `drain`: it is to take nothing more in and to leave, within so long."""

    drain: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """A session that this node owns: every write of its run carries it."""

    session: SessionKey
    node: NodeId
    fence: int


@dataclass(frozen=True, slots=True)
class Duty:
    """An exclusive role held by a node: every write made under it carries the fence."""

    role: str
    node: NodeId
    fence: int
