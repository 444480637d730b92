"""One click for all open calls that a run asked about at once: each is decided for itself."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select

from runtime.contract import ApprovalId, Choice, Clicked, NewId
from runtime.domain.approvals import ApprovalState, Rights, Voter, asked_about, offered
from runtime.markup.moments import several
from runtime.store.approvals.decisions import decide, locked
from runtime.store.protocol import Decided
from runtime.store.schema import approvals
from runtime.store.sql.driver import Op, is_word

OPEN_CALLS = (
    select(approvals.c.id)
    .where(
        approvals.c.run_id == bindparam("run"), is_word(approvals.c.state, "pending"), is_word(approvals.c.kind, "call")
    )
    .order_by(approvals.c.step)
)


def decide_all(click: Clicked, voter: Voter, rights: Rights, now: datetime, new_id: NewId) -> Op[Decided]:
    """Approve every open call of the run that this card was asked in, as far as this person may; the others stay open."""
    clicked = yield from locked(asked_about(click.approval_id))
    is_open = clicked is not None and clicked.state is ApprovalState.PENDING and Choice.ALL in offered(clicked)
    if clicked is None or not is_open or click.approval_id != clicked.as_shown:  # a card as it was before a change
        return (yield from decide(click, voter, rights, now, new_id))
    made = []
    for (one,) in (yield OPEN_CALLS, {"run": clicked.run_id}):
        # Another one that was changed since is not what this person has seen: it stays open.
        which = click.approval_id if one == clicked.id else ApprovalId(one)
        made.append((yield from decide(Clicked(which, Choice.APPROVE), voter, rights, now, new_id)))
    counted = [one for one in made if one.objection is None]
    if not counted:
        return made[-1]
    settled = [one for one in counted if one.approval and one.approval.state is ApprovalState.APPROVED]
    last = (settled or counted)[-1]
    return Decided(
        approval=last.approval,
        session=last.session,
        lane_ready=any(one.lane_ready for one in counted),
        deliveries=tuple(room for one in counted for room in one.deliveries),
        settled=tuple(each for one in settled if one.approval for each in one.settled or (one.approval.id,)),
        notice=_told(len(settled), [one.objection or one.notice or "" for one in made if one not in settled]),
    )


def _told(approved: int, left: list[str]) -> str | None:
    """Words about what stays open, and why."""
    if not left:
        return None
    why = " ".join(dict.fromkeys(left))
    stays = f"{several(len(left), 'question')} {'stays' if len(left) == 1 else 'stay'} open. {why}"
    return f"You approved {several(approved, 'call')}. {stays}" if approved else stays
