"""A sign-in is kept, renewed by whoever holds its claim, and given up, each with its row in the audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, select, update

from runtime.store.common import fact, put
from runtime.store.schema import logins
from runtime.store.sql.driver import Op, maybe_moment, micros, moment

KEPT_COLUMNS = (
    logins.c.name,
    logins.c.sealed,
    logins.c.version,
    logins.c.ends_at,
    logins.c.renews,
    logins.c.issuer,
    logins.c.signed_in_by,
    logins.c.signed_in_at,
    logins.c.renewed_at,
    logins.c.claim,
    logins.c.claimed_until,
    logins.c.unfinished,
    logins.c.refusals,
    logins.c.trouble,
)
SESSION_LOGIN: Final = "page:"
"""Begins the names of sessions of people at the page, which have facts of their own."""
LOGINS = select(*KEPT_COLUMNS).where(logins.c.name.not_like(f"{SESSION_LOGIN}%")).order_by(logins.c.name)
"""Without sessions of people at the page: `runtime.store.people.sessions`."""
ONE_LOGIN = select(*KEPT_COLUMNS).where(logins.c.name == bindparam("n"))
LOCKED_LOGIN = ONE_LOGIN.with_for_update()
KEEP_LOGIN = put(logins)
DROP_LOGIN = delete(logins).where(logins.c.name == bindparam("n")).returning(logins.c.name)
CLAIM_LOGIN = (
    update(logins)
    .where(logins.c.name == bindparam("n"))
    .values(claim=bindparam("of"), claimed_until=bindparam("until"), unfinished=1)
)
IS_CLAIMED = (logins.c.name == bindparam("n"), logins.c.claim == bindparam("of"))
RENEW_LOGIN = (
    update(logins)
    .where(*IS_CLAIMED)
    .values(
        sealed=bindparam("text"),
        version=logins.c.version + 1,
        ends_at=bindparam("ends"),
        renews=bindparam("again"),
        renewed_at=bindparam("now"),
        claim="",
        claimed_until=None,
        unfinished=0,
        refusals=0,
        trouble="",
    )
    .returning(logins.c.name)
)
FREE_LOGIN = (
    update(logins)
    .where(*IS_CLAIMED)
    .values(
        claim="",
        claimed_until=None,
        unfinished=bindparam("open"),
        renews=bindparam("again"),
        trouble=bindparam("why"),
    )
)
REFUSE_LOGIN = (
    update(logins)
    .where(logins.c.name == bindparam("n"), logins.c.version == bindparam("of"))
    .values(refusals=logins.c.refusals + 1, trouble=bindparam("why"))
    .returning(logins.c.refusals)
)


@dataclass(frozen=True, slots=True)
class KeptLogin:
    """One sign-in as it is stored. `unfinished`: a renewal was begun, and nobody stored its answer."""

    name: str
    sealed: str = field(repr=False)
    version: int
    ends_at: datetime | None
    renews: bool
    issuer: str
    by: str
    at: datetime
    renewed_at: datetime | None = None
    claim: str = ""
    claimed_until: datetime | None = None
    unfinished: bool = False
    refusals: int = 0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class NewGrant:
    """A grant to be kept: sealed, and what is told of it."""

    sealed: str = field(repr=False)
    ends_at: datetime | None
    renews: bool


def every_login() -> Op[list[KeptLogin]]:
    return [_login(row) for row in (yield LOGINS, {})]


def one_login(name: str) -> Op[KeptLogin | None]:
    rows = yield ONE_LOGIN, {"n": name}
    return _login(rows[0]) if rows else None


def keep_login(name: str, grant: NewGrant, issuer: str, by: str, now: datetime) -> Op[None]:
    """A person signed in. Whoever renews what was there before finds its claim gone."""
    rows = yield LOCKED_LOGIN, {"n": name}
    yield (
        KEEP_LOGIN,
        {
            "name": name,
            "sealed": grant.sealed,
            "version": _login(rows[0]).version + 1 if rows else 1,
            "ends_at": grant.ends_at and micros(grant.ends_at),
            "renews": int(grant.renews),
            "issuer": issuer,
            "signed_in_by": by,
            "signed_in_at": micros(now),
            "renewed_at": None,
            "claim": "",
            "claimed_until": None,
            "unfinished": 0,
            "refusals": 0,
            "trouble": "",
        },
    )
    yield from fact(now, "sign-in made", by, name, issuer)


def drop_login(name: str, by: str, now: datetime) -> Op[bool]:
    if not (yield DROP_LOGIN, {"n": name}):
        return False
    yield from fact(now, "sign-in dropped", by, name)
    return True


def claim_login(name: str, version: int, claim: str, until: datetime, now: datetime) -> Op[KeptLogin | None]:
    """The sign-in as it was before, for who may renew it now; None where another does, or did."""
    rows = yield LOCKED_LOGIN, {"n": name}
    found = _login(rows[0]) if rows else None
    if found is None or found.version != version or (found.claimed_until and found.claimed_until > now):
        return None
    yield CLAIM_LOGIN, {"n": name, "of": claim, "until": micros(until)}
    return found


def renew_login(name: str, claim: str, grant: NewGrant, now: datetime) -> Op[bool]:
    """Store the issuer's answer; false where the claim is another's by now."""
    ends = grant.ends_at and micros(grant.ends_at)
    given = {"n": name, "of": claim, "text": grant.sealed, "ends": ends, "again": int(grant.renews), "now": micros(now)}
    if not (yield RENEW_LOGIN, given):
        return False
    if not name.startswith(SESSION_LOGIN):
        yield from fact(now, "sign-in renewed", "", name)
    return True


def free_login(name: str, claim: str, trouble: str, unfinished: bool, dead: bool, now: datetime) -> Op[bool]:
    """End a claim without a grant. `unfinished`: nobody knows whether the issuer took the old token. `dead`: it never will."""
    rows = yield LOCKED_LOGIN, {"n": name}
    before = _login(rows[0]) if rows else None
    if before is None or before.claim != claim:
        return False
    again = int(before.renews and not dead)
    yield FREE_LOGIN, {"n": name, "of": claim, "open": int(unfinished), "again": again, "why": trouble}
    if trouble and trouble != before.trouble and not name.startswith(SESSION_LOGIN):
        yield from fact(now, "sign-in ended", "", name, trouble)
    return True


def refuse_login(name: str, version: int, trouble: str, now: datetime) -> Op[int]:
    """Count a token that was refused; how often that was so since the last one that was good. 0: it is another by now."""
    rows = yield REFUSE_LOGIN, {"n": name, "of": version, "why": trouble}
    if not rows:
        return 0
    if not name.startswith(SESSION_LOGIN):
        yield from fact(now, "sign-in refused", "", name, trouble)
    return int(rows[0][0])


def _login(row: Any) -> KeptLogin:
    name, sealed, version, ends, renews, issuer, by, at, renewed, claim, until, unfinished, refusals, trouble = row
    return KeptLogin(
        name,
        sealed,
        version,
        maybe_moment(ends),
        bool(renews),
        issuer,
        by,
        moment(at),
        maybe_moment(renewed),
        claim,
        maybe_moment(until),
        bool(unfinished),
        refusals,
        trouble,
    )
