"""Calling people once more about a question that nobody decided: what is due, and what is put where by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, select, update

from runtime.contract import Address, ApprovalKind, Choice, Content, DeliveryId, Kind, NewId
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.markup.moments import several
from runtime.store.approvals.audience import those_who_decide
from runtime.store.approvals.decisions import locked
from runtime.store.approvals.quorum import voted
from runtime.store.approvals.rulings import APPROVAL_COLUMNS, approval_of, standing
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import Due, NewDelivery
from runtime.store.schema import approvals
from runtime.store.sql.driver import Op, is_word, micros

TO_CALL = (
    select(*APPROVAL_COLUMNS)
    .where(is_word(approvals.c.state, "pending"), approvals.c.next_call_at <= bindparam("now"))
    .order_by(approvals.c.next_call_at)
    .limit(100)
)
SET_CALLS = (
    update(approvals)
    .where(approvals.c.id == bindparam("id_"))
    .values(calls=bindparam("made"), next_call_at=bindparam("next"))
)


def due(rights: Rights, now: datetime) -> Op[list[Due]]:
    """Questions whose next call has come, each with where it stands and who may decide it."""
    found = []
    for row in (yield TO_CALL, {"now": micros(now)}):
        approval = approval_of(row)
        copies, _ = yield from standing(approval.id)
        runs = Choice.APPROVE if approval.kind is ApprovalKind.CALL else Choice.AGAIN
        votes = (yield from voted(approval, runs, rights)) if approval.terms.quorum > 1 else []
        candidates = yield from those_who_decide(approval.address, rights.approvers)
        rooms = tuple(dict.fromkeys(at for _, at in copies))
        found.append(Due(approval, rooms, candidates, tuple(one.name for one in votes)))
    return found


def call(
    asked: Approval,
    made: int,
    placed: Sequence[tuple[Address, Content]],
    now: datetime,
    new_id: NewId,
) -> Op[tuple[Address, ...]]:
    """Put cards into rooms; nothing where somebody decided or called meanwhile. Where a courier is to look."""
    approval = yield from locked(asked.id)
    if approval is None or approval.state is not ApprovalState.PENDING or approval.calls != asked.calls:
        return ()
    after = replace(approval, calls=made)
    next_at = after.next_call_at
    yield SET_CALLS, {"id_": approval.id, "made": made, "next": next_at and micros(next_at)}
    _, ordinal = yield from standing(approval.id)
    for number, (room, content) in enumerate(placed, ordinal):
        card = NewDelivery(DeliveryId(new_id()), f"approval:{approval.id}", number, Kind.APPROVAL, room, content)
        yield ADD_DELIVERY, delivery_row(card, now, approval.run_id)
    yield from fact(now, "approval called", "", approval.id, several(len(placed), "room"))
    return tuple(room for room, _ in placed)
