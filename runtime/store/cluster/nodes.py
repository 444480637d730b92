"""Nodes with their leases, and the exclusive roles they hold."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, case, or_, select, text, update

from runtime.contract import NodeId
from runtime.store.cluster.failover import FORGET, LIVE
from runtime.store.common import add, at_once, fact, put
from runtime.store.protocol import Duty, Lease
from runtime.store.protocol.leases import COURIER_ROLE, AboutNode, Beat
from runtime.store.runs.suspects import died, keep_apart
from runtime.store.schema import REVISION, accounts, nodes, roles, sessions
from runtime.store.sql.driver import MICROSECOND, Op, is_like, is_word, maybe_moment, micros
from runtime.store.sql.upsert import insert
from runtime.store.window import check_contracts

ADD_NODE = add(nodes)
RENEW = (
    update(nodes)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("old_fence"), is_word(nodes.c.state, "live"))
    .values(expires_at=bindparam("until"), beat_at=bindparam("now"), clock_offset=bindparam("offset"))
    .returning(nodes.c.drain_until)
)
NOTE_AGENTS = (
    update(nodes)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("old_fence"), is_word(nodes.c.state, "live"))
    .values(agents=bindparam("digest"), settings=bindparam("described"))
)
EXPIRED = (
    select(nodes.c.id)
    .where(is_word(nodes.c.state, "live"), nodes.c.expires_at <= bindparam("now"))
    .with_for_update(skip_locked=True)
)
OTHER_NODES = (
    select(nodes.c.id).where(is_word(nodes.c.state, "live"), nodes.c.id != bindparam("node")).with_for_update()
)
BURY = update(nodes).where(nodes.c.id == bindparam("node")).values(state="dead", fence=nodes.c.fence + 1)
FREE_LANES = (
    update(sessions)
    .where(sessions.c.owner == bindparam("node"), is_word(sessions.c.state, "running"))
    .values(state="ready", owner=None, fence=sessions.c.fence + 1, ready_at=bindparam("now"))
    .returning(sessions.c.key)
)
FREE_ROLES = update(roles).where(roles.c.node == bindparam("n")).values(node=None, fence=roles.c.fence + 1)
# Locked against this node's own claims, so that none of them takes a lane beside its end.
LEAVING = (
    select(nodes.c.id)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("fence"), is_word(nodes.c.state, "live"))
    .with_for_update()
)
TAKE = (
    insert(roles)
    .values(name=bindparam("name"), node=bindparam("node"), fence=1)
    .on_conflict_do_update(
        index_elements=["name"],
        set_={
            "node": bindparam("node"),
            "fence": roles.c.fence + case((roles.c.node == bindparam("node"), 0), else_=1),
        },
        where=or_(roles.c.node.is_(None), roles.c.node == bindparam("node")),
    )
    .returning(roles.c.fence)
)
NOTE_LEFT = update(nodes).where(nodes.c.id == bindparam("node")).values(left_at=bindparam("now"))
CONTRACTS_MADE = text("SELECT revision FROM schema_contracts")
LIVE_LABELS = select(nodes.c.label).where(is_word(nodes.c.state, "live")).order_by(nodes.c.label)
LATELY = select(nodes.c.id).where(nodes.c.expires_at > bindparam("since")).limit(2)
ADD_ACCOUNT = add(accounts).on_conflict_do_nothing()
NOTE_ACCOUNT = put(accounts)
ACCOUNTS = select(accounts.c.channel, accounts.c.identity, accounts.c.name)
SERVED = select(roles.c.name).where(roles.c.node.is_not(None), is_like(roles.c.name, f"{COURIER_ROLE}:%"))
ACCOUNT = select(accounts.c.identity).where(accounts.c.channel == bindparam("c"), accounts.c.name == bindparam("n"))


def live_nodes() -> Op[list[str]]:
    rows = yield LIVE_LABELS, {}
    return [str(label) for (label,) in rows]


def join(
    node: NodeId, label: str, ttl: timedelta, alone: bool, agents: str, about: AboutNode, now: datetime
) -> Op[Lease]:
    """Errors: StoreError for a program that the database has outgrown since it was opened."""
    if alone:
        for (other,) in (yield OTHER_NODES, {"node": node}):
            yield from bury(other, now)
    yield (
        ADD_NODE,
        {
            "id": node,
            "label": label,
            "state": "live",
            "fence": 1,
            "joined_at": micros(now),
            "expires_at": micros(now + ttl),
            "agents": agents,
            "version": about.version,
            "knows": REVISION,
            "settings": about.settings,
            "beat_at": micros(now),
            "clock_offset": None,
            "drain_until": None,
            "left_at": None,
        },
    )
    # Behind its row: a contract that is just being made holds the table, so the row waits for it, and this look finds it.
    check_contracts(revision for (revision,) in (yield CONTRACTS_MADE, {}))
    return Lease(node, 1)


def note_agents(lease: Lease, agents: str, settings: str) -> Op[None]:
    yield NOTE_AGENTS, {"node": lease.node, "old_fence": lease.fence, "digest": agents, "described": settings}


def beat(lease: Lease, ttl: timedelta, offset: timedelta | None, now: datetime) -> Op[Beat | None]:
    given: dict[str, object] = {"node": lease.node, "old_fence": lease.fence}
    given |= {"until": micros(now + ttl), "now": micros(now)}
    given["offset"] = None if offset is None else offset // MICROSECOND
    (rows,) = yield at_once((RENEW, given), last=True)
    if not rows:
        return None
    until = maybe_moment(rows[0][0])
    return Beat(None if until is None else max(until - now, timedelta()))


def reap(but: NodeId | None, now: datetime) -> Op[int]:
    expired = [node for (node,) in (yield EXPIRED, {"now": micros(now)}) if node != but]
    for node in expired:
        yield from bury(node, now)
        yield from fact(now, "node lost", "", node)
    return len(expired)


def leave(lease: Lease, now: datetime) -> Op[None]:
    if (yield LEAVING, {"node": lease.node, "fence": lease.fence}):
        yield from keep_apart((yield from _free(lease.node, now)))
        yield NOTE_LEFT, {"node": lease.node, "now": micros(now)}


def give_up_roles(lease: Lease) -> Op[bool]:
    """Free its roles, and keep its lanes. False for a node that was declared dead."""
    if not (yield LEAVING, {"node": lease.node, "fence": lease.fence}):
        return False
    yield FREE_ROLES, {"n": lease.node}
    yield FORGET, {"n": lease.node}
    return True


def bury(node: NodeId, now: datetime) -> Op[None]:
    """Free what a dead node held. A frozen one counts as dead too: from here nobody can tell, and it drops its work."""
    yield from died(node, (yield from _free(node, now)), now)


def _free(node: NodeId, now: datetime) -> Op[list[str]]:
    """The lanes that are free now."""
    yield BURY, {"node": node}
    lanes = yield FREE_LANES, {"node": node, "now": micros(now)}
    yield FREE_ROLES, {"n": node}
    yield FORGET, {"n": node}
    return [key for (key,) in lanes]


def take(lease: Lease, role: str) -> Op[Duty | None]:
    if not (yield LIVE, {"node": lease.node, "fence": lease.fence}):
        return None
    rows = yield TAKE, {"name": role, "node": lease.node}
    return Duty(role, lease.node, rows[0][0]) if rows else None


def account_identity(channel: str, name: str, fresh: str) -> Op[str]:
    yield ADD_ACCOUNT, {"channel": channel, "name": name, "identity": fresh}
    rows = yield ACCOUNT, {"c": channel, "n": name}
    return str(rows[0][0])


def note_account(channel: str, name: str, identity: str) -> Op[None]:
    rows = yield ACCOUNT, {"c": channel, "n": name}
    if [tuple(row) for row in rows] != [(identity,)]:  # a start that changes nothing writes nothing
        yield NOTE_ACCOUNT, {"channel": channel, "name": name, "identity": identity}


def has_siblings(since: datetime) -> Op[bool]:
    return len((yield LATELY, {"since": micros(since)})) > 1


def named_accounts() -> Op[list[tuple[str, str, str]]]:
    rows = yield ACCOUNTS, {}
    return [(channel, identity, name) for channel, identity, name in rows]


def served_accounts() -> Op[list[tuple[str, str]]]:
    rows = yield SERVED, {}
    return [(channel, identity) for _, channel, identity in (name.split(":", 2) for (name,) in rows)]


def note(kind: str, by: str, subject: str, detail: str, now: datetime) -> Op[None]:
    yield from fact(now, kind, by, subject, detail)
