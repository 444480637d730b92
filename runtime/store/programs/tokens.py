"""Tokens are made, looked up and revoked, each with its row in the audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, or_, select, update

from runtime.contract import NewId, Person, Role
from runtime.domain.ids import digest
from runtime.domain.programs.token import ProgramToken, program_identity
from runtime.store.common import ADD_IDENTITY, WHO, add, fact, names_of, new_person, person, web_identity
from runtime.store.people.people import PERSON_NAMED, SET_ROLE
from runtime.store.schema import identities, people, tokens
from runtime.store.sql.driver import Op, maybe_moment, micros

TOKEN_COLUMNS: Final = (
    tokens.c.name,
    tokens.c.role,
    tokens.c.agents,
    tokens.c.rooms,
    tokens.c.per_minute,
    tokens.c.until,
    tokens.c.made_by,
    tokens.c.made_at,
    tokens.c.used_at,
    tokens.c.revoked_at,
)
EVERY_TOKEN = select(*TOKEN_COLUMNS).order_by(tokens.c.name)
TOKEN_NAMED = select(*TOKEN_COLUMNS).where(tokens.c.name == bindparam("n"))
_holders = (
    select(*TOKEN_COLUMNS, people.c.id, people.c.name, people.c.role)
    .outerjoin(identities, identities.c.identity == "api:" + tokens.c.name)
    .outerjoin(people, people.c.id == identities.c.person_id)
)
TOKEN_OF = _holders.where(tokens.c.hash == bindparam("h"))
HOLDER_NAMED = _holders.where(tokens.c.name == bindparam("n"))
_NEW_TOKEN = add(tokens)
# Of two at once the second one finds the first: it waits for its commit, and is told.
PUT_TOKEN = _NEW_TOKEN.on_conflict_do_update(
    index_elements=[tokens.c.name],
    set_={column.name: _NEW_TOKEN.excluded[column.name] for column in tokens.columns if column.name != "name"},
    where=or_(tokens.c.revoked_at.is_not(None), tokens.c.until <= bindparam("now")),
).returning(tokens.c.name)
NOTE_USE = (
    update(tokens)
    .where(tokens.c.name == bindparam("n"), or_(tokens.c.used_at.is_(None), tokens.c.used_at < bindparam("before")))
    .values(used_at=bindparam("at"))
)
REVOKE_TOKEN = (
    update(tokens)
    .where(tokens.c.name == bindparam("n"), tokens.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("at"))
    .returning(tokens.c.name)
)


def every_token() -> Op[list[ProgramToken]]:
    rows = yield EVERY_TOKEN, {}
    return [_token(row) for row in rows]


def token_named(name: str) -> Op[ProgramToken | None]:
    rows = yield TOKEN_NAMED, {"n": name}
    return _token(rows[0]) if rows else None


def token_of(hashed: str) -> Op[tuple[ProgramToken, Person | None] | None]:
    """The token with this hash, and the person as which its program is known; None for one that was removed."""
    return _holder((yield TOKEN_OF, {"h": hashed}))


def holder_named(name: str) -> Op[tuple[ProgramToken, Person | None] | None]:
    return _holder((yield HOLDER_NAMED, {"n": name}))


def _holder(rows: Sequence[tuple[Any, ...]]) -> tuple[ProgramToken, Person | None] | None:
    if not rows:
        return None
    own, who = rows[0][: len(TOKEN_COLUMNS)], rows[0][len(TOKEN_COLUMNS) :]
    return _token(own), person(who) if who[0] is not None else None


def make_token(new: ProgramToken, secret: str, now: datetime, new_id: NewId) -> Op[bool]:
    """Keep a new token; false where a valid one has its name. Its program becomes known, or has its new role."""
    row = {
        "name": new.name,
        "hash": digest(secret),
        "role": int(new.role),
        "agents": json.dumps(new.agents),
        "rooms": json.dumps(new.rooms),
        "per_minute": new.per_minute,
        "until": None if new.until is None else micros(new.until),
        "made_by": new.made_by,
        "made_at": micros(now),
        "used_at": None,
        "revoked_at": None,
    }
    if not (yield PUT_TOKEN, row | {"now": micros(now)}):
        return False
    yield from _known(new, now, new_id)
    yield from fact(now, "token made", new.made_by, new.name, new.role.word)
    return True


def _known(new: ProgramToken, now: datetime, new_id: NewId) -> Op[None]:
    rows = yield WHO, {"identity": new.identity}
    if rows:
        who = person(rows[0])
        if set((yield from names_of(who))) <= {who.id, new.identity, web_identity(who)}:  # else merged with a person
            yield SET_ROLE, {"n": who.name, "new_role": int(new.role)}
        return
    who = yield from new_person((yield from _free_name(new.name)), new.role, now, new_id)
    for identity in (new.identity, web_identity(who)):
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id, "room": None}
    yield from fact(now, "person added", new.made_by, who.name, f"{new.role.word}, by a token")


def _free_name(name: str) -> Op[str]:
    """The program's own, or with its channel where a person is called so."""
    rows = yield PERSON_NAMED, {"n": name}
    return str(program_identity(name)) if rows else name


def note_use(name: str, now: datetime, before: datetime) -> Op[None]:
    """Note when it was used last, unless that was after `before`."""
    yield NOTE_USE, {"n": name, "at": micros(now), "before": micros(before)}


def revoke_token(name: str, by: str, now: datetime) -> Op[bool]:
    if not (yield REVOKE_TOKEN, {"n": name, "at": micros(now)}):
        return False
    yield from fact(now, "token revoked", by, name)
    return True


def _token(row: Sequence[Any]) -> ProgramToken:
    name, role, agents, rooms, per_minute, until, made_by, made_at, used_at, revoked_at = row
    return ProgramToken(
        name=name,
        role=Role(role),
        agents=tuple(json.loads(agents)),
        rooms=tuple(json.loads(rooms)),
        per_minute=per_minute,
        until=maybe_moment(until),
        made_by=made_by,
        made_at=maybe_moment(made_at),
        used_at=maybe_moment(used_at),
        revoked_at=maybe_moment(revoked_at),
    )
