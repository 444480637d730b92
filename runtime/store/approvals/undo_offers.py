"""Offers to take back what an approved call did, and the press that wants it. A row without `undone_by` is an offer."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, select, update

from runtime.chat.cards import settled_cards
from runtime.contract import Address, ApprovalKind, NewId
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, no_undo
from runtime.store.approvals.rulings import came_of
from runtime.store.common import add, fact
from runtime.store.protocol import Decided
from runtime.store.schema import undos
from runtime.store.sql.driver import Op, micros, moment
from runtime.text.words import marked

OFFERED: Final = timedelta(minutes=10)
"""How long after its end a call can be taken back."""
NOTHING_LEFT: Final = marked("There's nothing left to undo here.")
PRESSED_BEFORE: Final = marked("{name} has already pressed Undo.")
UNDO_TOO_LATE: Final = marked("It's too late to undo this.")

OFFER = add(undos)
UNDO = select(undos.c.until, undos.c.undone_by).where(undos.c.approval_id == bindparam("id"))
WANT = (
    update(undos)
    .where(undos.c.approval_id == bindparam("id"), undos.c.undone_by == "")
    .values(undone_by=bindparam("who"))
)


def offer(approval: Approval, outcome: str, kept: str, now: datetime) -> Op[str]:
    """Offer to take back a call that ended well; what then stands on its card."""
    ended = json.loads(outcome)
    if (
        approval.kind is not ApprovalKind.CALL
        or approval.state is not ApprovalState.APPROVED
        or ended["state"] != "done"
    ):
        return outcome
    row = {"approval_id": approval.id, "run_id": approval.run_id, "step": approval.step, "kept": kept}
    yield OFFER, row | {"until": micros(now + OFFERED), "undone_by": "", "undone_at": None}
    return settled_cards.with_undo(outcome, "offered")


def press(
    approval: Approval, voter: Voter, rights: Rights, copies: Collection[Address], now: datetime, new_id: NewId
) -> Op[Decided]:
    """Somebody presses Undo: it is wanted from now on, or nothing changed. The lane is locked."""
    rows = yield UNDO, {"id": approval.id}
    against = no_undo(approval, voter, rights, copies) or _too_late(rows[0] if rows else None, now)
    if against:
        yield from fact(now, "undo refused", voter.person.name, approval.id, against)
        return Decided(objection=against)
    yield WANT, {"id": approval.id, "who": voter.person.name}
    yield from fact(
        now, "undo wanted", voter.person.name, approval.id, f"{approval.tool} {approval.arguments_hash[:12]}"
    )
    rooms = yield from told_of(approval, "wanted", now, new_id, by=voter.person.name)
    return Decided(approval=approval, deliveries=rooms)


def _too_late(row: tuple[int, str] | None, now: datetime) -> str | None:
    if row is None:
        return NOTHING_LEFT
    if row[1]:
        return PRESSED_BEFORE.format(name=row[1])
    return UNDO_TOO_LATE if now >= moment(row[0]) else None


def told_of(
    approval: Approval, how: str, now: datetime, new_id: NewId, *, by: str = "", why: str = ""
) -> Op[tuple[Address, ...]]:
    """Every copy of the card says how it stands with the undo."""
    return (yield from came_of(approval, settled_cards.with_undo(approval.outcome, how, by, why), now, new_id))
