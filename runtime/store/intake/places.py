"""Stored facts about an account's rooms, for its adapter. Only reads, at a start or after a connection was lost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Integer, bindparam, func, literal_column, or_, select

from runtime.contract import Address, Seen
from runtime.store.common import put
from runtime.store.schema import aliases, deliveries, parts, signals
from runtime.store.schema import rooms as named_rooms
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros, moment

RECEIPTS: Final = 1000
NAMES: Final = 10_000


def _begins(column: ColumnElement[str]) -> ColumnElement[bool]:
    return func.substr(column, 1, bindparam("length", type_=Integer)) == bindparam("beginning")


def _beginning(text: str) -> Mapping[str, object]:
    return {"beginning": text, "length": len(text)}


said = (is_word(signals.c.kind, "said"), signals.c.state != literal_column("'refused'"))

# All rooms there are, each found by one look into the index behind the one before: what this costs grows with the rooms,
# not with what was ever said in them, and no text is read. An account's rooms stand side by side only in a database that
# sorts by bytes, so they are picked from all.
rooms = select(func.min(signals.c.address).label("address")).where(*said).cte("rooms", recursive=True)
next_room = select(func.min(signals.c.address)).where(*said, signals.c.address > rooms.c.address)
rooms = rooms.union_all(select(next_room.scalar_subquery()).where(rooms.c.address.is_not(None)))
newest_at = select(func.max(signals.c.accepted_at)).where(*said, signals.c.address == rooms.c.address)
each = (
    select(rooms.c.address, newest_at.scalar_subquery().label("at"))
    .where(rooms.c.address.is_not(None), _begins(rooms.c.address))
    .subquery()
)

NEWEST_HEARD = select(each.c.address, each.c.at).where(each.c.at >= bindparam("since"))
MESSAGE = (
    select(signals.c.message_id, signals.c.received_at)
    .where(*said, signals.c.address == bindparam("room"), signals.c.accepted_at == bindparam("at"))
    .order_by(signals.c.id.desc())
    .limit(1)
)
LAST_HEARD = select(func.max(each.c.at))
MOVED = select(aliases.c.room, aliases.c.moved_to).where(
    aliases.c.channel == bindparam("c"), aliases.c.account == bindparam("a")
)
RECEIPTS_SHOWN = (
    select(parts.c.receipt)
    .join(deliveries, deliveries.c.id == parts.c.delivery_id)
    .where(
        deliveries.c.created_at >= bindparam("since"),
        or_(deliveries.c.address == bindparam("room"), _begins(deliveries.c.address)),
        parts.c.receipt.is_not(None),
    )
    .order_by(parts.c.shown_at.desc())
    .limit(bindparam("n", type_=Integer))
)

UNSETTLED_ADDRESSES = (
    select(deliveries.c.address)
    .join(parts, parts.c.delivery_id == deliveries.c.id)
    .where(
        deliveries.c.channel == bindparam("c"),
        deliveries.c.account == bindparam("a"),
        is_word(deliveries.c.state, "queued", "open"),
        is_word(parts.c.state, "unsettled"),
    )
)
ROOM: Final = (named_rooms.c.channel, named_rooms.c.account, named_rooms.c.room)
SEEN_SINCE: Final = named_rooms.c.seen_at >= bindparam("since")
NAMED_ROOMS = select(*ROOM, named_rooms.c.name).where(SEEN_SINCE, named_rooms.c.name != "").limit(NAMES)
NAME_ROOM = put(named_rooms, "name", "seen_at")
SPOKEN_ROOMS = (
    select(*ROOM, named_rooms.c.language)
    .where(named_rooms.c.language != "")
    .order_by(named_rooms.c.seen_at.desc())
    .limit(NAMES)
)
SPEAK_THERE = put(named_rooms, "language", "seen_at")


def seen(channel: str, account: str, since: datetime) -> Op[list[Seen]]:
    rooms = yield NEWEST_HEARD, {**_beginning(f"{channel}:{account}/"), "since": micros(since)}
    found = []
    for address, at in rooms:
        for message_id, received_at in (yield MESSAGE, {"room": address, "at": at}):
            found.append(Seen(Address.parse(address), message_id, moment(received_at)))
    return found


def last_heard(channel: str, account: str) -> Op[datetime | None]:
    rows = yield LAST_HEARD, _beginning(f"{channel}:{account}/")
    return None if rows[0][0] is None else moment(rows[0][0])


def moved_rooms(channel: str, account: str) -> Op[dict[str, str]]:
    rows = yield MOVED, {"c": channel, "a": account}
    return dict(rows)


def receipts(address: Address, since: datetime) -> Op[list[str]]:
    room = f"{address.channel}:{address.account}/{address.room}"
    given = {"room": room, **_beginning(f"{room}/"), "since": micros(since), "n": RECEIPTS}
    rows = yield RECEIPTS_SHOWN, given
    return [row[0] for row in rows]


def unsettled(channel: str, account: str) -> Op[list[Address]]:
    rows = yield UNSETTLED_ADDRESSES, {"c": channel, "a": account}
    return [Address.parse(row[0]) for row in rows]


def room_names(since: datetime | None) -> Op[dict[Address, str]]:
    rows = yield NAMED_ROOMS, {"since": 0 if since is None else micros(since)}
    return {Address(channel, account, room): name for channel, account, room, name in rows}


def name_rooms(names: Mapping[Address, str], now: datetime) -> Op[None]:
    for one, name in names.items():
        yield NAME_ROOM, {**_of_room(one), "name": name, "language": "", "seen_at": micros(now)}


def room_languages() -> Op[dict[Address, str]]:
    rows = yield SPOKEN_ROOMS, {}
    return {Address(channel, account, room): language for channel, account, room, language in rows}


def keep_languages(languages: Mapping[Address, str], now: datetime) -> Op[None]:
    for one, language in languages.items():
        yield SPEAK_THERE, {**_of_room(one), "name": "", "language": language, "seen_at": micros(now)}


def _of_room(one: Address) -> dict[str, str]:
    return {"channel": one.channel, "account": one.account, "room": one.room}


class PlaceStore(Base):
    """Implements `contract.Places` and `roomnames.NameBook`."""

    async def room_names(self, since: datetime | None = None) -> dict[Address, str]:
        return await self._driver.read(lambda: room_names(since))

    async def name_rooms(self, names: Mapping[Address, str]) -> None:
        now = self.now()
        await self._driver.write(lambda: name_rooms(names, now))

    async def room_languages(self) -> dict[Address, str]:
        return await self._driver.read(room_languages)

    async def keep_languages(self, languages: Mapping[Address, str]) -> None:
        now = self.now()
        await self._driver.write(lambda: keep_languages(languages, now))

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        return await self._driver.read(lambda: seen(channel, account, since))

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        return await self._driver.read(lambda: last_heard(channel, account))

    async def moved(self, channel: str, account: str) -> Mapping[str, str]:
        return await self._driver.read(lambda: moved_rooms(channel, account))

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        return await self._driver.read(lambda: receipts(address, since))

    async def unsettled(self, channel: str, account: str) -> list[Address]:
        return await self._driver.read(lambda: unsettled(channel, account))
