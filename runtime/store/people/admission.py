"""Admission of somebody whom a provider names: found, taken for somebody known, or made, with the role of their groups."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from runtime.contract import NewId, Person, Role
from runtime.store.approvals.newcomers import free_name, own
from runtime.store.common import ADD_IDENTITY, fact, names_of, new_person, web_identity, whom
from runtime.store.people.people import SET_ROLE, end_invitations, is_the_last_owner
from runtime.store.protocol.people import Admission, Unadmitted
from runtime.store.sql.driver import Op

BY_PROVIDER: Final = "sign-in"
"""Actor of what a provider's word changes, for the audit."""


def admit(asked: Admission, now: datetime, new_id: NewId) -> Op[Person | Unadmitted]:
    """The person as whom somebody is let in, with the role that they have there."""
    who = yield from whom(asked.identity)
    if who is not None:
        if (yield from _is_blocked(who, asked)):
            return Unadmitted.BLOCKED
        return (yield from _with_role(who, asked, now))
    if asked.identity in asked.blocked:
        return Unadmitted.BLOCKED
    if asked.role is None:
        return Unadmitted.NO_ROLE
    by_email = (yield from _by_email(asked)) if asked.email else None
    if not asked.is_fresh and (by_email or asked.create):
        return Unadmitted.STALE  # whoever was removed doesn't come back by what was so before
    if by_email is not None:
        return (yield from _taken_for(by_email, asked, now))
    if not asked.create:
        return Unadmitted.UNKNOWN
    return (yield from _made(asked, asked.role, now, new_id))


def _is_blocked(who: Person, asked: Admission) -> Op[bool]:
    """True for somebody whom the settings block, by their name or by any of their identities."""
    if not asked.blocked:
        return False
    names = yield from names_of(who)
    return bool({asked.identity, who.name, *names} & {*asked.blocked})


def _by_email(asked: Admission) -> Op[Person | None]:
    """The person with this address. Never an owner, unless groups make owners: an address is easier to get than a key."""
    who = yield from whom(asked.email)
    return None if who is None or (who.role is Role.OWNER and not asked.owners) else who


def _taken_for(who: Person, asked: Admission, now: datetime) -> Op[Person | Unadmitted]:
    if (yield from _is_blocked(who, asked)):
        return Unadmitted.BLOCKED
    yield ADD_IDENTITY, {"identity": asked.identity, "person_id": who.id, "room": None}
    yield from fact(now, "identity added", BY_PROVIDER, who.name, f"{asked.identity}, by {asked.email}")
    return (yield from _with_role(who, asked, now))


def _made(asked: Admission, role: Role, now: datetime, new_id: NewId) -> Op[Person]:
    name = yield from free_name(own(asked.name) or asked.identity, asked.given)
    who = yield from new_person(name, role, now, new_id)
    for identity in (asked.identity, web_identity(who)):
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id, "room": None}
    yield from fact(now, "person added", BY_PROVIDER, who.name, f"{role.word}, as {asked.identity}")
    return who


def _with_role(who: Person, asked: Admission, now: datetime) -> Op[Person | Unadmitted]:
    """Somebody known, with the role of their groups. Owners stay owners, unless groups make them."""
    if who.role is Role.OWNER and not asked.owners:
        return Unadmitted.NO_ROLE if asked.role is None else who
    role = Role.VIEWER if asked.role is None else asked.role
    sets = asked.is_fresh and asked.sets
    if sets and role is not who.role and not (yield from _is_needed(who)):
        yield SET_ROLE, {"n": who.name, "new_role": int(role)}
        if who.role is Role.OWNER:
            yield from end_invitations(who.name, BY_PROVIDER, now)
        yield from fact(now, "role set", BY_PROVIDER, who.name, role.word)
    if asked.role is None:
        return Unadmitted.NO_ROLE
    return Person(who.id, who.name, role if sets else min(role, who.role))


def _is_needed(who: Person) -> Op[bool]:
    """True for the last owner, who stays one in the store: somebody has to manage people."""
    return who.role is Role.OWNER and (yield from is_the_last_owner(who))
