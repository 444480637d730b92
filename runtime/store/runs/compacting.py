"""Conversations that a person wants condensed: one node takes each, when no run is at work there, and records one end.

The command's own signal is the request: its state is "condensing" until then. With `node` a live node is at it; of one
that died, or without any, whoever looks takes it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, func, or_, select, update

from runtime.chat.views import context as context_views
from runtime.contract import (
    Address,
    Content,
    DeliveryId,
    Kind,
    NodeId,
    RunId,
    SessionKey,
    SignalId,
    Usage,
)
from runtime.store.budgets.counters import Moment
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import Compacting, NewDelivery, Summary
from runtime.store.runs.run_begin import requester_of
from runtime.store.runs.summaries import keep_summary
from runtime.store.schema import nodes, runs, sessions, signals, turns
from runtime.store.sql.driver import Op, is_word, micros
from runtime.text.words import said_at, say

AT_ONCE: Final = 20
LIVE = select(nodes.c.id).where(is_word(nodes.c.state, "live"))
WANTED = is_word(signals.c.state, "condensing")
FREE = or_(signals.c.node.is_(None), signals.c.node == bindparam("by"), signals.c.node.not_in(LIVE))
THIS = (signals.c.id == bindparam("signal"), WANTED)
TO_COMPACT = select(signals.c.id).where(WANTED, FREE).order_by(signals.c.accepted_at).limit(AT_ONCE)
WANTED_IN = select(signals.c.id).where(WANTED, signals.c.session == bindparam("s"))
TAKE = update(signals).where(*THIS, FREE).values(node=bindparam("by")).returning(signals.c.session, signals.c.person_id)
END = (
    update(signals)
    .where(*THIS, signals.c.node == bindparam("by"))
    .values(state="decided", answered_at=bindparam("at"))
    .returning(signals.c.address, signals.c.message_id, signals.c.actor_name)
)
LANE = select(sessions.c.agent, sessions.c.address, sessions.c.since_turn, sessions.c.state).where(
    sessions.c.key == bindparam("s")
)
# What it costs is put down to the newest run that ended there: no worker counts its steps any more.
PAYS = (
    select(turns.c.run_id)
    .join(runs, runs.c.id == turns.c.run_id)
    .where(turns.c.session == bindparam("s"), runs.c.session == bindparam("s"), runs.c.ended_at.is_not(None))
    .order_by(turns.c.number.desc())
    .limit(1)
)

TURNS_OF = select(func.count()).where(
    turns.c.session == bindparam("s"), turns.c.number.between(bindparam("since"), bindparam("upto"))
)


def to_compact(node: NodeId) -> Op[tuple[SignalId, ...]]:
    """Requests that nobody else is at, the oldest first."""
    return tuple(SignalId(found) for (found,) in (yield TO_COMPACT, {"by": node}))


def begin_compacting(signal: SignalId, node: NodeId) -> Op[Compacting | None]:
    """Take it; None where somebody else has it, or a run is at work there: then it waits for that."""
    rows = yield TAKE, {"signal": signal, "by": node}
    if not rows:
        return None
    session = SessionKey(rows[0][0])
    lane = yield LANE, {"s": session}
    if not lane or lane[0][3] in ("running", "suspect"):
        return None
    pays = yield PAYS, {"s": session}
    agent, address, since, _ = lane[0]
    asker, _ = yield from requester_of(rows[0][1])
    run = RunId(pays[0][0]) if pays else None
    return Compacting(signal, session, agent, Address.parse(address), since, run, asker)


def end_compacting(of: Compacting, node: NodeId, summary: Summary | None, usage: Usage | None, at: Moment) -> Op[bool]:
    """Keep the summary with what it cost, or none, and tell the room. False where another node did, and nothing is kept."""
    rows = yield END, {"signal": of.signal, "by": node, "at": micros(at.now)}
    if not rows:
        return False
    address, message, who = rows[0]
    room, text = Address.parse(address), ""
    if summary and of.run:
        kept = yield from keep_summary(of.run, None, summary, usage, at)
        count = yield TURNS_OF, {"s": of.session, "since": summary.since, "upto": summary.upto}
        if kept:
            with said_at(room):
                text = context_views.condensed(
                    *(int(count[0][0]), summary.kind.value, summary.tokens_before, summary.tokens_after)
                )
            yield from fact(at.now, "condensed", who, of.signal, f"up to turn {summary.upto}")
    origin, fresh = f"condensed:{of.signal}", DeliveryId(at.new_id())
    with said_at(room):
        text = text or say(context_views.FAILED if summary and of.run else context_views.NOTHING)
    new = NewDelivery(fresh, origin, 0, Kind.FINAL, room, Content(text), reply_to=message)
    yield ADD_DELIVERY, delivery_row(new, at.now)
    return True
