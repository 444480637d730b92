"""Browsers in which people are signed in by their link: each has a session of its own, which ends alone or with the link."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, select, update

from runtime.contract import Identity, Person, PersonId
from runtime.domain.ids import digest
from runtime.store.common import add, fact, person, web_identity
from runtime.store.people.people import LINKED, redeem
from runtime.store.protocol.people import BrowserSession
from runtime.store.schema import browser_sessions, people
from runtime.store.sql.driver import Op, micros, moment

BROWSER_LIFE: Final = timedelta(days=365)
"""Time without a visit after which a browser is forgotten, as its cookie is."""
SEEN_AGAIN_AFTER: Final = timedelta(minutes=5)
"""How exactly it is known when a browser was seen last: a visit in between writes nothing."""
SESSIONS_A_PERSON: Final = 100
"""Browsers of one person; the one that wasn't seen for longest goes."""
SESSION_ID_CHARS: Final = 12
"""Of the hash of a session's token: as many as tell the sessions of one person apart."""

_is_current = (people.c.id == browser_sessions.c.person_id) & (people.c.link_hash == browser_sessions.c.link)
BY_BROWSER = (
    select(people.c.id, people.c.name, people.c.role, browser_sessions.c.seen_at)
    .join(people, _is_current)
    .where(browser_sessions.c.hash == bindparam("h"), browser_sessions.c.seen_at > bindparam("since"))
)
BROWSERS_OF = (
    select(
        browser_sessions.c.hash,
        browser_sessions.c.browser,
        browser_sessions.c.made_at,
        browser_sessions.c.seen_at,
    )
    .join(people, _is_current)
    .where(people.c.name == bindparam("n"), browser_sessions.c.seen_at > bindparam("since"))
    .order_by(browser_sessions.c.seen_at.desc(), browser_sessions.c.hash)
)
HASHES_OF = (
    select(browser_sessions.c.hash)
    .where(browser_sessions.c.person_id == bindparam("who"), browser_sessions.c.link == bindparam("link_hash"))
    .order_by(browser_sessions.c.seen_at.desc(), browser_sessions.c.hash)
)
ADD_BROWSER = add(browser_sessions)
SET_SEEN = (
    update(browser_sessions)
    .where(browser_sessions.c.hash == bindparam("h"), browser_sessions.c.seen_at < bindparam("at"))
    .values(seen_at=bindparam("at"))
)
DROP_BROWSER = (
    delete(browser_sessions).where(browser_sessions.c.hash == bindparam("h")).returning(browser_sessions.c.hash)
)
DROP_VOID_BROWSERS = delete(browser_sessions).where(
    browser_sessions.c.person_id == bindparam("who"),
    browser_sessions.c.link != "",
    (browser_sessions.c.link != bindparam("link_hash")) | (browser_sessions.c.seen_at <= bindparam("since")),
)


def begin(token: str, fresh: str, own_link: str, browser: str, now: datetime) -> Op[bool]:
    """Sign a browser in by a link, which is used up if it is for one use: `own_link` takes its place, and nobody has it."""
    link = digest(own_link)
    who = yield from redeem(token, link, now)
    if who is None:
        link = digest(token)
        rows = yield LINKED, {"h": link}
        if not rows:
            return False
        who = person(rows[0][:3])
        yield from fact(now, "link used", web_identity(who), who.name, browser)
    yield from add_browser(fresh, who.id, link, browser, now)
    return True


def add_browser(token: str, who: PersonId, link: str, browser: str, now: datetime) -> Op[None]:
    """A browser that holds `token` from now on. Those of links that are void go with it."""
    if link:
        yield DROP_VOID_BROWSERS, {"who": who, "link_hash": link, "since": _since(now)}
        for (old,) in (yield HASHES_OF, {"who": who, "link_hash": link})[SESSIONS_A_PERSON - 1 :]:
            yield DROP_BROWSER, {"h": old}
    at = micros(now)
    row = {"hash": digest(token), "person_id": who, "link": link, "browser": browser}
    yield ADD_BROWSER, {**row, "made_at": at, "seen_at": at}


def by_browser(hashed: str, now: datetime) -> Op[tuple[Person, Identity, datetime] | None]:
    """The person who is signed in there, the identity under which they speak, and when it was seen last."""
    rows = yield BY_BROWSER, {"h": hashed, "since": _since(now)}
    if not rows:
        return None
    who = person(rows[0][:3])
    return who, web_identity(who), moment(rows[0][3])


def set_seen(hashed: str, now: datetime) -> Op[None]:
    yield SET_SEEN, {"h": hashed, "at": micros(now)}


def browsers_of(name: str, now: datetime) -> Op[list[BrowserSession]]:
    """Browsers that are signed in by their link, those seen last first."""
    rows = yield BROWSERS_OF, {"n": name, "since": _since(now)}
    return [
        BrowserSession(row[0][:SESSION_ID_CHARS], "", moment(row[2]), browser=row[1], seen=moment(row[3]), hash=row[0])
        for row in rows
    ]


def leave(hashed: str, now: datetime) -> Op[bool]:
    """Sign a browser out at the wish of whoever uses it."""
    found = yield from by_browser(hashed, now)
    gone = yield DROP_BROWSER, {"h": hashed}
    if found:
        yield from fact(now, "signed out", found[1], found[0].name, "this browser")
    return bool(gone)


def _since(now: datetime) -> int:
    return micros(now - BROWSER_LIFE)
