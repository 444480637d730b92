"""Decides whether a node gives the roles of an account up to another one, which its platform answers.

    well -a call without an answer, a connection down-> in doubt -LOST-> lost -another node is answered-> given up
      ^                                                    |               |
      +------------------ an answer, connected ------------+---------------+

Values alone: `bot/accounts/failover.py` tries the ways, asks the other nodes and does what is decided here. A node to which no
other is answered keeps what it has and goes on trying, so a platform that is away for all moves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from runtime.contract import NodeId

LOST: Final = timedelta(seconds=15)
"""Silence after which a way counts as lost: a platform that hesitates, or one that is restarted, moves nothing."""
UNANSWERED: Final = 3
"""Calls in a row without an answer that this takes besides: one alone may just have been unlucky."""
DOWN: Final = timedelta(seconds=5)
"""How long a connection may be down before the other nodes are asked: most are up again by then."""
ANSWER_FRESH_FOR: Final = timedelta(seconds=10)
"""How long an answer to another node tells that its way is open."""
LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
CALM: Final = timedelta(minutes=5)
"""How long a node is not given back what it could not connect itself, while the platform answers both of us."""


@dataclass(frozen=True, slots=True)
class Way:
    """State of an account's way to its platform, seen from this node.

    `silent`: since the last answer; `unanswered`: calls since then; `down`: since when its connection is, if it is.
    """

    silent: timedelta = timedelta()
    unanswered: int = 0
    down: timedelta | None = None

    @property
    def is_cut(self) -> bool:
        """Nothing comes back from the platform, for so long that it is no accident."""
        return self.unanswered >= UNANSWERED and self.silent >= LOST

    @property
    def is_lost(self) -> bool:
        return self.is_cut or (self.down is not None and self.down >= LOST)

    @property
    def is_in_doubt(self) -> bool:
        """True if the other nodes should try theirs."""
        return self.unanswered > 0 or (self.down is not None and self.down >= DOWN)


@dataclass(frozen=True, slots=True)
class Ping:
    """News of another node about its own way: when it was answered last, and when it last gave the roles up."""

    node: NodeId
    answered_at: datetime | None = None
    left_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Keep:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Begin no send: it would be in doubt, and another node may soon do it better."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Hand the roles to `node`."""

    node: NodeId


Decision = Keep | Wait | GiveUp


def decide(way: Way, others: Sequence[Ping], now: datetime) -> Decision:
    """Decide what a node with roles does, by its own `way` and by what the other live nodes told."""
    if way.is_lost:
        able = [other for other in others if _is_better(other, way, now)]
        return GiveUp(max(able, key=_answered).node) if able else Keep()
    return Wait() if way.unanswered else Keep()


def _is_better(other: Ping, way: Way, now: datetime) -> bool:
    """True if another node is better placed; where only our connection is down, one that could not connect either is not."""
    if now - _answered(other) > ANSWER_FRESH_FOR:
        return False
    return way.is_cut or other.left_at is None or now - other.left_at > CALM


def _answered(other: Ping) -> datetime:
    return other.answered_at or LONG_AGO
