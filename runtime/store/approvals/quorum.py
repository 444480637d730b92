"""Votes of a question that several people have to approve: each counts once, and for as long as they may decide."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from runtime.contract import ApprovalId, ApprovalKind, Choice, Person
from runtime.domain.approvals import Approval, Rights, Voter, entitled
from runtime.store.common import names_of, person
from runtime.store.schema import people, votes
from runtime.store.sql.driver import Op

VOTED = (
    select(people.c.id, people.c.name, people.c.role)
    .join(votes, votes.c.person_id == people.c.id)
    .where(votes.c.approval_id == bindparam("id"), votes.c.choice == bindparam("choice"))
    .order_by(votes.c.at, people.c.id)
)


def approved_by(approval: Approval, rights: Rights) -> Op[list[str]]:
    """Names of those whose approval counts so far; nobody where one is enough."""
    if approval.terms.quorum < 2:
        return []
    runs = Choice.APPROVE if approval.kind is ApprovalKind.CALL else Choice.AGAIN
    return [one.name for one in (yield from voted(approval, runs, rights))]


def voted(approval: Approval, choice: Choice, rights: Rights) -> Op[list[Person]]:
    """People who answered so, first come first, and may still do it."""
    found = []
    for row in (yield VOTED, {"id": ApprovalId(approval.id), "choice": choice.value}):
        who = person(row)
        if entitled(approval, Voter(who, (yield from names_of(who)), approval.address), rights):
            found.append(who)
    return found
