"""Grants as rows: made by the decision that gives one, used by the step that it allows, listed, revoked."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, or_, select, update

from runtime.chat.cards.card_facts import with_heard
from runtime.chat.views import grants as grant_views
from runtime.contract import Address, NewId, NodeId, Person, RunId, SessionKey
from runtime.domain.approvals import LEAST, Approval, Rights, Voter, form_asked, may_grant
from runtime.policy.grant_patterns import Pattern, exactly
from runtime.policy.grants import CONVERSATION_TIME, Grant, GrantId, Sought, Wish, fits
from runtime.policy.taint import told_in
from runtime.store.approvals.audience import speakers
from runtime.store.common import add, fact, moved, names_of, person
from runtime.store.protocol.grants import Granted
from runtime.store.schema import grants, moves, people, sessions
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment
from runtime.text.naming import meant
from runtime.text.words import say

ADD_GRANT = add(grants)
COLUMNS = list(grants.columns)
FOR = people.alias("requesters")
WITH_GIVER = select(*COLUMNS, people.c.id, people.c.name, people.c.role).outerjoin(people, people.c.id == grants.c.by)
CANDIDATES = WITH_GIVER.where(
    grants.c.tool == bindparam("tool"),
    grants.c.revoked_at.is_(None),
    grants.c.agent == bindparam("agent"),
    grants.c.until > bindparam("now"),
    or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0),
    or_(is_word(grants.c.session, ""), grants.c.session == bindparam("session")),
    or_(is_word(grants.c.room, ""), grants.c.room == bindparam("room")),
).order_by(grants.c.id)
ALL = (
    select(*COLUMNS, people.c.name, FOR.c.name)
    .select_from(grants.outerjoin(people, people.c.id == grants.c.by).outerjoin(FOR, FOR.c.id == grants.c.person))
    .order_by(grants.c.id.desc())
)
USE = (
    update(grants)
    .where(
        grants.c.id == bindparam("id_"),
        grants.c.revoked_at.is_(None),
        grants.c.until > bindparam("now"),
        or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0),
    )
    .values(uses_left=grants.c.uses_left - 1)
    .returning(grants.c.by)
)
"""Of two transactions that want the last use, the second finds none left. Any number less one is any number: NULL."""
KEPT: Final = timedelta(days=90)
"""How long a grant is listed after its end."""
FORGET = delete(grants).where(grants.c.until < bindparam("before"))
GIVER = select(people.c.name).where(people.c.id == bindparam("id"))
REVOKE = (
    update(grants)
    .where(grants.c.id == bindparam("id_"), grants.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("at"))
    .returning(grants.c.tool)
)
END_CONVERSATION = (
    update(grants)
    .where(and_(grants.c.session == bindparam("s"), grants.c.revoked_at.is_(None)))
    .values(revoked_at=bindparam("at"))
    .returning(grants.c.id, grants.c.tool)
)
END_ALL = (
    update(grants)
    .where(grants.c.revoked_at.is_(None), grants.c.until > bindparam("at"))
    .values(revoked_at=bindparam("at"))
    .returning(grants.c.id, grants.c.tool)
)
ALLOWED_WORDS: Final = "allowed by a grant"
ALLOWED = select(moves.c.detail).where(moves.c.subject == bindparam("run"), is_word(moves.c.what, ALLOWED_WORDS))
STEP_TOLD: Final = re.compile(r"step (\d+), .*?: the grant (.*)", re.DOTALL)
NOWHERE: Final = Address("", "", "")
AGENT_OF = select(sessions.c.agent).where(sessions.c.key == bindparam("k"))


def give(given: Approval, wish: Wish | None, now: datetime, new_id: NewId) -> Op[None]:
    """The grant that comes with a yes: for its conversation, or as was wished."""
    agent = yield AGENT_OF, {"k": given.session}
    arguments = json.loads(given.arguments or "{}")
    grant = Grant(
        id=GrantId(new_id()),
        agent=agent[0][0],
        tool=given.tool,
        form=form_asked(given),
        pattern=wish.pattern if wish else exactly(arguments),
        by=given.decided_by or "",
        from_approval=given.id,
        until=wish.until if wish else now + CONVERSATION_TIME,
        created_at=now,
        session="" if wish else given.session,
        room=str(given.address.whole_room) if wish and not wish.everywhere else "",
        person=(given.requester or "") if wish and wish.person else "",
        uses_left=wish.uses if wish else None,
        tainted=wish is None and bool(told_in(given.caution)),
    )
    yield FORGET, {"before": micros(now - KEPT)}
    yield ADD_GRANT, _row(grant)
    yield from fact(now, "grant given", given.decided_name, grant.id, f"{grant.tool}: {grant.pattern.brief()}")


def allowing(call: Sought, rights: Rights, now: datetime) -> Op[GrantId | None]:
    """The oldest grant that allows a call, by somebody who may still say so; those that end by use come last."""
    wanted = {"tool": call.tool, "agent": call.agent, "session": call.session, "room": call.room, "now": micros(now)}
    rows = yield CANDIDATES, wanted
    found = [(grant_of(row[: len(COLUMNS)]), row[len(COLUMNS) :]) for row in rows]
    for grant, giver in sorted(found, key=lambda one: one[0].uses_left is not None):
        if giver[0] is None or not fits(grant, call, now):
            continue
        heard = yield from speakers(RunId(call.run))
        if grant.person and not heard <= {grant.person}:
            continue  # others asked for it too
        who, asked = person(giver), replace(call, card=with_heard("", sorted(heard)))
        if may_grant(asked, Voter(who, (yield from names_of(who)), NOWHERE), rights, everywhere=grant.everywhere):
            return grant.id
    return None


def use(grant: GrantId, run: RunId, number: int, tool: str, node: NodeId, now: datetime) -> Op[bool]:
    """Use it for a step, in the transaction that records the step. False where nothing of it is left."""
    rows = yield USE, {"id_": grant, "now": micros(now)}
    if not rows:
        return False
    giver = yield GIVER, {"id": rows[0][0]}
    name = giver[0][0] if giver else ""
    yield from moved(now, run, node, ALLOWED_WORDS, f"step {number}, {tool}: the grant {grant} by {name}")
    yield from fact(now, "grant used", name, grant, f"{run}/{number} {tool}")
    return True


def end_all(who: str, why: str, now: datetime) -> Op[int]:
    """End every grant that is not over; how many."""
    ended = yield END_ALL, {"at": micros(now)}
    for grant, tool in ended:
        yield from fact(now, "grant ended", who, grant, f"{tool}: {why}")
    return len(ended)


def end_conversation(session: SessionKey, who: str, now: datetime) -> Op[None]:
    """End the grants of a conversation with it."""
    for grant, tool in (yield END_CONVERSATION, {"s": session, "at": micros(now)}):
        yield from fact(now, "grant ended", who, grant, f"{tool}: its conversation was begun anew")


def told_in_chat(argument: str, who: Person, now: datetime, mark: str) -> Op[str]:
    """Answer to `/grants`, or what came of `/grants revoke ID`."""
    if who.role < LEAST:
        return say(grant_views.FOR_OPERATORS)
    held = [one for one in (yield from every()) if one.grant.holds(now)]
    wanted = grant_views.to_revoke(argument)
    if wanted is None:
        return grant_views.listed([(one.grant, one.giver, one.person) for one in held], mark)
    found = meant(wanted, [one.grant for one in held], ids=lambda one: one.id, names=lambda _: ())
    if len(found) != 1 or not (yield from revoke(found[0].id, who.name, now)):
        return grant_views.not_one(found, mark)
    return grant_views.revoked(found[0])


def allowed(run: RunId) -> Op[dict[int, str]]:
    """Steps of a run that no question was asked about, by their numbers, each with the grant and whose it is."""
    rows = yield ALLOWED, {"run": run}
    return {int(found[1]): found[2] for (detail,) in rows if (found := STEP_TOLD.fullmatch(detail))}


def revoke(grant: GrantId, by: str, now: datetime) -> Op[bool]:
    rows = yield REVOKE, {"id_": grant, "at": micros(now)}
    if rows:
        yield from fact(now, "grant revoked", by, grant, rows[0][0])
    return bool(rows)


def every() -> Op[Sequence[Granted]]:
    """All there are, newest first."""
    rows = yield ALL, {}
    width = len(COLUMNS)
    return [Granted(grant_of(row[:width]), row[width] or "", row[width + 1] or "") for row in rows]


def grant_of(row: Sequence[Any]) -> Grant:
    """A grant from a row in the table's column order."""
    get: dict[str, Any] = dict(zip((c.name for c in COLUMNS), row, strict=True))
    return Grant(
        **get
        | {
            "pattern": Pattern.from_json(get["pattern"]),
            "until": moment(get["until"]),
            "revoked_at": maybe_moment(get["revoked_at"]),
            "created_at": moment(get["created_at"]),
            "tainted": bool(get["tainted"]),
        }
    )


def _row(grant: Grant) -> dict[str, object]:
    row: dict[str, object] = {c.name: getattr(grant, c.name) for c in COLUMNS}
    told = {"pattern": grant.pattern.to_json(), "tainted": int(grant.tainted)}
    return row | told | {"until": micros(grant.until), "created_at": micros(grant.created_at)}
