"""Whom a card calls by name: those who may decide there, and did not ask themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.chat.audience import MENTIONS_MAX, Candidate, mentions
from runtime.contract import Address, Identity, Mention, Person, PersonId, Role
from runtime.domain.approvals import Rights
from tests.unit.chat.test_cards import PENDING

GENERAL = Address("slack", "T1", "C1", "17.1")
ASKED = replace(PENDING, address=GENERAL)
DIRECT = Address("slack", "T1", "D1")
OPS = Address("slack", "T1", "C9")


def one(
    name: str, *identities: str, role: Role = Role.OPERATOR, here: bool = True, room: Address = DIRECT
) -> Candidate:
    person = Person(PersonId(name.lower()), name, role)
    return Candidate(person, frozenset([person.id, *identities]), (room,), here)


ALICE = one("Alice", "slack:T1/U1", "telegram:1")
OTTO = one("Otto", "slack:T1/U2", here=False)


@pytest.mark.parametrize(
    ("room", "called"),
    [
        (GENERAL, [Mention(Identity("slack:T1/U1"), "Alice")]),  # Otto is not there
        (OPS, [Mention(Identity("slack:T1/U1"), "Alice"), Mention(Identity("slack:T1/U2"), "Otto")]),
        (DIRECT, []),  # a private chat calls by itself
        (Address("slack", "T2", "C1"), []),  # another workspace, whose users have other names
        (Address("telegram", "tg", "-100"), [Mention(Identity("telegram:1"), "Alice")]),
    ],
)
def test_those_are_called_who_may_decide_there(room: Address, called: list[Mention]) -> None:
    assert list(mentions(ASKED, room, [ALICE, OTTO], Rights())) == called


def test_nobody_is_called_who_asked_or_may_not_decide() -> None:
    asker = replace(ASKED, requester=PersonId("alice"))
    assert mentions(asker, GENERAL, [ALICE], Rights()) == ()
    assert mentions(ASKED, GENERAL, [one("Uma", "slack:T1/U3", role=Role.USER)], Rights()) == ()
    assert mentions(ASKED, GENERAL, [ALICE], Rights(blocked=frozenset({"Alice"}))) == ()


def test_no_more_than_five_are_called() -> None:
    many = [one(f"P{n}", f"slack:T1/U{n}") for n in range(9)]
    assert len(mentions(ASKED, GENERAL, many, Rights())) == MENTIONS_MAX == 5
