"""People, their identities and their web links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from runtime.contract import Identity, NewId, Person, Role
from runtime.store.base import Base
from runtime.store.common import ADD_IDENTITY, NAMES, digest, fact, new_person, person, whom
from runtime.store.driver import Driver, Op
from runtime.store.protocol import Known
from runtime.store.schema import identities, people

REMEMBERED: Final = timedelta(seconds=1)
"""How long another node's change of a link may go unnoticed by a page that is open here."""

COLUMNS = (people.c.id, people.c.name, people.c.role, people.c.link_hash)
ALL = select(*COLUMNS).order_by(people.c.name)
NAMED = select(*COLUMNS).where(people.c.name == bindparam("n"))
LINKED = select(*COLUMNS).where(people.c.link_hash == bindparam("h"))
TAKEN = select(identities.c.identity).where(identities.c.identity == bindparam("i"))
SET_ROLE = update(people).where(people.c.name == bindparam("n")).values(role=bindparam("new_role"))
SET_LINK = update(people).where(people.c.name == bindparam("n")).values(link_hash=bindparam("new_hash"))


def web_identity(who: Person) -> Identity:
    """Under which a person speaks on the web page: there the person is the account."""
    return Identity(f"web:{who.id}")


def everyone() -> Op[list[Known]]:
    rows = yield ALL, {}
    known = []
    for row in rows:
        known.append((yield from _known(row)))  # noqa: PERF401 - a comprehension cannot yield
    return known


def _known(row: tuple[Any, ...]) -> Op[Known]:
    who = person(row[:3])
    rows = yield NAMES, {"person_id": who.id}
    return Known(who, tuple(sorted(Identity(r[0]) for r in rows)), row[3] is not None)


def named(name: str) -> Op[Known | None]:
    rows = yield NAMED, {"n": name}
    return (yield from _known(rows[0])) if rows else None


def add_person(
    name: str, role: Role, given: Sequence[Identity], actor: str, now: datetime, new_id: NewId
) -> Op[Person | None]:
    if (yield NAMED, {"n": name}):
        return None
    for identity in given:
        if (yield TAKEN, {"i": identity}):
            return None
    who = yield from new_person(name, role, now, new_id)
    for identity in [*given, web_identity(who)]:
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id}
    yield from fact(now, "person added", actor, name, role.word)
    return who


def set_role(name: str, role: Role, actor: str, now: datetime) -> Op[Person | None]:
    yield SET_ROLE, {"n": name, "new_role": int(role)}
    rows = yield NAMED, {"n": name}
    if not rows:
        return None
    yield from fact(now, "role set", actor, name, role.word)
    return person(rows[0][:3])


def set_link(name: str, token: str, actor: str, now: datetime) -> Op[Person | None]:
    yield SET_LINK, {"n": name, "new_hash": digest(token)}
    rows = yield NAMED, {"n": name}
    if not rows:
        return None
    yield from fact(now, "link made", actor, name)
    return person(rows[0][:3])


def person_of(link_hash: str) -> Op[tuple[Person, Identity] | None]:
    rows = yield LINKED, {"h": link_hash}
    if not rows:
        return None
    who = person(rows[0][:3])
    return who, web_identity(who)


class PeopleStore(Base):
    """Implements `protocol.People`.

    Whom a link belongs to is asked with every request of a page: it is kept for a second, and forgotten at once when
    this process changes a person. What they do is judged by their role as stored, in the transaction that takes it in.
    """

    def __init__(self, driver: Driver, new_id: NewId) -> None:
        super().__init__(driver, new_id)
        self._seen: dict[str, tuple[float, tuple[Person, Identity]]] = {}

    async def people(self) -> list[Known]:
        return await self._driver.read(everyone)

    async def person_named(self, name: str) -> Known | None:
        return await self._driver.read(lambda: named(name))

    async def identified(self, identity: Identity) -> Person | None:
        return await self._driver.read(lambda: whom(identity))

    async def add_person(self, name: str, role: Role, identities: Sequence[Identity], *, actor: str) -> Person | None:
        now = self.now()
        return await self._driver.write(lambda: add_person(name, role, identities, actor, now, self._new_id))

    async def set_role(self, name: str, role: Role, *, actor: str) -> Person | None:
        now = self.now()
        try:
            return await self._driver.write(lambda: set_role(name, role, actor, now))
        finally:
            self._seen.clear()

    async def set_link(self, name: str, token: str, *, actor: str) -> Person | None:
        now = self.now()
        try:
            return await self._driver.write(lambda: set_link(name, token, actor, now))
        finally:
            self._seen.clear()

    async def person_of(self, token: str) -> tuple[Person, Identity] | None:
        at, name = monotonic(), digest(token)
        seen = self._seen.get(name)
        if seen and at - seen[0] < REMEMBERED.total_seconds():
            return seen[1]
        found = await self._driver.read(lambda: person_of(name))
        if found:
            self._seen[name] = (at, found)
        return found
