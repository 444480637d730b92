"""Sessions of people who signed in at a provider: kept beside other sign-ins, by the hash of what the browser holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, literal_column, select

from runtime.contract import Identity, Person
from runtime.domain.ids import digest
from runtime.store.common import fact, person, web_identity
from runtime.store.logins.rows import KEEP_LOGIN, KEPT_COLUMNS, SESSION_LOGIN, NewGrant
from runtime.store.people.browsers import DROP_BROWSER, SESSION_ID_CHARS, add_browser, browsers_of
from runtime.store.protocol.people import BrowserSession
from runtime.store.schema import browser_sessions, identities, logins, people
from runtime.store.sql.driver import Op, micros, moment

SESSION_LIFE: Final = timedelta(days=30)
"""Time after which a browser has to sign in again."""

_browser = browser_sessions.alias("browser")
SESSION = (
    select(logins.c.signed_in_by, logins.c.signed_in_at, people.c.id, people.c.name, people.c.role, _browser.c.seen_at)
    .select_from(logins)
    .outerjoin(_browser, _browser.c.hash == bindparam("h"))
    .outerjoin(identities, identities.c.identity == logins.c.signed_in_by)
    .outerjoin(people, people.c.id == identities.c.person_id)
    .where(logins.c.name == bindparam("n"))
)
IS_SESSION = logins.c.name.startswith(SESSION_LOGIN, autoescape=True)
DROP_SESSION = delete(logins).where(logins.c.name == bindparam("n"), IS_SESSION).returning(logins.c.signed_in_by)
DROP_OLD_SESSIONS = delete(logins).where(IS_SESSION, logins.c.signed_in_at < bindparam("before"))
DROP_OLD_BROWSERS = delete(browser_sessions).where(
    browser_sessions.c.link == "", browser_sessions.c.made_at < bindparam("before")
)
DROP_BROWSERS_OF = delete(browser_sessions).where(browser_sessions.c.person_id == bindparam("who"))
DROP_SESSIONS_OF = delete(logins).where(
    IS_SESSION,
    logins.c.signed_in_by.in_(select(identities.c.identity).where(identities.c.person_id == bindparam("who"))),
)

SESSIONS_OF = (
    select(logins.c.name, logins.c.issuer, logins.c.signed_in_at, _browser.c.browser, _browser.c.seen_at)
    .select_from(logins)
    .outerjoin(_browser, logins.c.name == literal_column(f"'{SESSION_LOGIN}'").concat(_browser.c.hash))
    .join(identities, identities.c.identity == logins.c.signed_in_by)
    .join(people, people.c.id == identities.c.person_id)
    .where(IS_SESSION, people.c.name == bindparam("n"), logins.c.signed_in_at >= bindparam("since"))
    .order_by(logins.c.signed_in_at.desc(), logins.c.name)
)


def session_name(hashed: str) -> str:
    return f"{SESSION_LOGIN}{hashed}"


def keep_session(
    token: str, grant: NewGrant, issuer: str, of: Identity, who: Person, browser: str, now: datetime
) -> Op[None]:
    """A browser signed in. Those whose time is over go with it."""
    for drop in (DROP_OLD_SESSIONS, DROP_OLD_BROWSERS):
        yield drop, {"before": micros(now - SESSION_LIFE)}
    empty: dict[str, Any] = dict.fromkeys(column.name for column in KEPT_COLUMNS)
    row = {
        **empty,
        **dict.fromkeys(("claim", "trouble"), ""),
        **dict.fromkeys(("unfinished", "refusals"), 0),
        "name": session_name(digest(token)),
        "sealed": grant.sealed,
        "version": 1,
        "ends_at": grant.ends_at and micros(grant.ends_at),
        "renews": int(grant.renews),
        "issuer": issuer,
        "signed_in_by": of,
        "signed_in_at": micros(now),
    }
    yield KEEP_LOGIN, row
    yield from add_browser(token, who.id, "", browser, now)
    yield from fact(now, "link used", of, who.name, f"signed in at {issuer}")


def session(hashed: str, now: datetime) -> Op[tuple[Identity, Person, Identity, datetime | None] | None]:
    """The identity at the provider, the person it is of, the one under which they speak, and when the browser was seen; None for an ended one."""
    rows = yield SESSION, {"n": session_name(hashed), "h": hashed}
    if not rows or rows[0][2] is None or moment(rows[0][1]) + SESSION_LIFE <= now:
        return None
    who, seen = person(rows[0][2:5]), rows[0][5]
    return Identity(rows[0][0]), who, web_identity(who), None if seen is None else moment(seen)


def drop_session(hashed: str, by: str, why: str, now: datetime) -> Op[bool]:
    rows = yield DROP_SESSION, {"n": session_name(hashed)}
    yield DROP_BROWSER, {"h": hashed}
    if rows:
        yield from fact(now, "signed out", by or rows[0][0], rows[0][0], why)
    return bool(rows)


def sessions_of(name: str, now: datetime) -> Op[list[BrowserSession]]:
    """Browsers of somebody, by their link or a provider, those seen last first."""
    rows = yield SESSIONS_OF, {"n": name, "since": micros(now - SESSION_LIFE)}
    at_provider = [_of_provider(row) for row in rows]
    by_link = yield from browsers_of(name, now)
    return sorted([*by_link, *at_provider], key=lambda one: one.seen or one.since, reverse=True)


def _of_provider(row: tuple[Any, ...]) -> BrowserSession:
    hashed = row[0].removeprefix(SESSION_LOGIN)
    seen = None if row[4] is None else moment(row[4])
    return BrowserSession(
        hashed[:SESSION_ID_CHARS], row[1], moment(row[2]), browser=row[3] or "", seen=seen, hash=hashed
    )


def end_session(name: str, which: str, actor: str, now: datetime) -> Op[bool]:
    every = yield from sessions_of(name, now)
    ended = 0
    for one in every:
        if one.id == which:
            ended += yield from _end(one)
    if ended:
        yield from fact(now, "signed out", actor, name, f"one browser, {which}")
    return bool(ended)


def end_other_sessions(name: str, but: str, actor: str, now: datetime) -> Op[int]:
    every = yield from sessions_of(name, now)
    ended = 0
    for one in every:
        if one.hash != but:
            ended += yield from _end(one)
    if ended:
        yield from fact(now, "signed out", actor, name, f"{ended} other browsers")
    return ended


def _end(one: BrowserSession) -> Op[int]:
    at_provider = bool(one.issuer) and (yield DROP_SESSION, {"n": session_name(one.hash)})
    gone = yield DROP_BROWSER, {"h": one.hash}
    return int(bool(at_provider or gone))
