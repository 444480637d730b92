"""Calling people once more about a question that nobody decided: what is due, and what is put where by that."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, select, update

from runtime.chat import inbox
from runtime.chat.cards import card_facts, listing, open_cards
from runtime.contract import Address, DeliveryId, Kind, NewId
from runtime.domain.approvals import ApprovalState, Rights
from runtime.markup.moments import several
from runtime.store.approvals.audience import those_who_decide
from runtime.store.approvals.decisions import locked
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import APPROVAL_COLUMNS, approval_of, listed_with, standing
from runtime.store.approvals.waiting import full_chats
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import Calling, Due, NewDelivery
from runtime.store.schema import approvals
from runtime.store.sql.driver import Op, is_word, micros
from runtime.text.words import said_at

TO_CALL = (
    select(*APPROVAL_COLUMNS)
    .where(is_word(approvals.c.state, "pending"), approvals.c.next_call_at <= bindparam("now"))
    .order_by(approvals.c.next_call_at)
    .limit(100)
)
SET_CALLS = (
    update(approvals)
    .where(approvals.c.id == bindparam("id_"))
    .values(calls=bindparam("made"), next_call_at=bindparam("next"), card=bindparam("shown"))
)


def due(rights: Rights, now: datetime) -> Op[list[Due]]:
    """Questions whose next call has come, each with where it stands and who may decide it."""
    found = []
    for row in (yield TO_CALL, {"now": micros(now)}):
        approval = approval_of(row)
        copies, _ = yield from standing(approval.id)
        candidates = yield from those_who_decide(approval.address, rights.approvers, now)
        found.append(Due(approval, tuple(dict.fromkeys(at for _, at in copies)), candidates))
    return found


def call(wanted: Calling, rights: Rights, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Put its card into rooms; nothing where somebody decided or called meanwhile. Where a courier is to look."""
    approval = yield from locked(wanted.asked.id)
    if approval is None or approval.state is not ApprovalState.PENDING or approval.calls != wanted.asked.calls:
        return ()
    after = card_facts.asked_further(replace(approval, calls=wanted.made), wanted.told)
    next_at = after.next_call_at and micros(after.next_call_at)
    yield SET_CALLS, {"id_": after.id, "made": wanted.made, "next": next_at, "shown": after.card}
    names = yield from approved_by(after, rights)
    copies, ordinal = yield from standing(after.id)
    group = (yield from listed_with(after)) if after.lead else []
    at_home = [(at, card) for card, at in copies if at == after.address and wanted.told]  # it tells who is asked now
    known = {at for _, at in copies}
    rooms = list[Address]()
    for room in sorted(wanted.rooms, key=str):  # chats are locked in this order everywhere
        mark = wanted.private.get(room)
        if mark is not None and room not in known and (yield from full_chats.is_full(room)):
            with said_at(room):
                newest = inbox.newest(after.requester_name, after.tool, len(group) or 1)
            yield from full_chats.defer(after.id, newest, room, mark, now, new_id)
        else:
            rooms.append(room)
    for number, (room, edits) in enumerate([*at_home, *((room, None) for room in rooms)], ordinal):
        again = edits is None and room in known
        called = wanted.mentions.get(room, ()) if edits is None else ()
        home = room == after.address
        with said_at(room):
            if group:
                said = listing.card(group, now, home=home, voted=names, again=again, mentions=called)
            else:
                at = None if home else room
                said = open_cards.pending(after, now, home=home, voted=names, again=again, mentions=called, at=at)
        card = NewDelivery(DeliveryId(new_id()), f"approval:{after.id}", number, Kind.APPROVAL, room, said, edits)
        yield ADD_DELIVERY, delivery_row(card, now, after.run_id)
    yield from fact(now, "approval called", "", after.id, several(len(wanted.rooms), "room"))
    return tuple(dict.fromkeys([*(at for at, _ in at_home), *wanted.rooms]))
