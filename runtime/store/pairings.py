"""Pairing in the store: a code that an unknown person was sent, and its entering. Only the hash of a code is kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import bindparam, delete, select

from runtime import pairing
from runtime.contract import Address, Content, DeliveryId, Identity, Kind, NewId, Person, Role, Signal
from runtime.markup.glyphs import seen
from runtime.store.base import Base
from runtime.store.common import ADD_DELIVERY, ADD_IDENTITY, delivery_row, digest, fact, new_person, person, whom
from runtime.store.driver import Op, micros, moment
from runtime.store.people import NAMED, SET_ROLE, web_identity
from runtime.store.protocol import NewDelivery, Paired, Pairing, Unpaired
from runtime.store.schema import pairing_tries, pairings
from runtime.store.upsert import insert

COLUMNS = (
    pairings.c.identity,
    pairings.c.name,
    pairings.c.address,
    pairings.c.created_at,
    pairings.c.expires_at,
)
CURRENT = select(*COLUMNS).where(pairings.c.expires_at > bindparam("now"))
PENDING = CURRENT.order_by(pairings.c.created_at, pairings.c.identity)
OF_CODE = CURRENT.where(pairings.c.code_hash == bindparam("h")).with_for_update()
DROP_OLD = delete(pairings).where(pairings.c.expires_at <= bindparam("now"))
DROP = delete(pairings).where(pairings.c.identity == bindparam("i"))
INVITE = (
    insert(pairings)
    .values({c.name: bindparam(c.name) for c in pairings.columns})
    .on_conflict_do_nothing()
    .returning(pairings.c.identity)
)
TRIES = select(pairing_tries.c.tries, pairing_tries.c.since).where(pairing_tries.c.actor == bindparam("a"))
FORGIVE = delete(pairing_tries).where(pairing_tries.c.actor == bindparam("a"))
MISSED = (
    insert(pairing_tries)
    .values(actor=bindparam("a"), tries=1, since=bindparam("now"))
    .on_conflict_do_update(
        index_elements=["actor"], set_={"tries": pairing_tries.c.tries + 1, "since": bindparam("now")}
    )
    .returning(pairing_tries.c.tries)
)


# ------------------------------------------------------------------------------------------------------------ the code


def invite(signal: Signal, now: datetime) -> Op[str | None]:
    """A fresh code for an unknown person; None while one is out, or too many are of this account."""
    yield DROP_OLD, {"now": micros(now)}
    waiting = yield PENDING, {"now": micros(now)}
    if sum(_same_account(Address.parse(row[2]), signal.address) for row in waiting) >= pairing.PENDING:
        return None
    code = pairing.fresh_code()
    invited = yield (
        INVITE,
        {
            "identity": signal.actor,
            "name": signal.actor_name,
            "address": str(signal.address),
            "code_hash": digest(code),
            "created_at": micros(now),
            "expires_at": micros(now + pairing.LIFE),
        },
    )
    return code if invited else None


def _same_account(one: Address, other: Address) -> bool:
    return (one.channel, one.account) == (other.channel, other.account)


# --------------------------------------------------------------------------------------------------------- its entering


def pair(
    code: str, name: str, role: Role | None, by: Person, actor: str, now: datetime, new_id: NewId
) -> Op[Paired | Unpaired]:
    """Whoever was sent `code` is known from now on, and told so in their room."""
    if wait := (yield from _locked(by, now)):
        return wait
    rows = yield OF_CODE, {"now": micros(now), "h": digest(pairing.tidy(code))}
    if not rows:
        return (yield from _missed(by, actor, now))
    identity, own_name, address = rows[0][:3]
    who = yield from _known(Identity(identity), name.strip(), own_name, role, now, new_id)
    yield DROP, {"i": identity}
    yield FORGIVE, {"a": by.id}
    yield from fact(now, "paired", actor, identity, f"{who.name}, {who.role.word}")
    there = Address.parse(address)
    told = NewDelivery(DeliveryId(new_id()), f"paired:{new_id()}", 0, Kind.FINAL, there, Content(pairing.welcome(who)))
    yield ADD_DELIVERY, delivery_row(told, now)
    return Paired(who, Identity(identity), there)


def _locked(by: Person, now: datetime) -> Op[Unpaired | None]:
    rows = yield TRIES, {"a": by.id}
    if not rows:
        return None
    tries, since = rows[0]
    left = moment(since) + pairing.LOCKED - now
    if left.total_seconds() <= 0:
        yield FORGIVE, {"a": by.id}
    elif tries >= pairing.TRIES:
        return Unpaired(pairing.locked(left), locked=True)
    return None


def _missed(by: Person, actor: str, now: datetime) -> Op[Unpaired]:
    rows = yield MISSED, {"a": by.id, "now": micros(now)}
    left = pairing.TRIES - rows[0][0]
    yield from fact(now, "pairing refused", actor, "", f"a wrong code; {max(left, 0)} tries left")
    return Unpaired(pairing.wrong(left)) if left > 0 else Unpaired(pairing.locked(pairing.LOCKED), locked=True)


def _known(identity: Identity, name: str, own_name: str, role: Role | None, now: datetime, new_id: NewId) -> Op[Person]:
    """The person that this identity is from now on. Only a name that the owner wrote names one who is there already:
    what strangers call themselves may be anybody's name."""
    if already := (yield from whom(identity)):
        return already
    rows = (yield NAMED, {"n": name}) if name else []
    if rows:
        who = yield from _promoted(person(rows[0][:3]), role)
    else:
        free = name or (yield from _free(seen(own_name) or identity))
        who = yield from new_person(free, Role.USER if role is None else role, now, new_id)
        yield ADD_IDENTITY, {"identity": web_identity(who), "person_id": who.id}
    yield ADD_IDENTITY, {"identity": identity, "person_id": who.id}
    return who


def _promoted(who: Person, role: Role | None) -> Op[Person]:
    if role is None or role is who.role:
        return who
    yield SET_ROLE, {"n": who.name, "new_role": int(role)}
    return Person(who.id, who.name, role)


def _free(name: str) -> Op[str]:
    """`name`, with a number where somebody has it."""
    for number in count(1):
        free = name if number == 1 else f"{name} {number}"
        if not (yield NAMED, {"n": free}):
            return free
    raise AssertionError("numbers do not end")


def pending(now: datetime) -> Op[list[Pairing]]:
    rows = yield PENDING, {"now": micros(now)}
    return [_pairing(row) for row in rows]


def _pairing(row: Sequence[Any]) -> Pairing:
    identity, name, address, created, expires = row
    return Pairing(Identity(identity), name, Address.parse(address), moment(created), moment(expires))


class PairingStore(Base):
    """Implements the pairing of `protocol.People`."""

    async def pairings(self) -> list[Pairing]:
        now = self.now()
        return await self._driver.read(lambda: pending(now))

    async def pair(
        self, code: str, name: str, role: Role | None, by: Person, *, actor: str | None = None
    ) -> Paired | Unpaired:
        now = self.now()
        return await self._driver.write(lambda: pair(code, name, role, by, actor or by.name, now, self._new_id))
