"""Sessions of people who signed in at a provider: kept beside other sign-ins, by the hash of what the browser holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, select

from runtime.contract import Identity, Person
from runtime.store.common import fact, person, web_identity
from runtime.store.logins.rows import KEEP_LOGIN, KEPT_COLUMNS, SESSION_LOGIN, NewGrant
from runtime.store.protocol.people import BrowserSession
from runtime.store.schema import identities, logins, people
from runtime.store.sql.driver import Op, micros, moment

SESSION_LIFE: Final = timedelta(days=30)
"""Time after which a browser has to sign in again."""

SESSION = (
    select(logins.c.signed_in_by, logins.c.signed_in_at, people.c.id, people.c.name, people.c.role)
    .outerjoin(identities, identities.c.identity == logins.c.signed_in_by)
    .outerjoin(people, people.c.id == identities.c.person_id)
    .where(logins.c.name == bindparam("n"))
)
IS_SESSION = logins.c.name.startswith(SESSION_LOGIN, autoescape=True)
DROP_SESSION = delete(logins).where(logins.c.name == bindparam("n"), IS_SESSION).returning(logins.c.signed_in_by)
DROP_OLD_SESSIONS = delete(logins).where(IS_SESSION, logins.c.signed_in_at < bindparam("before"))
DROP_SESSIONS_OF = delete(logins).where(
    IS_SESSION,
    logins.c.signed_in_by.in_(select(identities.c.identity).where(identities.c.person_id == bindparam("who"))),
)

SESSION_ID_CHARS: Final = 12
"""Of the hash of a session's token: as many as tell the sessions of one person apart."""
SESSIONS_OF = (
    select(logins.c.name, logins.c.issuer, logins.c.signed_in_at)
    .join(identities, identities.c.identity == logins.c.signed_in_by)
    .join(people, people.c.id == identities.c.person_id)
    .where(IS_SESSION, people.c.name == bindparam("n"), logins.c.signed_in_at >= bindparam("since"))
    .order_by(logins.c.signed_in_at.desc(), logins.c.name)
)


def session_name(hashed: str) -> str:
    return f"{SESSION_LOGIN}{hashed}"


def keep_session(name: str, grant: NewGrant, issuer: str, of: Identity, who: Person, now: datetime) -> Op[None]:
    """A browser signed in. Those whose time is over go with it."""
    yield DROP_OLD_SESSIONS, {"before": micros(now - SESSION_LIFE)}
    empty: dict[str, Any] = dict.fromkeys(column.name for column in KEPT_COLUMNS)
    row = {
        **empty,
        **dict.fromkeys(("claim", "trouble"), ""),
        **dict.fromkeys(("unfinished", "refusals"), 0),
        "name": name,
        "sealed": grant.sealed,
        "version": 1,
        "ends_at": grant.ends_at and micros(grant.ends_at),
        "renews": int(grant.renews),
        "issuer": issuer,
        "signed_in_by": of,
        "signed_in_at": micros(now),
    }
    yield KEEP_LOGIN, row
    yield from fact(now, "link used", of, who.name, f"signed in at {issuer}")


def session(name: str, now: datetime) -> Op[tuple[Identity, Person, Identity] | None]:
    """The identity at the provider, the person it is of, and the one under which they speak; None for an ended session."""
    rows = yield SESSION, {"n": name}
    if not rows or rows[0][2] is None or moment(rows[0][1]) + SESSION_LIFE <= now:
        return None
    who = person(rows[0][2:])
    return Identity(rows[0][0]), who, web_identity(who)


def drop_session(name: str, by: str, why: str, now: datetime) -> Op[bool]:
    rows = yield DROP_SESSION, {"n": name}
    if rows:
        yield from fact(now, "signed out", by or rows[0][0], rows[0][0], why)
    return bool(rows)


def sessions_of(name: str, now: datetime) -> Op[list[BrowserSession]]:
    rows = yield SESSIONS_OF, {"n": name, "since": micros(now - SESSION_LIFE)}
    return [BrowserSession(_id(row[0]), row[1], moment(row[2])) for row in rows]


def end_session(name: str, which: str, actor: str, now: datetime) -> Op[bool]:
    rows = yield SESSIONS_OF, {"n": name, "since": micros(now - SESSION_LIFE)}
    meant = [row[0] for row in rows if _id(row[0]) == which]
    ended = False
    for one in meant:
        ended = bool((yield DROP_SESSION, {"n": one})) or ended
    if ended:
        yield from fact(now, "signed out", actor, name, f"one browser, {which}")
    return ended


def _id(name: str) -> str:
    return name.removeprefix(SESSION_LOGIN)[:SESSION_ID_CHARS]
