"""Modes of conversations: set by a command, and read when a call is sorted that does more than read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Text, and_, bindparam, delete, literal_column, or_, select

from runtime.chat.modes import mode_set
from runtime.contract import Address, Content, DeliveryId, Kind, NewId, Person, PersonId, SessionKey
from runtime.domain.agents.manifest import MAIN
from runtime.domain.approvals import Voter
from runtime.markup.moments import FORM
from runtime.policy.modes import MODE_WORDS, NORMAL, Mode, RoomMode
from runtime.store.common import ADD_DELIVERY, PERSON, delivery_row, ends_with, fact, person, put, session_key
from runtime.store.protocol import NewDelivery
from runtime.store.schema import children, modes, people, runs
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment
from runtime.text.words import said_at

_trusted, _setter = people.alias("trusted"), people.alias("setter")
EVERY_MODE = (
    select(
        modes.c.session,
        modes.c.mode,
        modes.c.person,
        _trusted.c.name,
        modes.c.set_by,
        _setter.c.name,
        modes.c.set_at,
        modes.c.until,
    )
    .outerjoin(_trusted, _trusted.c.id == modes.c.person)
    .outerjoin(_setter, _setter.c.id == modes.c.set_by)
    .where(or_(modes.c.until.is_(None), modes.c.until > bindparam("now")))
    .order_by(modes.c.set_at.desc())
)
# Whoever holds back one agent in a room means all of them: those modes stand with the main one. A trust is in one alone.
OF_PLACE = or_(
    modes.c.session.in_([bindparam("thread"), bindparam("home")]),
    and_(
        modes.c.session.in_([bindparam("main_thread"), bindparam("main_home")]),
        modes.c.mode != literal_column(f"'{Mode.TRUSTED}'"),
    ),
)
MODE_HERE = EVERY_MODE.where(OF_PLACE).limit(1)
"""Of a thread's own mode and its room's the one that was set last, as long as it is not over."""
MODE_WORD = (
    select(modes.c.mode)
    .where(
        OF_PLACE,
        or_(modes.c.until.is_(None), modes.c.until > bindparam("now")),
    )
    .order_by(modes.c.set_at.desc())
    .limit(1)
)
"""The same for a statement that has more to ask: the word alone."""
# Of a room, whichever agent has it.
MODE_IN = EVERY_MODE.where(ends_with(modes.c.session, bindparam("end", type_=Text))).limit(1)
OF_CHILDREN: Final = "child"
"""How the session of a child begins; its id follows."""
ROOT_SESSION = (
    select(runs.c.session).join(children, children.c.root_run == runs.c.id).where(children.c.id == bindparam("child"))
)
SET_MODE = put(modes)
END_TRUST = delete(modes).where(modes.c.session == bindparam("k"), is_word(modes.c.mode, Mode.TRUSTED))
OVER_MODES = delete(modes).where(modes.c.until <= bindparam("now"))


def mode_at(agent: str, address: Address, now: datetime) -> Op[RoomMode]:
    """The mode of a thread or room. A trust that ended counts no more, and neither does one in somebody who was removed."""
    home = address.whole_room
    own = {"thread": session_key(agent, address), "home": session_key(agent, home)}
    main = {"main_thread": session_key(MAIN, address), "main_home": session_key(MAIN, home)}
    rows = yield MODE_HERE, {**own, **main, "now": micros(now)}
    return mode_of(rows[0]) if rows else NORMAL


def is_read_only(key: SessionKey, now: datetime) -> Op[bool]:
    """True if a conversation is in that mode. That of a job is none of a room: nobody says anything in it."""
    agent, _, address = key.partition("|")
    if agent == OF_CHILDREN:
        rows = yield ROOT_SESSION, {"child": address.partition("|")[0]}
        return bool(rows) and (yield from is_read_only(rows[0][0], now))
    return "|" not in address and (yield from mode_at(agent, Address.parse(address), now)).mode is Mode.READ_ONLY


def end_of(room: Address) -> str:
    """The end of the keys of a room's sessions, whichever agent has them."""
    return session_key("", room)


def every_mode(now: datetime) -> Op[list[tuple[Address, RoomMode]]]:
    """Modes that were set and are not over, newest first."""
    rows = yield EVERY_MODE, {"now": micros(now)}
    return [(Address.parse(row[0].partition("|")[2]), mode_of(row)) for row in rows]


def set_from_afar(
    agent: str, address: Address, mode: Mode, who: Person, hand: str, now: datetime, new_id: NewId
) -> Op[RoomMode]:
    """Set it from outside the room, which is told. `hand` is who does it for the person."""
    made = yield from set_mode(agent, address, mode, None, who, now, hand=hand)
    origin, fresh = f"mode:{new_id()}", DeliveryId(new_id())
    with said_at(address):
        text = mode_set(made, address)
    told = NewDelivery(fresh, origin, 0, Kind.FINAL, address, Content(text))
    yield ADD_DELIVERY, delivery_row(told, now)
    return made


def mode_called(word: str | None) -> Mode:
    """The mode of this word; the strictest that we know for one of a newer version, and the normal one for none."""
    return Mode.NORMAL if word is None else Mode(word) if word in MODE_WORDS else Mode.READ_ONLY


def mode_of(row: Sequence[Any]) -> RoomMode:
    """The mode that a row of `EVERY_MODE` tells."""
    _, word, trusted, name, setter, setter_name, at, until = row
    return RoomMode(
        mode_called(word),
        PersonId(trusted) if name else None,
        name or "",
        PersonId(setter) if setter_name else None,
        setter_name or "",
        moment(at),
        maybe_moment(until),
    )


def voter(who: PersonId, address: Address) -> Op[Voter | None]:
    """Somebody as they would answer in a room."""
    rows = yield PERSON, {"person_id": who}
    if not rows:
        return None
    names = frozenset([who, *(row[3] for row in rows if row[3])])
    return Voter(person(rows[0][:3]), names, address)


def end_trust(key: SessionKey) -> Op[None]:
    """Nobody is trusted there any more, since the conversation begins anew."""
    yield END_TRUST, {"k": key}


def set_mode(
    agent: str, address: Address, mode: Mode, until: datetime | None, who: Person, now: datetime, *, hand: str = ""
) -> Op[RoomMode]:
    """Set it for a room with its threads, or for one thread; whoever trusts is the one who is trusted."""
    yield OVER_MODES, {"now": micros(now)}
    trusted = who.id if mode is Mode.TRUSTED else ""
    key = session_key(agent if trusted else MAIN, address)
    changed = {"session": key, "mode": mode.value, "person": trusted, "set_by": who.id}
    yield SET_MODE, {**changed, "set_at": micros(now), "until": micros(until) if until else None}
    detail = f"{mode} until {until:{FORM}} UTC" if until else mode.value
    yield from fact(now, "mode set", hand or who.name, str(address), detail)
    name = who.name if trusted else ""
    return RoomMode(mode, who.id if trusted else None, name, who.id, who.name, now, until)
