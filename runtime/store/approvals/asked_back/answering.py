"""Answers to what approvers ask back: one node takes each question, pays for the model call, and records one end.

A row is a question without an end. With `node` a live node is at it; of one that died, or without any, whoever looks takes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlalchemy import bindparam, delete, or_, select, update

from runtime.chat.cards.asked_back import in_whole
from runtime.chat.cards.exchanges import exchanges, with_answer
from runtime.contract import (
    Address,
    ApprovalId,
    Content,
    DeliveryId,
    Kind,
    ModelReply,
    NodeId,
    RunId,
    SessionKey,
)
from runtime.domain.approvals import Rights
from runtime.store.approvals.asked_back.asking import keep
from runtime.store.approvals.decisions import locked
from runtime.store.budgets.counters import Moment
from runtime.store.budgets.reserving import charged
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import Answering, AskedBack, NewDelivery
from runtime.store.runs.steps import model_step
from runtime.store.runs.turns import frozen
from runtime.store.schema import asked_back, nodes, runs, sessions
from runtime.store.sql.driver import Op, is_word
from runtime.text.words import said_at

AT_ONCE: Final = 20
LIVE = select(nodes.c.id).where(is_word(nodes.c.state, "live"))
FREE = or_(asked_back.c.node.is_(None), asked_back.c.node == bindparam("by"), asked_back.c.node.not_in(LIVE))
TO_ANSWER = (
    select(asked_back.c.approval_id, asked_back.c.number).where(FREE).order_by(asked_back.c.asked_at).limit(AT_ONCE)
)
_THIS = (asked_back.c.approval_id == bindparam("id"), asked_back.c.number == bindparam("n"))
TAKE = update(asked_back).where(*_THIS, FREE).values(node=bindparam("by")).returning(asked_back.c.number)
HELD = select(asked_back.c.number).where(*_THIS, asked_back.c.node == bindparam("by"))
END = delete(asked_back).where(*_THIS, asked_back.c.node == bindparam("by")).returning(asked_back.c.number)
PARKED = (
    select(sessions.c.agent, runs.c.iterations, runs.c.since_turn, runs.c.last_turn)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(runs.c.id == bindparam("run"), is_word(runs.c.state, "parked"))
)
PAY = (
    update(runs)
    .where(runs.c.id == bindparam("run"), is_word(runs.c.state, "parked"))
    .values(iterations=runs.c.iterations + 1, next_step=runs.c.next_step + 1)
    .returning(runs.c.next_step, runs.c.last_turn)
)


def to_answer(node: NodeId) -> Op[tuple[AskedBack, ...]]:
    """Questions that nobody else is at, the oldest first."""
    return tuple(AskedBack(ApprovalId(found), number) for found, number in (yield TO_ANSWER, {"by": node}))


def begin(asked: AskedBack, node: NodeId) -> Op[Answering | None]:
    """Take it, with what the run knew when it was parked; None where somebody else has it. A run that goes on is not asked."""
    approval = yield from locked(asked.approval_id)
    rows = yield TAKE, {"id": asked.approval_id, "n": asked.number, "by": node}
    if not rows or approval is None:
        return None
    exchange = next((one for one in exchanges(approval.card) if one.number == asked.number), None)
    if exchange is None:  # nothing would come of an answer
        yield END, {"id": asked.approval_id, "n": asked.number, "by": node}
        return None
    parked = yield PARKED, {"run": approval.run_id}
    if not parked:
        return Answering(asked, approval, exchange)
    agent, iterations, since, last = parked[0]
    turns = yield from frozen(SessionKey(approval.session), since, last)
    return Answering(asked, approval, exchange, agent, iterations, tuple(turns))


def pay(answering: Answering, node: NodeId) -> Op[tuple[int, int] | None]:
    """Count one more model call of the run and reserve a number; None if the run goes on, or another node has the
    question.

    While the run waits nobody else counts its steps: whoever takes it up reads the number behind this one.
    """
    asked, run = answering.asked, answering.approval.run_id
    yield from locked(asked.approval_id)
    if not (yield HELD, {"id": asked.approval_id, "n": asked.number, "by": node}):
        return None
    rows = yield PAY, {"run": run}
    return (rows[0][0] - 1, rows[0][1]) if rows else None


def end(
    answering: Answering,
    node: NodeId,
    reply: ModelReply | None,
    failed: str,
    rights: Rights,
    at: Moment,
) -> Op[tuple[Address, ...]]:
    """Record the answer, or why there is none, beneath every card; where couriers are to look. Nothing where another node did."""
    asked = answering.asked
    approval = yield from locked(asked.approval_id)
    rows = yield END, {"id": asked.approval_id, "n": asked.number, "by": node}
    if not rows or approval is None:
        return ()
    by = answering.exchange.by
    if reply and answering.step:
        run, about = RunId(approval.run_id), f"it answered {by}, who asked about {approval.tool}"
        yield from model_step(node, run, answering.step, reply, answering.turn, at.now, about)
        yield from charged(run, reply.usage, at)
    text = reply.text.strip() if reply and not failed else ""
    yield from fact(at.now, "asked back failed" if failed else "asked back answered", by, approval.id, failed)
    after = replace(approval, card=with_answer(approval.card, asked.number, text, failed))
    rooms = yield from keep(after, rights, at.now, at.new_id)
    with said_at(approval.address):
        whole = [*in_whole(after, asked.number)] if text else []
    for ordinal, told in enumerate(whole):
        origin = f"asked-back:{approval.id}:{asked.number}"
        new = NewDelivery(DeliveryId(at.new_id()), origin, ordinal, Kind.FINAL, approval.address, Content(told))
        yield ADD_DELIVERY, delivery_row(new, at.now)
    return rooms
