"""Questions of a conversation, as its agent is told of them; and the tools that are called most."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, case, func, or_, select, union

from runtime.contract import ApprovalKind, SessionKey
from runtime.domain.approvals import ApprovalState
from runtime.policy.terms import Terms
from runtime.store.protocol import Board, SettledCall, WaitingCall
from runtime.store.schema import approvals, runs, steps, turns
from runtime.store.sql.driver import Op, is_word, micros, moment

WAITING_MAX: Final = 10
SETTLED_MAX: Final = 5
LOOK_BACK: Final = 200
"""Turns of a conversation in which a settled question is looked for."""

USED_MAX: Final = 100

_last = select(func.max(turns.c.number)).where(turns.c.session == bindparam("s")).scalar_subquery()
_working = union(
    select(turns.c.run_id).where(
        turns.c.session == bindparam("s"),
        turns.c.number >= bindparam("since"),
        turns.c.number > _last - LOOK_BACK,
        is_word(turns.c.role, "tool"),
    ),
    select(runs.c.id).where(runs.c.session == bindparam("s"), is_word(runs.c.state, "running", "parked", "ready")),
)
_COLUMNS = (
    approvals.c.state,
    approvals.c.tool,
    approvals.c.arguments,
    approvals.c.asked_at,
    approvals.c.requester_name,
    approvals.c.terms,
    approvals.c.kind,
    approvals.c.decided_at,
    approvals.c.decided_name,
    approvals.c.reason,
)
QUESTIONS = (
    select(*_COLUMNS)
    .where(
        approvals.c.run_id.in_(_working),
        or_(is_word(approvals.c.state, "pending"), approvals.c.decided_at.is_not(None)),
    )
    .order_by(
        case((is_word(approvals.c.state, "pending"), 0), else_=1),
        func.coalesce(approvals.c.decided_at, approvals.c.asked_at).desc(),
    )
    .limit(WAITING_MAX + SETTLED_MAX)
)
"""Those that wait first, and then the last that were settled."""
USED = (
    select(steps.c.tool, func.count())
    .join(runs, runs.c.id == steps.c.run_id)
    .where(runs.c.started_at >= bindparam("since"), is_word(steps.c.kind, "tool"))
    .group_by(steps.c.tool)
    .order_by(func.count().desc(), steps.c.tool)
    .limit(USED_MAX)
)


def board(session: SessionKey, since: int) -> Op[Board]:
    """Questions of the conversation that began with turn `since`; also those of runs before it that still wait."""
    rows = yield QUESTIONS, {"s": session, "since": since}
    waiting = [
        WaitingCall(tool, arguments, moment(at), requester, _whom(kind, terms))
        for state, tool, arguments, at, requester, terms, kind, *_ in rows
        if state == ApprovalState.PENDING
    ]
    settled = [
        SettledCall(tool, arguments, state, moment(at), by, reason)
        for state, tool, arguments, _, _, _, _, at, by, reason in rows
        if state != ApprovalState.PENDING
    ]
    return Board(tuple(reversed(waiting[:WAITING_MAX])), tuple(settled[:SETTLED_MAX]))


def _whom(kind: str, terms: str) -> tuple[str, ...]:
    """Names to whom a rule narrows it. A question to a person names them in the call itself, and here by an id."""
    return () if kind == ApprovalKind.ANSWER else Terms.from_json(terms).approvers


def tools_used(since: datetime) -> Op[list[str]]:
    rows = yield USED, {"since": micros(since)}
    return [tool for tool, _ in rows]
