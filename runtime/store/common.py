"""Statements and small operations that several transactions share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, Text, bindparam, case, func, or_, select, update

from runtime.contract import Address, Identity, NewId, Person, PersonId, Role, SessionKey
from runtime.store.protocol import Duty, Lane, NewDelivery
from runtime.store.schema import agents, audit, deliveries, identities, moves, people, roles, sessions
from runtime.store.sql.driver import LAST_QUERIES, SEVERAL_QUERIES, Op, Query, T, is_word, micros
from runtime.store.sql.upsert import Insert, insert


def at_once(*queries: Query, last: bool = False) -> Query:
    """Ask several queries together; the answer has the rows of each. They run in this order, each after the one before.

    `last`: the operation asks nothing more and doesn't fail, whatever the answer, so on PostgreSQL the COMMIT goes along.
    """
    return LAST_QUERIES if last else SEVERAL_QUERIES, {"queries": queries}


def going_on(op: Op[T]) -> Op[T]:
    """An operation as a part of one that asks more after it."""
    try:
        statement, given = next(op)
        while True:
            told = yield (SEVERAL_QUERIES if statement is LAST_QUERIES else statement), given
            statement, given = op.send(told)
    except StopIteration as end:
        result: T = end.value
        return result


def add(table: Table, *, without: tuple[str, ...] = ()) -> Insert:
    """An insert whose parameters are the table's columns, by name. Inline: nobody reads the numbers that the engine gives."""
    return insert(table).inline().values({c.name: bindparam(c.name) for c in table.columns if c.name not in without})


def put(table: Table, *only: str) -> Insert:
    """Insert a row, or update the one with its key: all of it, or `only` these."""
    new, key = add(table), [column.name for column in table.primary_key]
    changed = only or [column.name for column in table.columns if column.name not in key]
    values = {name: new.excluded[name] for name in changed}
    return new.on_conflict_do_update(index_elements=key, set_=values)


# -------------------------------------------------------------------------------------------------------- the audit

ADD_FACT = add(audit, without=("entry",))


def fact(now: datetime, kind: str, actor: str, subject: str, detail: str = "") -> Op[None]:
    """An audit row, unlinked: the sealer numbers and links it later."""
    yield (
        ADD_FACT,
        {
            "number": None,
            "at": micros(now),
            "kind": kind,
            "actor": actor,
            "subject": subject,
            "detail": detail,
            "previous": "",
            "hash": "",
            "salt": "",
        },
    )


ADD_MOVE = add(moves, without=("number",))


def moved(now: datetime, subject: str, node: str | None, what: str, detail: str = "") -> Op[None]:
    """A run (`subject` is its id) or a delivery went another way than straight on: told by `signalbox trace`."""
    yield ADD_MOVE, {"subject": subject, "at": micros(now), "node": node, "what": what, "detail": detail}


# ----------------------------------------------------------------------------------------------------------- fences

OWNED_LANE = (
    select(sessions.c.next_turn, sessions.c.waiting, sessions.c.resumable)
    .where(
        sessions.c.key == bindparam("key"),
        sessions.c.owner == bindparam("node"),
        sessions.c.fence == bindparam("fence"),
        is_word(sessions.c.state, "running"),
    )
    .with_for_update()
)


def owned(lane: Lane) -> Op[tuple[int, int, int] | None]:
    """(next turn, waiting signals, resumable runs) of a lane that is still ours, its row locked; None when fenced."""
    rows = yield fence_of(lane)
    return (rows[0][0], rows[0][1], rows[0][2]) if rows else None


def fence_of(lane: Lane) -> Query:
    """The same as a query, to be asked `at_once` with what is read under the lock: no row where we are fenced."""
    return OWNED_LANE, {"key": lane.session, "node": lane.node, "fence": lane.fence}


HELD_DUTY = (
    select(roles.c.name)
    .where(roles.c.name == bindparam("role"), roles.c.node == bindparam("node"), roles.c.fence == bindparam("fence"))
    .with_for_update(read=True)
)


def held(duty: Duty) -> Op[bool]:
    """True if a role is still ours."""
    return bool((yield holding(duty)))


def holding(duty: Duty) -> Query:
    """The same as a query, to be asked `at_once` with what is read under the lock: no row where it was lost."""
    return HELD_DUTY, {"role": duty.role, "node": duty.node, "fence": duty.fence}


# ------------------------------------------------------------------------------------------------------------ lanes


def escaped(text: str) -> str:
    """`text` in a pattern of LIKE, with the escape character \\."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def session_key(agent: str, address: Address) -> SessionKey:
    """One agent in one thread, or else in one room."""
    return SessionKey(f"{agent}|{address}")


def same_account(one: Address, other: Address) -> bool:
    return (one.channel, one.account) == (other.channel, other.account)


def in_room(column: ColumnElement[str]) -> ColumnElement[bool]:
    """An address is in the room `room`, or in a thread of it. By its first characters, and not as a range, since not
    every database orders texts byte by byte."""
    room = bindparam("room", type_=Text)
    return or_(column == room, func.substr(column, 1, func.length(room) + 1) == room + "/")


def ends_with(column: ColumnElement[str], end: ColumnElement[str]) -> ColumnElement[bool]:
    """`column` ends with `end`. Not by LIKE: SQLite plans that anew for each pattern it is given, which costs more than the
    look itself, and takes capitals for small letters."""
    return func.substr(column, func.length(column) - func.length(end) + 1) == end


def narrowed(
    rows: Select[Any], *, state: ColumnElement[str], address: ColumnElement[str]
) -> Callable[[StrEnum | None, Address | None, int], tuple[Select[Any], dict[str, object]]]:
    """`rows` of a state, of a room or of both, each statement built once; a function that makes a request of it."""
    of_state, of_room = state == bindparam("state"), in_room(address)
    every = {
        (with_state, with_room): rows.where(*[of_state] * with_state, *[of_room] * with_room)
        for with_state in (False, True)
        for with_room in (False, True)
    }

    def request(wanted: StrEnum | None, room: Address | None, limit: int) -> tuple[Select[Any], dict[str, object]]:
        given: dict[str, object] = {"n": limit}
        if wanted is not None:
            given["state"] = wanted.value
        if room is not None:
            given["room"] = str(room)
        return every[wanted is not None, room is not None], given

    return request


LOCK_LANE = select(sessions.c.key).where(sessions.c.key == bindparam("k")).with_for_update()

OPEN_LANE = (
    add(sessions)
    .on_conflict_do_update(
        index_elements=["key"],
        set_={
            "last_seq": sessions.c.last_seq + 1,
            "waiting": sessions.c.waiting + 1,
            "state": case((sessions.c.state == "idle", "ready"), else_=sessions.c.state),
            "ready_at": case((sessions.c.state == "idle", bindparam("ready_at")), else_=sessions.c.ready_at),
        },
    )
    .returning(
        sessions.c.last_seq,
        sessions.c.state,
        select(agents.c.changed_at)
        .where(agents.c.name == bindparam("agent"), is_word(agents.c.state, "suspended"))
        .scalar_subquery(),
    )
)
"""With the time since which its agent is suspended, if it is."""
RESUMABLE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(
        resumable=sessions.c.resumable + 1,
        state=case((sessions.c.state == "idle", "ready"), else_=sessions.c.state),
        ready_at=case((sessions.c.state == "idle", bindparam("at")), else_=sessions.c.ready_at),
    )
    .returning(sessions.c.state)
)

# ------------------------------------------------------------------------------------------------------- deliveries

ADD_DELIVERY = add(deliveries, without=("number",))


def delivery_row(new: NewDelivery, now: datetime, run_id: str | None = None) -> Mapping[str, object]:
    return {
        "id": new.id,
        "origin": new.origin,
        "ordinal": new.ordinal,
        "kind": new.kind.value,
        "channel": new.address.channel,
        "account": new.address.account,
        "address": str(new.address),
        "content": new.content.to_json(),
        "edits": new.edits,
        "run_id": run_id,
        "state": "queued",
        "rank": (new.ranks_as or new.kind).rank,
        "not_before": micros(now),
        "reason": "",
        "created_at": micros(now),
        "settled_at": None,
        "doubted_at": None,
        "reply_to": new.reply_to,
    }


# ----------------------------------------------------------------------------------------------------------- people

WHO = (
    select(people.c.id, people.c.name, people.c.role)
    .join(identities, identities.c.person_id == people.c.id)
    .where(identities.c.identity == bindparam("identity"))
)
NAMES = select(identities.c.identity).where(identities.c.person_id == bindparam("person_id"))
ADD_PERSON = add(people)
ADD_IDENTITY = add(identities)
PERSON = (
    select(people.c.id, people.c.name, people.c.role, identities.c.identity)
    .outerjoin(identities, identities.c.person_id == people.c.id)
    .where(people.c.id == bindparam("person_id"))
)
"""A row for each identity; one without where there is none."""


def whom(identity: str) -> Op[Person | None]:
    """The person behind an identity."""
    rows = yield WHO, {"identity": identity}
    return person(rows[0]) if rows else None


def person(row: tuple[str, str, int]) -> Person:
    """The least role where something else wrote a number that is none."""
    return Person(PersonId(row[0]), row[1], Role(row[2]) if row[2] in Role._value2member_map_ else Role.VIEWER)


def web_identity(who: Person) -> Identity:
    """Under which a person speaks on the web page: there the person is the account."""
    return Identity(f"web:{who.id}")


def names_of(who: Person) -> Op[frozenset[str]]:
    """The person's id and identities: what `approvers` may name."""
    rows = yield NAMES, {"person_id": who.id}
    return frozenset([who.id, *(row[0] for row in rows)])


def new_person(name: str, role: Role, now: datetime, new_id: NewId) -> Op[Person]:
    fresh = Person(PersonId(new_id()), name, role)
    yield (
        ADD_PERSON,
        {"id": fresh.id, "name": name, "role": int(role), "link_hash": None, "added_at": micros(now)},
    )
    return fresh


def place(text: str) -> Address:
    return Address.parse(text)


def fresh_lane(key: SessionKey, agent: str, address: Address, now: datetime) -> dict[str, object]:
    return {
        "key": key,
        "agent": agent,
        "address": str(address),
        "state": "ready",
        "owner": None,
        "fence": 0,
        "waiting": 1,
        "resumable": 0,
        "last_seq": 1,
        "next_turn": 1,
        "ready_at": micros(now),
        "created_at": micros(now),
        "since_turn": 0,
        "model": "",
    }
