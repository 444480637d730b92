"""People, their identities and their web links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import bindparam, select, update

from runtime.contract import Identity, NewId, Person, Role
from runtime.domain.ids import digest
from runtime.store.common import ADD_IDENTITY, NAMES, fact, new_person, person, web_identity
from runtime.store.protocol import Known, Unmoved
from runtime.store.protocol.people import Ending
from runtime.store.schema import identities, invitations, people
from runtime.store.sql.driver import Op, micros

DIGITS: Final = 11
"""Of the seconds at which a link for one use ends: the year 5138."""
T = TypeVar("T")

PERSON_COLUMNS = (people.c.id, people.c.name, people.c.role, people.c.link_hash)
ALL_PEOPLE = select(*PERSON_COLUMNS).order_by(people.c.name)
PERSON_NAMED = select(*PERSON_COLUMNS).where(people.c.name == bindparam("n"))
OWNERS_NOW = select(people.c.id).where(people.c.role == int(Role.OWNER)).order_by(people.c.id)
# Locked together, so that two nodes never take the last two owners away at the same moment.
OWNERS = OWNERS_NOW.with_for_update()
LINKED = select(*PERSON_COLUMNS).where(people.c.link_hash == bindparam("h"))
TAKEN = select(identities.c.identity).where(identities.c.identity == bindparam("i"))
SET_ROLE = update(people).where(people.c.name == bindparam("n")).values(role=bindparam("new_role"))
REDEEM = (
    update(people)
    .where(people.c.link_hash == bindparam("old_hash"))
    .values(link_hash=bindparam("new_hash"))
    .returning(people.c.id, people.c.name, people.c.role)
)
END_INVITATIONS_OF = (
    update(invitations)
    .where(invitations.c.made_by == bindparam("by"), invitations.c.ended_at.is_(None))
    .values(ending=Ending.REVOKED.value, ended_at=bindparam("at"))
    .returning(invitations.c.id)
)
ONCE: Final = "once:"
"""Begins the stored hash of a link for one use, so that no cookie can carry such a token."""
SET_LINK = update(people).where(people.c.name == bindparam("n")).values(link_hash=bindparam("new_hash"))


def everyone() -> Op[list[Known]]:
    rows = yield ALL_PEOPLE, {}
    known = []
    for row in rows:
        known.append((yield from _known(row)))  # noqa: PERF401 - a comprehension cannot yield
    return known


def _known(row: tuple[Any, ...]) -> Op[Known]:
    who = person(row[:3])
    rows = yield NAMES, {"person_id": who.id}
    return Known(who, tuple(sorted(Identity(r[0]) for r in rows)), row[3] is not None and not row[3].startswith(ONCE))


def named(name: str) -> Op[Known | None]:
    rows = yield PERSON_NAMED, {"n": name}
    return (yield from _known(rows[0])) if rows else None


def add_person(
    name: str, role: Role, given: Sequence[Identity], actor: str, now: datetime, new_id: NewId
) -> Op[Person | None]:
    if (yield PERSON_NAMED, {"n": name}):
        return None
    for identity in given:
        if (yield TAKEN, {"i": identity}):
            return None
    who = yield from new_person(name, role, now, new_id)
    for identity in [*given, web_identity(who)]:
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id, "room": None}
    yield from fact(now, "person added", actor, name, role.word)
    return who


def set_role(name: str, role: Role, actor: str, now: datetime) -> Op[Person | Unmoved]:
    rows = yield PERSON_NAMED, {"n": name}
    if not rows:
        return Unmoved.NOBODY
    who = person(rows[0][:3])
    if role is not Role.OWNER and (yield from is_the_last_owner(who)):
        return Unmoved.LAST_OWNER
    yield SET_ROLE, {"n": name, "new_role": int(role)}
    if who.role is Role.OWNER and role is not Role.OWNER:
        yield from end_invitations(name, actor, now)
    yield from fact(now, "role set", actor, name, role.word)
    return Person(who.id, who.name, role)


def end_invitations(name: str, actor: str, now: datetime) -> Op[None]:
    """Revoke what somebody has invited with, as they lose the right to: else they would come back by a link of their own."""
    for (which,) in (yield END_INVITATIONS_OF, {"by": name, "at": micros(now)}):
        yield from fact(now, "invitation revoked", actor, which, f"{name} may invite nobody any more")


def is_the_last_owner(who: Person, *, looks: bool = False) -> Op[bool]:
    """True if nobody would be left to manage people; `looks`: for a read, which locks nobody."""
    owners = yield (OWNERS_NOW if looks else OWNERS), {}
    return [row[0] for row in owners] == [who.id]


def set_link(name: str, link_hash: str, actor: str, now: datetime) -> Op[Person | None]:
    yield SET_LINK, {"n": name, "new_hash": link_hash}
    rows = yield PERSON_NAMED, {"n": name}
    if not rows:
        return None
    yield from fact(now, "link made", actor, name)
    return person(rows[0][:3])


def redeem(token: str, link_hash: str, now: datetime) -> Op[Person | None]:
    """Use a link for one use up: another one has its place. None where it isn't one, or it is too old."""
    if is_late(token, now):
        return None
    rows = yield REDEEM, {"old_hash": ONCE + digest(token), "new_hash": link_hash}
    if not rows:
        return None
    who = person(rows[0])
    yield from fact(now, "link used", web_identity(who), who.name)
    return who


def is_late(token: str, now: datetime) -> bool:
    """True if a link for one use is too old. Its end is a part of the token, which its hash covers."""
    until = token.rpartition(".")[2]
    return not (until.isascii() and until.isdecimal() and len(until) <= DIGITS and now.timestamp() <= int(until))


def person_of(link_hash: str) -> Op[tuple[Person, Identity] | None]:
    rows = yield LINKED, {"h": link_hash}
    if not rows:
        return None
    who = person(rows[0][:3])
    return who, web_identity(who)
