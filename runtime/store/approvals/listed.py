"""Clicks on a card that lists several calls: one answer, and each call decided for itself, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy import bindparam, update

from runtime.chat.cards import listing, open_cards, settled_cards
from runtime.chat.forms import CALL
from runtime.contract import Address, ApprovalId, Choice, Clicked, Content, DeliveryId, Kind, NewId
from runtime.domain.approvals import NO_SUCH_ANSWER, Approval, ApprovalState, Rights, Voter, asked_about, objection
from runtime.store.approvals.audience import those_who_decide
from runtime.store.approvals.decisions import decide, is_frozen, locked
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import edit_cards, listed_with, refresh, standing
from runtime.store.approvals.waiting import full_chats
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import Decided, NewDelivery
from runtime.store.schema import approvals
from runtime.store.sql.driver import Op

SET_CARD = update(approvals).where(approvals.c.id == bindparam("id_")).values(card=bindparam("shown"))
NUMBER_DIGITS: Final = 4
ON_ITS_OWN: Final = "It has a card of its own now. Press Edit… there."
BEHIND: Final = "This chat is full, so it gets its card here as you decide others."
NO_SUCH_CALL: Final = "The list has no such call. Choose one by its number."
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
    copies = [at for _, at in (yield from standing(clicked.id))[0][1:]]
    for one in left:
        if against := objection(one, voter, click.choice, rights, now, copies, click.reason):
            return against
        if shown.get(one.id) != one.arguments_hash or not (yield from is_frozen(one)):
            return "This isn't the call I asked about, so your answer doesn't count."
    return None


# ------------------------------------------------------------------------------------------------- one call of a list


def chosen(click: Clicked) -> Op[Clicked]:
    """The same about the call that its form names by the number on the card."""
    lead = yield from locked(asked_about(click.approval_id))
    values = {name: text for name, text in click.values.items() if name != CALL}
    number = click.values[CALL].strip().partition(".")[0]
    calls = listing.listed_on(lead) if lead and lead.lead == lead.id else []
    if not (number.isdecimal() and len(number) < NUMBER_DIGITS and 1 <= int(number) <= len(calls)):
        return replace(click, approval_id=ApprovalId(""), values=values)
    return replace(click, approval_id=calls[int(number) - 1].id, values=values)


def choose(click: Clicked, voter: Voter, rights: Rights, now: datetime, new_id: NewId) -> Op[Decided]:
    """Somebody chose a call of a list to change it: it gets a card of its own."""
    about = yield from locked((yield from chosen(click)).approval_id)
    against: str | None = NO_SUCH_CALL
    if about is not None:
        copies = [at for _, at in (yield from standing(about.lead or about.id))[0][1:]]
        against = objection(about, voter, click.choice, rights, now, copies)
    if about is None or against:
        yield from fact(now, "click refused", voter.person.name, click.approval_id, against or "")
        return Decided(objection=against, form_stays=True)
    rooms: tuple[Address, ...] = ()
    if about.lead:
        about, rooms = yield from single_out(about, rights, now, new_id)
    is_behind = voter.address in (yield from full_chats.deferred_in(about.id))
    return Decided(approval=about, deliveries=rooms, notice=BEHIND if is_behind else ON_ITS_OWN)


def single_out(
    one: Approval, rights: Rights, now: datetime, new_id: NewId, *, ends: bool = False
) -> Op[tuple[Approval, tuple[Address, ...]]]:
    """An open call leaves its list, in every place: as it is from then on, and where couriers are to look.

    Both questions keep their ids. The message that stood goes on with the question that had it; the other one gets a card,
    or joins those behind the line of a private chat that is full. `ends`: the call is decided in this transaction.
    """
    group = yield from listed_with(one)
    alone, rest = replace(one, card=listing.unlisted(one.card)), listing.without(group, one)
    for each in (alone, *rest):
        yield SET_CARD, {"id_": each.id, "shown": each.card}
    rooms = [at for _, at in (yield from standing(one.lead or one.id))[0]]
    full = yield from full_chats.deferred_in(one.lead or one.id)
    deciding = yield from those_who_decide(one.address, rights.approvers, now)
    private = {room for each in deciding for room in each.rooms}
    names = yield from approved_by(one, rights)
    for about in (alone, *rest[:1]):
        said = partial(_said, about, rest, now, names)
        if about.id == one.lead:
            yield from edit_cards(about, said, now, new_id)
            continue
        is_over, free, behind = ends and about.id == one.id, list[Address](), list[Address]()
        for room in sorted(rooms, key=str):
            is_full = room in private and not is_over and (yield from full_chats.is_full(room, leaving=int(ends)))
            (behind if is_full else free).append(room)
        yield from _posted(about, free, said, now, new_id)
        for room in () if is_over else (*full, *behind):
            yield from full_chats.defer(about.id, "", room, None, now, new_id)
    return alone, tuple(rooms)


def _said(
    about: Approval, rest: Sequence[Approval], now: datetime, voted: Sequence[str], copy: Address | None
) -> Content:
    """The card of a question that is on no list any more, or of those that still are."""
    if about.lead:
        by_step = sorted(rest, key=lambda one: one.step)
        return listing.card(by_step, now, home=copy is None, voted=voted)
    if about.state is ApprovalState.PENDING:
        return open_cards.pending(about, now, home=copy is None, voted=voted, at=copy)
    return settled_cards.settled(about, home=copy is None)


def _posted(
    about: Approval, rooms: Sequence[Address], said: Callable[[Address | None], Content], now: datetime, new_id: NewId
) -> Op[None]:
    """A card of its own in every room in which the list stands."""
    for ordinal, at in enumerate(rooms):
        content = said(None if at == about.address else at)
        new = NewDelivery(DeliveryId(new_id()), f"approval:{about.id}", ordinal, Kind.APPROVAL, at, content)
        yield ADD_DELIVERY, delivery_row(new, now, about.run_id)
