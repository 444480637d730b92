"""Reads the questions that wait for one person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, Select, bindparam, select

from runtime.chat.inbox import OpenQuestion
from runtime.contract import Address, ApprovalId, Identity, Person
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, waits_for
from runtime.store.approvals.decisions import BY_ID
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.rulings import APPROVAL_COLUMNS, approval_of
from runtime.store.common import in_room, names_of, whom
from runtime.store.schema import approvals, votes
from runtime.store.sql.driver import Op, is_word, micros

OPEN_MOST: Final = 2_000
"""Open questions of everybody that are looked through for those of one person."""
CLOSED_MOST: Final = 50
"""Questions that are asked about at once: more than a person keeps in view."""


def _open(*where: Any) -> Select[Any]:
    return (
        select(*APPROVAL_COLUMNS)
        .where(is_word(approvals.c.state, "pending"), approvals.c.expires_at > bindparam("now"), *where)
        .order_by(approvals.c.asked_at, approvals.c.step, approvals.c.id)
        .limit(bindparam("most", type_=Integer))
    )


OPEN_QUESTIONS = _open()
OPEN_IN_ROOM = _open(in_room(approvals.c.address))
VOTED_BY = (
    select(votes.c.approval_id)
    .join(approvals, approvals.c.id == votes.c.approval_id)
    .where(votes.c.person_id == bindparam("person"), is_word(approvals.c.state, "pending"))
)


def of_identity(who: Identity, rights: Rights, now: datetime) -> Op[list[OpenQuestion]]:
    """Questions that wait for the person behind an identity, oldest first."""
    person = yield from whom(who)
    return (yield from of_person(person, rights, now)) if person else []


def of_person(who: Person, rights: Rights, now: datetime) -> Op[list[OpenQuestion]]:
    """Questions that wait for a person, oldest first. One that they approved already waits for others."""
    rows = yield OPEN_QUESTIONS, {"now": micros(now), "most": OPEN_MOST}
    names = (yield from names_of(who)) if rows else frozenset()
    answered = {row[0] for row in (yield VOTED_BY, {"person": who.id})} if rows else set()
    found: list[OpenQuestion] = []
    for approval in [approval_of(row) for row in rows if row[0] not in answered]:
        if approval.lead not in (None, approval.id):
            continue  # the card of another question lists it
        if waits_for(approval, Voter(who, names, approval.address), rights):
            found.append(OpenQuestion(approval, tuple((yield from approved_by(approval, rights)))))
    return found


def closed_for(who: Identity, questions: Sequence[ApprovalId], rights: Rights) -> Op[list[Approval]]:
    """Of these questions those that waited for the person behind an identity, and no longer do."""
    person = yield from whom(who)
    if person is None:
        return []
    names, answered = (yield from names_of(person)), {row[0] for row in (yield VOTED_BY, {"person": person.id})}
    found = []
    for one in questions[:CLOSED_MOST]:
        found += [approval_of(row) for row in (yield BY_ID, {"id": one})]
    return [
        one
        for one in found
        if (one.state is not ApprovalState.PENDING or one.id in answered)
        and waits_for(one, Voter(person, names, one.address), rights)
    ]


def of_room(room: Address, now: datetime) -> Op[list[Approval]]:
    """Open questions of a room with its threads, whoever may answer them, oldest first."""
    rows = yield OPEN_IN_ROOM, {"now": micros(now), "most": OPEN_MOST, "room": str(room)}
    return [approval_of(row) for row in rows]
