"""People who were removed before they are forgotten: their row is gone, what they said and decided stayed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Select, Text, bindparam, exists, func, or_, select, union

from runtime.contract import Address, Person, PersonId, Role
from runtime.store.intake.listing import OTHERS_SPOKE
from runtime.store.schema import approvals, audit, forgettings, people, runs, schedules, signals
from runtime.store.sql.driver import Op

DIGEST_CHARS: Final = 32
DIGESTS = select(forgettings.c.digest)
REMOVED_BY_NAME = (
    select(audit.c.entry).where(audit.c.kind == "person removed", audit.c.subject == bindparam("name")).limit(1)
)


def _named_in(name: Column[Any], who: Column[Any]) -> Select[tuple[str]]:
    """People of whom a row tells by name, and who are not known any more."""
    return select(who).where(name == bindparam("name"), who.is_not(None), ~exists().where(people.c.id == who))


KNOWN_BY_NAME = union(
    _named_in(signals.c.actor_name, signals.c.person_id),
    _named_in(approvals.c.decided_name, approvals.c.decided_by),
    _named_in(approvals.c.requester_name, approvals.c.requester),
)

SPOKE_IN_ROOM = select(signals.c.address).where(signals.c.actor == bindparam("identity")).distinct()


def _is_below(address: Column[Any]) -> ColumnElement[bool]:
    room: ColumnElement[str] = bindparam("room", type_=Text)
    return or_(address == room, func.substr(address, 1, func.length(room) + 1) == room + "/")


OTHERS_USE = select(
    or_(
        exists().where(_is_below(runs.c.address), runs.c.requester.is_distinct_from(bindparam("who"))),
        exists().where(
            or_(_is_below(schedules.c.home), schedules.c.addresses.contains(bindparam("room"))),
            schedules.c.owner.is_distinct_from(bindparam("who")),
        ),
    )
)


def digest_of(person_id: str) -> str:
    """Known by this afterwards: ids are of 80 bits of chance, so that nobody finds one by trying."""
    return hashlib.sha256(f"forgotten person {person_id}".encode()).hexdigest()[:DIGEST_CHARS]


def removed(name: str) -> Op[Person | None]:
    """Somebody who was removed by this name, known from what they said and decided; None where nobody was.

    Of several with one name one: whoever is forgotten is found no more, so that a repeat finds the next.
    """
    if (yield REMOVED_BY_NAME, {"name": name}):
        gone = {row[0] for row in (yield DIGESTS, {})}
        for (who,) in (yield KNOWN_BY_NAME, {"name": name}):
            if digest_of(who) not in gone:
                return Person(PersonId(who), name, Role.VIEWER)
    return None


def sole_rooms(who: PersonId, ids: Collection[str]) -> Op[set[str]]:
    """Rooms in which nobody else spoke, had work done or planned any: private ones, of which nothing else tells any more."""
    found = set()
    for identity in sorted(one for one in ids if one != who):
        for room in {str(Address.parse(row[0]).whole_room) for row in (yield SPOKE_IN_ROOM, {"identity": identity})}:
            others = (yield OTHERS_SPOKE, {"room": room, "identity": identity})[0][0]
            if not others and not (yield OTHERS_USE, {"room": room, "who": who})[0][0]:
                found.add(room)
    return found
