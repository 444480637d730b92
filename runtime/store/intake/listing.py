"""Answers `/approvals`: what waits for a person is shown to them alone, with its buttons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, exists, select

from runtime.chat import inbox
from runtime.chat.inbox import Answer
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Content,
    DeliveryId,
    Identity,
    Kind,
    NewId,
    Person,
    Signal,
)
from runtime.domain.approvals import ApprovalState, Rights
from runtime.store.approvals.decisions import locked
from runtime.store.approvals.rulings import standing
from runtime.store.approvals.waiting import full_chats
from runtime.store.approvals.waiting.inbox import of_person, of_room
from runtime.store.common import ADD_DELIVERY, delivery_row, in_room, same_account, web_identity
from runtime.store.intake.inbox import asks_alone
from runtime.store.protocol import NewDelivery
from runtime.store.schema import identities, signals
from runtime.store.sql.driver import Op, is_word
from runtime.text.words import said_at

COPIES_MOST: Final = 5
"""Copies of one card that a person may call up in one room: each follows what becomes of it by an edit."""

PRIVATE_CHAT = select(identities.c.room).where(
    identities.c.identity == bindparam("identity"), identities.c.room.is_not(None)
)
OTHERS_SPOKE = select(
    exists().where(
        in_room(signals.c.address), signals.c.actor != bindparam("identity"), is_word(signals.c.kind, "said")
    )
)


@dataclass(frozen=True, slots=True)
class Listing:
    """Answer to `/approvals`: words, and the cards where they go with the words; else `rooms` in which some were put."""

    text: str
    cards: tuple[Content, ...] = ()
    rooms: tuple[Address, ...] = ()


def listed(signal: Signal, who: Person, rights: Rights, now: datetime, new_id: NewId) -> Op[Listing]:
    """Show a person what waits for them: beside the answer where only they read it, else in a private chat of theirs."""
    found = yield from of_person(who, rights, now)
    here = yield from of_room(signal.address, now)
    at = signal.address if signal.private else (yield from _private_chat(signal, who))
    behind = (yield from full_chats.behind(at)) if at and found else []
    answer = inbox.answer_to(found, at or signal.address, here, behind)
    if signal.private:
        made = tuple(inbox.card(one, signal.address, now) for one in answer.shown)
        return Listing(inbox.told(answer, now), made)
    if at is None:
        return Listing(inbox.told_aside(answer, now, signal.command_mark, is_sent=False))
    rooms = yield from _put(answer, at, now, new_id)
    words = (
        inbox.told(answer, now)
        if at == signal.address
        else inbox.told_aside(answer, now, signal.command_mark, is_sent=True)
    )
    return Listing(words, rooms=rooms)


def _private_chat(signal: Signal, who: Person) -> Op[Address | None]:
    """Room in which this person alone reads the answer: the one where they ask, else the one where they wrote last."""
    is_page = signal.actor == web_identity(who)
    if is_page or asks_alone(signal):
        key = {"room": str(signal.address), "identity": signal.actor}
        return None if is_page and bool((yield OTHERS_SPOKE, key)[0][0]) else signal.address
    room = yield from private_chat(signal.actor)
    return room if room and same_account(room, signal.address) else None


def private_chat(identity: Identity) -> Op[Address | None]:
    """The room in which they wrote last to the agent alone."""
    rows = yield PRIVATE_CHAT, {"identity": identity}
    return Address.parse(rows[0][0]) if rows else None


def _put(answer: Answer, at: Address, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """A copy of each card, which is recorded as one: it may be answered there, and follows what becomes of it."""
    # As every writer does it, lane before question; several in one order, so that two lists never wait in a ring.
    still: set[ApprovalId] = set()
    for one in sorted(answer.shown, key=lambda one: (one.approval.session, one.approval.id)):
        current = yield from locked(one.approval.id)
        if current is not None and current.state is ApprovalState.PENDING:
            still.add(current.id)
    rooms: tuple[Address, ...] = ()
    for one in answer.shown:
        approval = one.approval
        copies, ordinal = yield from standing(approval.id)
        if approval.id not in still or sum(there == at for _, there in copies) >= COPIES_MOST:
            continue
        run = None if approval.kind is ApprovalKind.PERSON else approval.run_id
        with said_at(at):
            said = inbox.card(one, at, now)
        card = NewDelivery(DeliveryId(new_id()), f"approval:{approval.id}", ordinal, Kind.APPROVAL, at, said)
        yield ADD_DELIVERY, delivery_row(card, now, run)
        rooms = (at,)
    return rooms
