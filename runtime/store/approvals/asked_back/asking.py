"""A press that asks the agent back: the question is kept, shown on every card, and waits for its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from runtime.chat.cards import open_cards, settled_cards
from runtime.chat.cards.exchanges import open_like, question_of, used_up, with_question
from runtime.chat.forms import CALL, QUESTION
from runtime.contract import Address, Choice, Clicked, Content, Kind, NewId
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, asked_about, objection
from runtime.store.approvals.decisions import MEANWHILE, NOBODY, locked
from runtime.store.approvals.listed import SET_CARD, chosen, single_out
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import edit_cards, standing
from runtime.store.approvals.waiting.full_chats import deferred_in
from runtime.store.common import add, fact
from runtime.store.protocol import Decided
from runtime.store.schema import asked_back
from runtime.store.sql.driver import Op, micros

ASKING: Final = "I'm asking the agent. Its answer comes beneath the card."
ASKING_BEHIND: Final = "I'm asking the agent. This chat is full, so its card comes here as you decide others."
AT_IT: Final = "The agent is answering this already."
ADD_QUESTION = add(asked_back)


def ask_back(click: Clicked, voter: Voter, rights: Rights, now: datetime, new_id: NewId) -> Op[Decided]:
    """Ask the agent, for somebody who may decide; the question stays open, and its call as it is."""
    if CALL in click.values:
        click = yield from chosen(click)
    approval = yield from locked(asked_about(click.approval_id))
    against = NOBODY if approval is None else (yield from _against(approval, click, voter, rights, now))
    if approval is None or against:
        yield from fact(now, "click refused", voter.person.name, click.approval_id, against or "")
        return Decided(objection=against)
    question = question_of(click.values, QUESTION)
    if open_like(approval.card, voter.person.name, question):
        return Decided(approval=approval, notice=AT_IT)
    if approval.lead:
        approval, _ = yield from single_out(approval, rights, now, new_id)
    card, made = with_question(approval.card, voter.person.name, question)
    yield ADD_QUESTION, {"approval_id": approval.id, "number": made.number, "node": None, "asked_at": micros(now)}
    yield from fact(now, "approval asked back", voter.person.name, approval.id, f"question {made.number}")
    rooms = yield from keep(replace(approval, card=card), rights, now, new_id)
    is_behind = voter.address in (yield from deferred_in(approval.id))
    return Decided(approval=approval, deliveries=rooms, notice=ASKING_BEHIND if is_behind else ASKING)


def _against(approval: Approval, click: Clicked, voter: Voter, rights: Rights, now: datetime) -> Op[str | None]:
    copies = [at for _, at in (yield from standing(approval.lead or approval.id))[0][1:]]
    against = objection(approval, voter, Choice.WHY, rights, now, copies)
    stale = MEANWHILE if click.approval_id != approval.as_shown else None
    return against or stale or used_up(approval.card)


def keep(after: Approval, rights: Rights, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Keep what its card says now, and show it on every copy; where a courier is to look."""
    yield SET_CARD, {"id_": after.id, "shown": after.card}
    is_open = after.state is ApprovalState.PENDING
    names = (yield from approved_by(after, rights)) if is_open else []
    rank = (Kind.APPROVAL if is_open else Kind.REPORT).rank
    return (yield from edit_cards(after, lambda copy: _card(after, copy, names, now), now, new_id, rank))


def _card(after: Approval, copy: Address | None, names: Sequence[str], now: datetime) -> Content:
    if after.state is ApprovalState.PENDING:
        return open_cards.pending(after, now, home=copy is None, voted=names, at=copy)
    return settled_cards.settled(after, home=copy is None)
