"""A ruling about an approval as it is recorded, and shown on every copy of its card."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from runtime.chat.cards import listing, settled_cards, verdicts
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Choice,
    Content,
    DeliveryId,
    Effect,
    Kind,
    NewId,
    RunId,
)
from runtime.domain.approvals import NEED_QUORUM, Approval, ApprovalState
from runtime.policy.terms import PLAIN, Terms
from runtime.store.common import ADD_DELIVERY, add, delivery_row, fact
from runtime.store.protocol import NewDelivery
from runtime.store.schema import approvals, deliveries
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment
from runtime.text.words import said_at

APPROVAL_COLUMNS = list(approvals.columns)
NAMES = [column.name for column in APPROVAL_COLUMNS]
SETTLE = (
    update(approvals)
    .where(approvals.c.id == bindparam("id_"), is_word(approvals.c.state, "pending"))
    .values(
        state=bindparam("new_state"),
        decided_by=bindparam("by"),
        decided_name=bindparam("by_name"),
        decided_at=bindparam("at"),
        choice=bindparam("picked"),
        reason=bindparam("why"),
        outcome=bindparam("came"),
    )
)
SET_OUTCOME = update(approvals).where(approvals.c.id == bindparam("id_")).values(outcome=bindparam("came"))
ONE = select(*APPROVAL_COLUMNS).where(approvals.c.id == bindparam("id"))
OF_RUN = select(*APPROVAL_COLUMNS).where(approvals.c.run_id == bindparam("run")).order_by(approvals.c.id)
ADD_APPROVAL = add(approvals)
UNDONE: Final = re.compile(r'\{"state": "(?:waits|running)"')
CARDS = (
    select(deliveries.c.id, deliveries.c.address, deliveries.c.edits)
    .where(deliveries.c.origin == bindparam("o"))
    .order_by(deliveries.c.ordinal)
)


def approval_of(row: tuple[Any, ...]) -> Approval:
    """An approval from a row in the table's column order."""
    get: dict[str, Any] = dict(zip(NAMES, row, strict=True))
    return Approval(
        id=ApprovalId(get["id"]),
        kind=ApprovalKind(get["kind"]),
        state=ApprovalState(get["state"]),
        run_id=RunId(get["run_id"]),
        step=get["step"],
        session=get["session"],
        address=Address.parse(get["address"]),
        tool=get["tool"],
        effect=Effect(get["effect"]),
        arguments=get["arguments"],
        arguments_hash=get["arguments_hash"],
        policy_version=get["policy_version"],
        requester=get["requester"],
        asked_at=moment(get["asked_at"]),
        expires_at=moment(get["expires_at"]),
        decided_by=get["decided_by"],
        decided_name=get["decided_name"],
        decided_at=maybe_moment(get["decided_at"]),
        choice=Choice(get["choice"]) if get["choice"] else None,
        reason=get["reason"],
        caution=get["caution"],
        requester_name=get["requester_name"],
        request=get["request"],
        terms=Terms.from_json(get["terms"]) if get["terms"] else PLAIN,
        card=get["card"],
        asked_arguments=get["asked_arguments"],
        outcome=get["outcome"],
        calls=get["calls"],
    )


def record(ruled: Approval, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Record a ruling; rooms where a courier is to look."""
    others = [approval_of(row) for row in (yield OF_RUN, {"run": ruled.run_id}) if row[0] != ruled.id]
    left = sum(one.state is ApprovalState.PENDING for one in others)
    if ruled.choice in NEED_QUORUM:  # the call runs, once nothing else is asked
        ruled = replace(ruled, outcome=json.dumps({"state": "waits", "left": left}) if left else settled_cards.RUNNING)
    yield (
        SETTLE,
        {
            "id_": ruled.id,
            "new_state": ruled.state.value,
            "by": ruled.decided_by,
            "by_name": ruled.decided_name,
            "at": micros(now),
            "picked": ruled.choice.value if ruled.choice else None,
            "why": ruled.reason,
            "came": ruled.outcome,
        },
    )
    rooms: tuple[Address, ...] = ()
    if ruled.lead is None:
        rooms = yield from edit_cards(ruled, lambda copy: settled_cards.settled(ruled, home=copy is None), now, new_id)
    waited = [] if left or ruled.state is ApprovalState.VOID else [one for one in others if '"waits"' in one.outcome]
    if waited:
        rooms += yield from _all_came_of(waited, settled_cards.RUNNING, now, new_id)
    detail = f"{ruled.tool} {ruled.arguments_hash[:12]}"
    yield from fact(now, f"approval {ruled.state.value}", ruled.decided_name, ruled.id, detail)
    return rooms


def came_of(approval: Approval, outcome: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Every copy of its card says what became of an approved call; where a courier is to look."""
    after = replace(approval, outcome=outcome)
    yield SET_OUTCOME, {"id_": after.id, "came": outcome}
    if after.lead:
        return (yield from refresh(after.run_id, [after.lead], now, new_id, Kind.REPORT.rank))
    # Behind an answer that waits for the same room: people read that first.
    return (
        yield from edit_cards(
            after, lambda copy: settled_cards.settled(after, home=copy is None), now, new_id, Kind.REPORT.rank
        )
    )


def changed_words(about: Approval) -> Op[str]:
    """Words for the model where the call is not the one it made; a call that was cut off was changed by an earlier question."""
    if about.kind is ApprovalKind.OUTCOME:
        for row in (yield OF_RUN, {"run": about.run_id}):
            earlier = approval_of(row)
            if earlier.step == about.step and earlier.asked_arguments:
                return verdicts.changed_call(earlier)
    return verdicts.changed_call(about) if about.asked_arguments else ""


def undone(run: RunId, outcome: str, now: datetime, new_id: NewId, *, step: int = 0) -> Op[tuple[Address, ...]]:
    """Approved calls of a run, or that of one step, that did not come to an end; where a courier is to look."""
    every = [approval_of(row) for row in (yield OF_RUN, {"run": run})]
    cut = [one for one in every if one.step in (step or one.step,) and UNDONE.match(one.outcome)]
    return (yield from _all_came_of(cut, outcome, now, new_id))


def _all_came_of(every: Sequence[Approval], outcome: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Record one outcome for all of them; a card that lists several is edited once."""
    rooms: tuple[Address, ...] = ()
    leads: dict[RunId, list[ApprovalId]] = {}
    for one in every:
        if one.lead:
            yield SET_OUTCOME, {"id_": one.id, "came": outcome}
            leads.setdefault(one.run_id, []).append(one.lead)
        else:
            rooms += yield from came_of(one, outcome, now, new_id)
    for run, found in leads.items():
        rooms += yield from refresh(run, found, now, new_id, Kind.REPORT.rank)
    return rooms


def listed_with(one: Approval) -> Op[list[Approval]]:
    """All questions of its card, in the order of their calls."""
    every = (approval_of(row) for row in (yield OF_RUN, {"run": one.run_id}))
    return sorted((each for each in every if each.lead == one.lead), key=lambda each: each.step)


def refresh(
    run: RunId,
    leads: Sequence[ApprovalId],
    now: datetime,
    new_id: NewId,
    rank: int = Kind.APPROVAL.rank,
    voted: Sequence[str] = (),
) -> Op[tuple[Address, ...]]:
    """Every copy of the cards that list several calls of a run says what holds by now; where a courier is to look."""
    rooms: tuple[Address, ...] = ()
    every = sorted((approval_of(row) for row in (yield OF_RUN, {"run": run})), key=lambda one: one.step)
    for lead in dict.fromkeys(leads):
        group = [one for one in every if one.lead == lead]
        said = partial(_listing, group, now, voted)
        rooms += yield from edit_cards(next(one for one in group if one.id == lead), said, now, new_id, rank)
    return rooms


def _listing(group: Sequence[Approval], now: datetime, voted: Sequence[str], copy: Address | None) -> Content:
    return listing.card(group, now, home=copy is None, voted=voted)


def edit_cards(
    about: Approval,
    content: Callable[[Address | None], Content],
    now: datetime,
    new_id: NewId,
    rank: int = Kind.APPROVAL.rank,
) -> Op[tuple[Address, ...]]:
    """Every copy of its card says `content` from now on, of the room of that copy or of none at home; where a courier is to look.

    A card that lists several calls is told by `refresh` of all that was decided at once.
    """
    run = None if about.kind is ApprovalKind.PERSON else about.run_id
    copies, ordinal = yield from standing(about.id)
    rooms: Sequence[tuple[DeliveryId | None, Address]] = copies or [(None, about.address)]
    for number, (card, at) in enumerate(rooms, max(ordinal, 1)):
        with said_at(at):
            said = content(None if at == about.address else at)
        new = NewDelivery(DeliveryId(new_id()), f"approval:{about.id}", number, Kind.APPROVAL, at, said, card)
        yield ADD_DELIVERY, {**delivery_row(new, now, run), "rank": rank}
    return tuple(at for _, at in rooms)


def standing(approval: ApprovalId) -> Op[tuple[list[tuple[DeliveryId, Address]], int]]:
    """Every copy of a card with its room, and the ordinal of the next delivery about it."""
    found = yield CARDS, {"o": f"approval:{approval}"}
    known = {card for card, _, _ in found}  # what edits none of these is a copy, also one in the place of a preview
    return [(DeliveryId(card), Address.parse(at)) for card, at, edits in found if edits not in known], len(found)
