"""News among nodes about their ways to a platform, and the hand-over of an account's roles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, func, select, update

from runtime.contract import NodeId
from runtime.domain.failover import Ping
from runtime.store.common import add, fact
from runtime.store.protocol import Lease
from runtime.store.schema import nodes, pings, roles
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros

LIVE = (
    select(nodes.c.id)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("fence"), is_word(nodes.c.state, "live"))
    .with_for_update(read=True, key_share=True)
)
LIVES_ON = (
    select(nodes.c.label)
    .where(nodes.c.id == bindparam("node"), is_word(nodes.c.state, "live"), nodes.c.expires_at > bindparam("now"))
    .with_for_update(read=True, key_share=True)
)
_NEW = add(pings, without=("left_at",))
TELL = _NEW.on_conflict_do_update(
    index_elements=["account", "node"],
    set_={
        "asked_at": _NEW.excluded.asked_at,
        "answered_at": func.coalesce(_NEW.excluded.answered_at, pings.c.answered_at),
    },
)
OTHER_NODES_PINGS = (
    select(pings.c.node, pings.c.answered_at, pings.c.left_at)
    .join(nodes, and_(nodes.c.id == pings.c.node, is_word(nodes.c.state, "live")))
    .where(pings.c.account == bindparam("account"), pings.c.node != bindparam("node"))
)
ACCOUNTS_ASKED = (
    select(pings.c.account).where(pings.c.asked_at.is_not(None), pings.c.node != bindparam("but")).distinct()
)
GIVE = (
    update(roles)
    .where(roles.c.name == bindparam("role"), roles.c.node == bindparam("ours"))
    .values(node=bindparam("theirs"), fence=roles.c.fence + 1)
)
LEFT = (
    update(pings)
    .where(pings.c.account == bindparam("a"), pings.c.node == bindparam("n"))
    .values(asked_at=None, left_at=bindparam("now"))
)
FORGET = delete(pings).where(pings.c.node == bindparam("n"))


def ping(lease: Lease, account: str, answered_at: datetime | None, asks: bool, now: datetime) -> Op[list[Ping]]:
    if not (yield LIVE, {"node": lease.node, "fence": lease.fence}):
        return []
    answered = micros(answered_at) if answered_at else None
    asked = micros(now) if asks else None
    yield TELL, {"account": account, "node": lease.node, "asked_at": asked, "answered_at": answered}
    rows = yield OTHER_NODES_PINGS, {"account": account, "node": lease.node}
    return [Ping(NodeId(node), maybe_moment(answered), maybe_moment(left)) for node, answered, left in rows]


def asked(but: NodeId) -> Op[list[str]]:
    return [account for (account,) in (yield ACCOUNTS_ASKED, {"but": but})]


def hand_over(lease: Lease, account: str, names: Sequence[str], to: NodeId, now: datetime) -> Op[bool]:
    if not (yield LIVE, {"node": lease.node, "fence": lease.fence}):
        return False
    label = yield LIVES_ON, {"node": to, "now": micros(now)}
    if not label:
        return False
    for role in names:
        yield GIVE, {"role": role, "ours": lease.node, "theirs": to}
    yield LEFT, {"a": account, "n": lease.node, "now": micros(now)}
    yield from fact(now, "roles handed over", "", account, f"to {label[0][0]}, which its platform answers")
    return True
