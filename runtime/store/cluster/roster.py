"""Nodes for operators: what each is and has, and how one is asked to leave, or is given up."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import bindparam, func, or_, select, text, update

from runtime.contract import NodeId
from runtime.store.cluster.nodes import bury
from runtime.store.common import fact
from runtime.store.protocol.leases import COURIER_ROLE
from runtime.store.schema import nodes, roles, sessions
from runtime.store.sql.base import Base
from runtime.store.sql.driver import MICROSECOND, Op, is_word, maybe_moment, micros, moment
from runtime.text.words import marked

LATELY: Final = timedelta(days=1)
"""How long nodes that are gone are listed."""
NODE_ASKED_TO_DRAIN: Final = "node asked to drain"
NODE_REMOVED: Final = "node removed"


class NodeState(StrEnum):
    """`late` gave no sign within its lease, and nobody freed its work yet; `lost` never gave anything back."""

    LIVE = marked("live")
    DRAINING = marked("draining")
    LATE = marked("late")
    LEFT = marked("left")
    LOST = marked("lost")


@dataclass(frozen=True, slots=True)
class Member:
    """A process that is, or was, a node. `works_on` is how many runs it has at work; `left_at` is None for a lost one."""

    id: NodeId
    label: str
    state: NodeState
    version: str
    knows: str
    settings: str
    joined_at: datetime
    beat_at: datetime | None
    expires_at: datetime
    drain_until: datetime | None
    left_at: datetime | None
    clock_offset: timedelta | None
    roles: tuple[str, ...] = ()
    works_on: int = 0

    @property
    def is_live(self) -> bool:
        return self.state in (NodeState.LIVE, NodeState.DRAINING)

    @property
    def accounts(self) -> list[tuple[str, str]]:
        """Channel and identity of each account that it sends for."""
        couriers = (role.split(":", 2) for role in self.roles if role.startswith(f"{COURIER_ROLE}:"))
        return [(channel, identity) for _, channel, identity in couriers]


class Drain(StrEnum):
    """Outcomes of asking a node to leave."""

    ASKED = "asked"
    GONE = "gone"
    TOO_OLD = "too old"


class Removal(StrEnum):
    """Outcomes of giving a node up."""

    REMOVED = "removed"
    LIVES = "lives"
    GONE = "gone"


MEMBERS = (
    select(
        *(
            nodes.c.id,
            nodes.c.label,
            nodes.c.state,
            nodes.c.version,
            nodes.c.knows,
            nodes.c.settings,
            nodes.c.joined_at,
        ),
        *(nodes.c.beat_at, nodes.c.expires_at, nodes.c.drain_until, nodes.c.left_at, nodes.c.clock_offset),
    )
    .where(or_(is_word(nodes.c.state, "live"), nodes.c.expires_at > bindparam("since")))
    .order_by(nodes.c.joined_at.desc())
)
HELD_ROLES = select(roles.c.name, roles.c.node).where(roles.c.node.is_not(None)).order_by(roles.c.name)
RUNS_AT_WORK = (
    select(sessions.c.owner, func.count()).where(is_word(sessions.c.state, "running")).group_by(sessions.c.owner)
)
ONE_NODE = (
    select(nodes.c.state, nodes.c.expires_at, nodes.c.knows, nodes.c.label)
    .where(nodes.c.id == bindparam("node"))
    .with_for_update()
)
ASK_TO_DRAIN = update(nodes).where(nodes.c.id == bindparam("node")).values(drain_until=bindparam("until"))
SCHEMA_NOW = text("SELECT version_num FROM alembic_version")


class NodeRoster(Base):
    """Each is one transaction."""

    async def members(self) -> list[Member]:
        """Live nodes, and those that were within the last day; the newest first."""
        now = self.now()
        return await self._driver.read(lambda: _members(now))

    async def schema(self) -> str:
        """Revision of the database's schema."""
        return await self._driver.read(_schema)

    async def ask_to_drain(self, node: NodeId, within: timedelta, by: str) -> Drain:
        """Have a live node take nothing more in, and leave `within` this time at the latest."""
        now = self.now()
        return await self._driver.write(lambda: _ask_to_drain(node, now + within, by, now))

    async def remove(self, node: NodeId, by: str) -> Removal:
        """Give up a node that doesn't come back: what it had is free at once. Not one whose lease holds."""
        now = self.now()
        return await self._driver.write(lambda: _remove(node, by, now))


def _members(now: datetime) -> Op[list[Member]]:
    rows = yield MEMBERS, {"since": micros(now - LATELY)}
    held: dict[str, list[str]] = defaultdict(list)
    for name, node in (yield HELD_ROLES, {}):
        held[node].append(name)
    at_work: dict[str, int] = dict((yield RUNS_AT_WORK, {}))
    return [
        Member(
            id=NodeId(node),
            label=label,
            state=_state(state, moment(expires), drain, left, now),
            version=version,
            knows=knows,
            settings=settings,
            joined_at=moment(joined),
            beat_at=maybe_moment(beat),
            expires_at=moment(expires),
            drain_until=maybe_moment(drain),
            left_at=maybe_moment(left),
            clock_offset=None if offset is None else offset * MICROSECOND,
            roles=tuple(held[node]),
            works_on=at_work.get(node, 0),
        )
        for node, label, state, version, knows, settings, joined, beat, expires, drain, left, offset in rows
    ]


def _state(state: str, expires: datetime, drain: int | None, left: int | None, now: datetime) -> NodeState:
    if state != "live":
        return NodeState.LOST if left is None else NodeState.LEFT
    if expires <= now:
        return NodeState.LATE
    return NodeState.LIVE if drain is None else NodeState.DRAINING


def _schema() -> Op[str]:
    rows = yield SCHEMA_NOW, {}
    return str(rows[0][0]) if rows else ""


def _ask_to_drain(node: NodeId, until: datetime, by: str, now: datetime) -> Op[Drain]:
    rows = yield ONE_NODE, {"node": node}
    if not rows or rows[0][0] != "live" or moment(rows[0][1]) <= now:
        return Drain.GONE
    if not rows[0][2]:
        return Drain.TOO_OLD
    yield ASK_TO_DRAIN, {"node": node, "until": micros(until)}
    yield from fact(now, NODE_ASKED_TO_DRAIN, by, node, rows[0][3])
    return Drain.ASKED


def _remove(node: NodeId, by: str, now: datetime) -> Op[Removal]:
    rows = yield ONE_NODE, {"node": node}
    if not rows or rows[0][0] != "live":
        return Removal.GONE
    if moment(rows[0][1]) > now:
        return Removal.LIVES
    yield from bury(node, now)
    yield from fact(now, NODE_REMOVED, by, node, rows[0][3])
    return Removal.REMOVED
