"""Invitations: links by which people who aren't known yet join, each of them once. Only the hash of a token is kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, select, update

from runtime.contract import NewId, Role
from runtime.domain.ids import digest
from runtime.store.approvals.newcomers import FIRST_PERSON, free_name, own
from runtime.store.common import ADD_IDENTITY, add, fact, new_person, web_identity
from runtime.store.people.browsers import add_browser
from runtime.store.people.people import SET_LINK
from runtime.store.protocol.people import Ending, Invitation, Joined, Unjoined
from runtime.store.schema import invitations, people
from runtime.store.sql.driver import Op, micros, moment

LISTED_FOR: Final = timedelta(days=30)
"""How long after its time an invitation is still listed, and its link still says why it doesn't work."""
INVITATIONS_MOST: Final = 500
NAMELESS: Final = "Guest"
"""For whoever gave a name of which nothing is left."""

INVITATION_COLUMNS = (
    invitations.c.id,
    invitations.c.role,
    invitations.c.made_by,
    invitations.c.made_at,
    invitations.c.expires_at,
    invitations.c.ending,
    invitations.c.ended_at,
    people.c.name,
)
EVERY_INVITATION = select(*INVITATION_COLUMNS).outerjoin(people, people.c.id == invitations.c.used_by)
NEWEST_INVITATIONS = EVERY_INVITATION.order_by(invitations.c.made_at.desc(), invitations.c.id).limit(INVITATIONS_MOST)
OF_TOKEN = EVERY_INVITATION.where(invitations.c.token_hash == bindparam("h"))
ADD_INVITATION = add(invitations)
DROP_OLD_INVITATIONS = delete(invitations).where(invitations.c.expires_at < bindparam("before"))
END_INVITATION = update(invitations).where(invitations.c.ended_at.is_(None)).values(ended_at=bindparam("at"))
REVOKE_INVITATION = (
    END_INVITATION.where(invitations.c.id == bindparam("which"))
    .values(ending=Ending.REVOKED.value)
    .returning(invitations.c.role)
)
USE_INVITATION = (
    END_INVITATION.where(invitations.c.token_hash == bindparam("h"), invitations.c.expires_at > bindparam("at"))
    .values(ending=Ending.USED.value)
    .returning(invitations.c.id)
)
NOTE_JOINED = update(invitations).where(invitations.c.id == bindparam("which")).values(used_by=bindparam("who"))


def make(which: str, token: str, role: Role, within: timedelta, actor: str, now: datetime) -> Op[Invitation]:
    yield DROP_OLD_INVITATIONS, {"before": micros(now - LISTED_FOR)}
    made = Invitation(which, role, actor, now, now + within)
    row = {"id": which, "token_hash": digest(token), "role": int(role), "made_by": actor}
    row |= {"made_at": micros(now), "expires_at": micros(made.expires_at), "ending": Ending.NONE.value}
    yield ADD_INVITATION, {**row, "ended_at": None, "used_by": None}
    yield from fact(now, "invitation made", actor, which, f"{role.word}, until {made.expires_at:%Y-%m-%d %H:%M} UTC")
    return made


def listed() -> Op[list[Invitation]]:
    return [_invitation(row) for row in (yield NEWEST_INVITATIONS, {})]


def revoke(which: str, actor: str, now: datetime) -> Op[bool]:
    ended = yield REVOKE_INVITATION, {"which": which, "at": micros(now)}
    if ended:
        yield from fact(now, "invitation revoked", actor, which)
    return bool(ended)


def of_token(token: str, now: datetime) -> Op[Invitation | Unjoined]:
    rows = yield OF_TOKEN, {"h": digest(token)}
    if not rows:
        return Unjoined.UNKNOWN
    found = _invitation(rows[0])
    if found.ending is not Ending.NONE:
        return Unjoined(found.ending.value)
    return Unjoined.EXPIRED if found.expires_at <= now else found


def join(
    token: str,
    name: str,
    fresh: tuple[str, str],
    given: Collection[str],
    browser: str,
    now: datetime,
    new_id: NewId,
) -> Op[Joined | Unjoined]:
    """Let in the first who ends the invitation; the name is theirs unless somebody has it, or one like it.

    `fresh`: what their browser holds from now on, and a link of which nobody has more than the hash.
    """
    held, own_link = fresh
    found = yield from of_token(token, now)
    if isinstance(found, Unjoined):
        return found
    yield FIRST_PERSON, {}  # before the invitation, as whoever takes somebody's rights away locks them
    if not (yield USE_INVITATION, {"h": digest(token), "at": micros(now)}):
        return Unjoined.USED  # at this very moment, by somebody else
    who = yield from new_person((yield from free_name(own(name) or NAMELESS, given)), found.role, now, new_id)
    yield NOTE_JOINED, {"which": found.id, "who": who.id}
    yield ADD_IDENTITY, {"identity": web_identity(who), "person_id": who.id, "room": None}
    link = digest(own_link)  # nobody has it: their browser holds a session of its own
    yield SET_LINK, {"n": who.name, "new_hash": link}
    yield from add_browser(held, who.id, link, browser, now)
    yield from fact(now, "person added", found.made_by, who.name, f"{who.role.word}, by the invitation {found.id}")
    yield from fact(now, "invitation used", web_identity(who), found.id, who.name)
    return Joined(who, held)


def _invitation(row: Sequence[Any]) -> Invitation:
    which, role, made_by, made_at, expires_at, ending, ended_at, joined = row
    return Invitation(
        which,
        Role(role),
        made_by,
        moment(made_at),
        moment(expires_at),
        Ending(ending),
        None if ended_at is None else moment(ended_at),
        joined or "",
    )
