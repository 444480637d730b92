"""Pairing in the store: a code that an unknown person was sent, and its entering. Only the hash of a code is kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select

from runtime.chat import pairing
from runtime.contract import Address, Identity, NewId, Person, Role, Signal
from runtime.domain.ids import digest
from runtime.store.approvals.newcomers import DROP_CODE, known_as, last_asked, let_in_otherwise, refuse, told
from runtime.store.common import add, fact, same_account
from runtime.store.protocol import Paired, Pairing, Unpaired
from runtime.store.schema import pairing_tries, pairings
from runtime.store.sql.driver import Op, micros, moment
from runtime.store.sql.upsert import insert
from runtime.text.words import said_at

PAIRING_COLUMNS = (
    pairings.c.identity,
    pairings.c.name,
    pairings.c.address,
    pairings.c.created_at,
    pairings.c.expires_at,
)
CURRENT = select(*PAIRING_COLUMNS).where(pairings.c.expires_at > bindparam("now"))
PENDING_PAIRINGS = CURRENT.order_by(pairings.c.created_at, pairings.c.identity)
OF_CODE = CURRENT.where(pairings.c.code_hash == bindparam("h"))
LOCKED_CODE = OF_CODE.with_for_update()
LOCKED_WAITING = CURRENT.where(pairings.c.identity == bindparam("i")).with_for_update()
DROP_OLD = delete(pairings).where(pairings.c.expires_at <= bindparam("now"))
INVITE = add(pairings).on_conflict_do_nothing().returning(pairings.c.identity)
TRIES_OF = select(pairing_tries.c.tries, pairing_tries.c.since).where(pairing_tries.c.actor == bindparam("a"))
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
    """A fresh code for an unknown person; None while one of theirs is out, "" while too many of this account are fresh."""
    yield DROP_OLD, {"now": micros(now)}
    waiting = yield PENDING_PAIRINGS, {"now": micros(now)}
    since = micros(now - pairing.APART)
    here = [row for row in waiting if same_account(Address.parse(row[2]), signal.address)]
    if any(row[0] == signal.actor for row in here):
        return None
    if sum(row[3] > since for row in here) >= pairing.FRESH_CODES_MAX:
        return ""
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


# --------------------------------------------------------------------------------------------------------- its entering


def pair(
    code: str,
    name: str,
    role: Role | None,
    by: Person,
    actor: str,
    given: Collection[str],
    now: datetime,
    new_id: NewId,
) -> Op[Paired | Unpaired]:
    """Make whoever was sent `code` known from now on, and tell them so in their room."""
    if wait := (yield from _locked(by, now)):
        return wait
    asked = {"now": micros(now), "h": digest(pairing.tidy(code))}
    for named, *_ in (yield OF_CODE, asked):
        yield from last_asked(Identity(named))  # the card is locked before the code, as by a press of its button
    rows = yield LOCKED_CODE, asked
    if not rows:
        return (yield from _missed(by, actor, now))
    yield FORGIVE, {"a": by.id}
    return (yield from _paired(rows[0], name, role, by, actor, given, now, new_id))


def let_in(
    identity: Identity,
    name: str,
    role: Role | None,
    by: Person,
    actor: str,
    given: Collection[str],
    now: datetime,
    new_id: NewId,
) -> Op[Paired | None]:
    """As `pair`, by whom an owner sees in the list: no code is entered."""
    yield from last_asked(identity)  # the card is locked before the code, as everywhere
    rows = yield LOCKED_WAITING, {"now": micros(now), "i": identity}
    return (yield from _paired(rows[0], name, role, by, actor, given, now, new_id)) if rows else None


def turn_away(
    identity: Identity, by: Person, actor: str, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...] | None]:
    """Refuse somebody who waits, as *No* on their card does."""
    yield from last_asked(identity)
    rows = yield LOCKED_WAITING, {"now": micros(now), "i": identity}
    if not rows:
        return None
    _, own_name, address = rows[0][:3]
    return (yield from refuse(identity, own_name, Address.parse(address), by, actor, now, new_id))


def _paired(
    row: Sequence[Any],
    name: str,
    role: Role | None,
    by: Person,
    actor: str,
    given: Collection[str],
    now: datetime,
    new_id: NewId,
) -> Op[Paired]:
    identity, own_name, address = row[:3]
    who = yield from known_as(Identity(identity), name.strip(), own_name, role, given, now, new_id)
    yield DROP_CODE, {"i": identity}
    yield from fact(now, "paired", actor, identity, f"{who.name}, {who.role.word}")
    there = Address.parse(address)
    with said_at(there):  # whoever enters the code may read another language, and stand elsewhere
        welcome = pairing.welcome(who)
    yield from told(welcome, there, now, new_id)
    cards = yield from let_in_otherwise(Identity(identity), who, by, now, new_id)
    return Paired(who, Identity(identity), there, cards)


def _locked(by: Person, now: datetime) -> Op[Unpaired | None]:
    rows = yield TRIES_OF, {"a": by.id}
    if not rows:
        return None
    tries, since = rows[0]
    left = moment(since) + pairing.LOCKED_FOR - now
    if left.total_seconds() <= 0:
        yield FORGIVE, {"a": by.id}
    elif tries >= pairing.WRONG_CODES:
        return Unpaired(pairing.locked(left), locked=True)
    return None


def _missed(by: Person, actor: str, now: datetime) -> Op[Unpaired]:
    rows = yield MISSED, {"a": by.id, "now": micros(now)}
    left = pairing.WRONG_CODES - rows[0][0]
    yield from fact(now, "pairing refused", actor, "", f"a wrong code; {max(left, 0)} tries left")
    return Unpaired(pairing.wrong(left)) if left > 0 else Unpaired(pairing.locked(pairing.LOCKED_FOR), locked=True)


def pending(now: datetime) -> Op[list[Pairing]]:
    rows = yield PENDING_PAIRINGS, {"now": micros(now)}
    return [_pairing(row) for row in rows]


def _pairing(row: Sequence[Any]) -> Pairing:
    identity, name, address, created, expires = row
    return Pairing(Identity(identity), name, Address.parse(address), moment(created), moment(expires))
