"""Finds what an id may mean, its first characters, or the id that the page gave a message."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import Integer, Select, Text, bindparam, case, func, literal, literal_column, select, union_all

from runtime.contract import Address, Content
from runtime.store.common import in_room
from runtime.store.schema import approvals, deliveries, identities, people, runs, sessions, signals
from runtime.store.sql.driver import Op, is_word, moment
from runtime.timeline.trail import Candidate, Thing

SHORTEST: Final = 4
"""Characters of an id below which nothing is looked for: they would fit half of all rows."""
ID_LIKE: Final = re.compile(r"[0-9A-Za-z_-]+")
BEHIND_ANY_ID: Final = "z" * 22
"""Behind whatever an id can go on with."""

A_SIGNAL = select(
    signals.c.id,
    signals.c.accepted_at,
    signals.c.actor_name,
    signals.c.address,
    case((signals.c.answered_at.is_not(None), "answered"), else_=signals.c.state),
    signals.c.text,
)
A_RUN = select(runs.c.id, runs.c.started_at, people.c.name, runs.c.address, runs.c.state, runs.c.error).outerjoin(
    people, people.c.id == runs.c.requester
)
AN_APPROVAL = select(
    approvals.c.id, approvals.c.asked_at, people.c.name, approvals.c.address, approvals.c.state, approvals.c.tool
).outerjoin(people, people.c.id == approvals.c.requester)
A_DELIVERY = select(
    deliveries.c.id,
    deliveries.c.created_at,
    literal("").label("who"),
    deliveries.c.address,
    deliveries.c.state,
    deliveries.c.content,
)
EXACT = {
    Thing.SIGNAL: A_SIGNAL.where(signals.c.id == bindparam("id")),
    Thing.RUN: A_RUN.where(runs.c.id == bindparam("id")),
    Thing.APPROVAL: AN_APPROVAL.where(approvals.c.id == bindparam("id")),
    Thing.DELIVERY: A_DELIVERY.where(deliveries.c.id == bindparam("id")),
}


def _beginning(rows: Select[Any], column: Any) -> Select[Any]:
    """Rows whose id begins so: a range for the index, and the test itself, since not every column orders by bytes."""
    return (
        rows.where(
            column >= bindparam("low"),
            column <= bindparam("high"),
            func.substr(column, 1, bindparam("length", type_=Integer)) == bindparam("low"),
        )
        .order_by(column.desc())
        .limit(bindparam("n", type_=Integer))
    )


BEGINNING = {
    Thing.SIGNAL: _beginning(A_SIGNAL, signals.c.id),
    Thing.RUN: _beginning(A_RUN, runs.c.id),
    Thing.APPROVAL: _beginning(AN_APPROVAL, approvals.c.id),
    Thing.DELIVERY: _beginning(A_DELIVERY, deliveries.c.id),
}
FIRST_PLATFORM = select(func.min(signals.c.platform))
NEXT_PLATFORM = FIRST_PLATFORM.where(signals.c.platform > bindparam("after"))
# The page makes an id for each message; its key at the platform is the person's identity with that id.
KEYS = union_all(
    select(bindparam("g", type_=Text).label("key")),
    select(identities.c.identity + "#" + bindparam("g", type_=Text)),
    select(literal("console:") + identities.c.identity + "#" + bindparam("g", type_=Text)),
)
OF_THE_PAGE = A_SIGNAL.where(signals.c.platform == bindparam("p"), signals.c.dedupe_key.in_(KEYS))
# Ids begin with the time at which they were made.
NEWEST_SIGNALS = (
    A_SIGNAL.where(is_word(signals.c.kind, "said")).order_by(signals.c.id.desc()).limit(bindparam("n", type_=Integer))
)
# By the index of one address after the other: those of a room's threads are told by their lanes, the newest at work first.
SAID_HERE = (
    A_SIGNAL.where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),
    )
    .order_by(signals.c.accepted_at.desc())
    .limit(bindparam("n", type_=Integer))
)
THREADS = (
    select(sessions.c.address)
    .where(in_room(sessions.c.address))
    .order_by(sessions.c.ready_at.desc())
    .limit(bindparam("n", type_=Integer))
)
MOST_THREADS: Final = 200
"""Of a room, in which its newest messages are looked for."""


def _candidate(thing: Thing, row: Sequence[Any]) -> Candidate:
    found, at, who, address, state, text = row
    words = Content.from_json(text).text if thing is Thing.DELIVERY else text
    known = "in progress" if state == "consumed" else state
    return Candidate(found, thing, moment(at), who or "", Address.parse(address), known, words)


def find(words: str, things: Collection[Thing], limit: int) -> Op[list[Candidate]]:
    """Candidates that `words` may mean: an id, else the page's id of a message, else the beginning of an id."""
    for thing, statement in EXACT.items():
        if thing in things and (rows := (yield statement, {"id": words})):
            return [_candidate(thing, rows[0])]
    if Thing.SIGNAL in things and (of_page := (yield from _of_the_page(words))):
        return of_page
    if len(words) < SHORTEST or not ID_LIKE.fullmatch(words):
        return []
    found: dict[str, Candidate] = {}  # a run has the id of the message that began it: they are one
    for thing, statement in BEGINNING.items():
        if thing in things:
            rows = yield statement, {"low": words, "high": words + BEHIND_ANY_ID, "length": len(words), "n": limit}
            found = {row[0]: _candidate(thing, row) for row in rows} | found
    return sorted(found.values(), key=lambda one: one.at, reverse=True)[:limit]


def platforms() -> Op[list[str]]:
    """The identities of accounts that ever took something in: one look into an index for each."""
    found: list[str] = []
    rows = yield FIRST_PLATFORM, {}
    while rows[0][0] is not None:
        found.append(rows[0][0])
        rows = yield NEXT_PLATFORM, {"after": rows[0][0]}
    return found


def _of_the_page(words: str) -> Op[list[Candidate]]:
    found: list[Candidate] = []
    for platform in (yield from platforms()):
        rows = yield OF_THE_PAGE, {"p": platform, "g": words}
        found += [_candidate(Thing.SIGNAL, row) for row in rows]
    return found


def recent(address: Address | None, limit: int) -> Op[list[Candidate]]:
    """The newest messages of a room with its threads, or of all rooms; only the latter tells also what was refused."""
    if address is None:
        return [_candidate(Thing.SIGNAL, row) for row in (yield NEWEST_SIGNALS, {"n": limit})]
    threads = yield THREADS, {"room": str(address), "n": MOST_THREADS}
    found: list[Candidate] = []
    for place in {str(address), *(row[0] for row in threads)}:
        rows = yield SAID_HERE, {"room": place, "n": limit}
        found += [_candidate(Thing.SIGNAL, row) for row in rows]
    return sorted(found, key=lambda one: (one.at, one.id), reverse=True)[:limit]
