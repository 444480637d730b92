"""Messages of rooms that somebody may read, in a bounded look at the newest ones: no index is kept for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, Select, bindparam, func, literal_column, or_, select

from runtime.contract import Trigger
from runtime.contract.memory.facts import FoundMessage
from runtime.contract.people import Address, PersonId
from runtime.domain.memory.terms import Terms, stem
from runtime.store.common import escaped, in_room
from runtime.store.memory.readers import PAGE_CHANNEL, PRIVATE_OF, reader_at
from runtime.store.operations.history import said
from runtime.store.protocol.memory.finding import EVER, Asker
from runtime.store.schema import identities, rooms, sessions, signals, turns
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.text.outside import of_program

MESSAGES_LOOKED_AT: Final = 20_000
"""Messages that one search looks at, of all rooms together."""
SPOKEN_ROOMS_MOST: Final = 50
"""Rooms that one search looks into, those first where the person spoke last."""
THREADS_MOST: Final = 50
"""Threads of a room that are looked into, those at work last first."""
PARTS_MOST: Final = 8
"""Words or pairs that are looked for: the first ones of a query."""
A_PLACE: Final = 50
"""Messages that a room or thread brings at most, the newest."""

SPOKE_IN = (
    select(signals.c.address, func.max(signals.c.accepted_at))
    .join(identities, identities.c.identity == signals.c.actor)
    .where(
        identities.c.person_id == bindparam("person"),
        *said,
    )
    .group_by(signals.c.address)
    .order_by(func.max(signals.c.accepted_at).desc())
    .limit(bindparam("n", type_=Integer))
)
THREADS = (
    select(sessions.c.address)
    .where(in_room(sessions.c.address))
    .group_by(sessions.c.address)
    .order_by(func.max(sessions.c.ready_at).desc())
    .limit(bindparam("n", type_=Integer))
)
NAME_OF = select(rooms.c.name).where(
    rooms.c.channel == bindparam("channel"),
    rooms.c.account == bindparam("account"),
    rooms.c.room == bindparam("room"),
)


def _with_parts(newest: Select[Any]) -> Select[Any]:
    """Messages with a part of the query, of the newest of a place."""
    looked_at = newest.limit(bindparam("n", type_=Integer)).subquery()
    has = (func.lower(looked_at.c.text).like(bindparam(f"part{at}"), escape="\\") for at in range(PARTS_MOST))
    return select(looked_at).where(or_(*has)).order_by(looked_at.c.at.desc()).limit(bindparam("m", type_=Integer))


SAID_WITH_PARTS = _with_parts(
    select(
        signals.c.actor_name.label("who"),
        signals.c.text.label("text"),
        signals.c.accepted_at.label("at"),
        ((signals.c.by_program == 1) & ~is_word(signals.c.trigger, Trigger.HOOK)).label("is_bot"),
    )
    .where(signals.c.address == bindparam("room"), *said, signals.c.accepted_at >= bindparam("since"))
    .order_by(signals.c.accepted_at.desc())
)
# The lane of a child has another key: what an agent is told and says there is no message.
ANSWERED_WITH_PARTS = _with_parts(
    select(
        sessions.c.agent.label("who"),
        turns.c.text.label("text"),
        turns.c.at.label("at"),
        literal_column("0").label("is_bot"),
    )
    .join(turns, turns.c.session == sessions.c.key)
    .where(
        sessions.c.address == bindparam("room"),
        sessions.c.key == sessions.c.agent + "|" + sessions.c.address,
        is_word(turns.c.role, "assistant"),
        turns.c.text != literal_column("''"),
        turns.c.at >= bindparam("since"),
    )
    .order_by(turns.c.at.desc())
)


class MessageSearchStore(Base):
    """Implements `protocol.memory.finding.MessageSearch`."""

    async def messages(
        self, terms: Terms, asker: Asker, *, room: str = "", since: datetime = EVER
    ) -> list[FoundMessage]:
        return await self._driver.read(lambda: messages(terms, asker, room, since)) if terms else []


def messages(terms: Terms, asker: Asker, room: str, since: datetime) -> Op[list[FoundMessage]]:
    """Messages with a term of the query: of the room at hand, and where nobody else reads also of other rooms."""
    places = yield from _places(asker)
    if room:
        places = yield from _called(places, room)
    given = dict(_parts(terms)) | {"since": micros(since), "n": MESSAGES_LOOKED_AT // max(1, len(places)), "m": A_PLACE}
    found = []
    for place in places:
        for statement in (SAID_WITH_PARTS, ANSWERED_WITH_PARTS):
            rows = yield statement, given | {"room": str(place)}
            found += [_found(place, *row) for row in rows]
    return found


def _found(place: Address, who: str, text: str, at: int, is_bot: int) -> FoundMessage:
    """A message as the model read it: that of another program names it as a source, as in its conversation."""
    return FoundMessage(place, who, of_program(text, who) if is_bot else text, moment(at))


def _parts(terms: Terms) -> Iterator[tuple[str, str]]:
    parts = [*terms.pairs, *map(stem, terms.words)]
    for at in range(PARTS_MOST):
        yield f"part{at}", f"%{escaped(parts[at % len(parts)])}%"


def _places(asker: Asker) -> Op[list[Address]]:
    """The room at hand with its threads; and for a person who is alone there the rooms in which they spoke."""
    here = asker.room.whole_room
    threads = yield THREADS, {"room": str(here), "n": THREADS_MOST}
    found = dict.fromkeys([here, asker.room, *(Address.parse(address) for (address,) in threads)])
    reader = yield from reader_at("", asker.room, asker.person)
    if asker.person is None or reader.person is None:
        return [*found]  # others read along
    may: dict[Address, bool] = {}
    for address, _ in (yield SPOKE_IN, {"person": asker.person, "n": SPOKEN_ROOMS_MOST}):
        place = Address.parse(address)
        if place.whole_room not in may:
            may[place.whole_room] = yield from _may_read(place.whole_room, asker.person)
        if may[place.whole_room]:
            found[place] = None
    return [*found]


def _may_read(room: Address, person: PersonId) -> Op[bool]:
    """True for a private room of theirs. No platform tells of people who leave a room of several: so that may be read from within
    alone, where they just spoke."""
    if room.channel == PAGE_CHANNEL:
        return (yield from reader_at("", room, person)).person == person
    owners = yield PRIVATE_OF, {"room": str(room)}
    return {owner for (owner,) in owners} == {person}


def _called(places: Sequence[Address], room: str) -> Op[list[Address]]:
    """Places with this address, this id at their platform, or this name."""
    wanted, found = room.strip().lstrip("#").lower(), list[Address]()
    for place in places:
        given = {"channel": place.channel, "account": place.account, "room": place.room}
        names = yield NAME_OF, given
        called = {str(place), str(place.whole_room), place.room, *(name.lstrip("#") for (name,) in names)}
        if wanted in {one.lower() for one in called}:
            found.append(place)
    return found
