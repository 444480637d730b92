"""Clicks on a card that lists several calls: one answer, and each call decided for itself, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from runtime.chat.cards import listing
from runtime.contract import Address, Choice, Clicked, NewId
from runtime.domain.approvals import NO_SUCH_ANSWER, Approval, ApprovalState, Rights, Voter, objection
from runtime.store.approvals.decisions import decide, is_frozen
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import listed_with, refresh, standing
from runtime.store.common import fact
from runtime.store.protocol import Decided
from runtime.store.sql.driver import Op

ANSWERS: Final = frozenset({Choice.APPROVE, Choice.DENY})
"""Answers to calls on a list: what is listed is neither changed nor allowed for later."""


def decide_listed(
    clicked: Approval, click: Clicked, voter: Voter, rights: Rights, now: datetime, new_id: NewId
) -> Op[Decided]:
    """Decide what is still open of a card's calls, all of them or none; a question that is shown alone is decided alone."""
    is_alone = voter.console or clicked.id != clicked.lead
    group = yield from listed_with(clicked)
    left = [one for one in group if one.state is ApprovalState.PENDING and (one.id == clicked.id or not is_alone)]
    if not left:
        return (yield from decide(click, voter, rights, now, new_id, alone=True))
    against = None if is_alone else (yield from _against(clicked, left, click, voter, rights, now))
    if click.choice not in ANSWERS:
        against = NO_SUCH_ANSWER
    if against:
        yield from fact(now, "click refused", voter.person.name, clicked.id, against)
        return Decided(objection=against)
    made: list[Decided] = []
    for one in left:
        made += [(yield from decide(replace(click, approval_id=one.id), voter, rights, now, new_id, alone=True))]
    names = yield from approved_by(left[0], rights)
    counted = [one for one in made if one.objection is None]
    rooms: tuple[Address, ...] = ()
    if counted and clicked.lead:
        rooms = yield from refresh(clicked.run_id, [clicked.lead], now, new_id, voted=names)
    before = tuple(room for one in counted for room in one.deliveries)
    settled = [one.approval for one in counted if one.approval and one.approval.state is not ApprovalState.PENDING]
    return replace(
        (counted or made)[-1],
        lane_ready=any(one.lane_ready for one in made),
        deliveries=(*before, *rooms),
        settled=tuple(one.id for one in settled),
    )


def _against(
    clicked: Approval, left: Sequence[Approval], click: Clicked, voter: Voter, rights: Rights, now: datetime
) -> Op[str | None]:
    """The reason nothing on the card is decided, or None: a person may decide all of it, and it is still as shown."""
    shown = {one.id: one.arguments_hash for one in listing.listed_on(clicked)}
    copies = [at for _, at in (yield from standing(clicked.id))[0]]
    for one in left:
        if against := objection(one, voter, click.choice, rights, now, copies, click.reason):
            return against
        if shown.get(one.id) != one.arguments_hash or not (yield from is_frozen(one)):
            return "This isn't the call I asked about, so your answer doesn't count."
    return None
