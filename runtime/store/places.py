"""What is stored about an account's rooms, for its adapter. Only reads, at a start or after a connection was lost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, func, literal_column, or_, select

from runtime.contract import Address, Seen
from runtime.store.base import Base
from runtime.store.driver import Op, is_word, micros, moment
from runtime.store.schema import aliases, deliveries, parts, signals

RECEIPTS: Final = 1000
BEHIND: Final = "0"  # the character behind "/", so that a range holds an account's addresses and no other's

said = (is_word(signals.c.kind, "said"), signals.c.state != literal_column("'refused'"))
of_account = (signals.c.address >= bindparam("low"), signals.c.address < bindparam("high"))
NEWEST = (
    select(signals.c.address, func.max(signals.c.accepted_at))
    .where(*said, *of_account)
    .group_by(signals.c.address)
    .having(func.max(signals.c.accepted_at) >= bindparam("since"))
)
MESSAGE = (
    select(signals.c.message_id, signals.c.received_at)
    .where(*said, signals.c.address == bindparam("room"), signals.c.accepted_at == bindparam("at"))
    .order_by(signals.c.id.desc())
    .limit(1)
)
LAST_HEARD = select(func.max(signals.c.accepted_at)).where(*said, *of_account)
MOVED = select(aliases.c.room, aliases.c.moved_to).where(
    aliases.c.channel == bindparam("c"), aliases.c.account == bindparam("a")
)
SHOWN = (
    select(parts.c.receipt)
    .join(deliveries, deliveries.c.id == parts.c.delivery_id)
    .where(
        or_(
            deliveries.c.address == bindparam("room"),
            (deliveries.c.address >= bindparam("low")) & (deliveries.c.address < bindparam("high")),
        ),
        deliveries.c.created_at >= bindparam("since"),
        parts.c.receipt.is_not(None),
    )
    .order_by(parts.c.shown_at.desc())
    .limit(bindparam("n", type_=Integer))
)


def _all_of(channel: str, account: str) -> Mapping[str, object]:
    return {"low": f"{channel}:{account}/", "high": f"{channel}:{account}{BEHIND}"}


def seen(channel: str, account: str, since: datetime) -> Op[list[Seen]]:
    rooms = yield NEWEST, {**_all_of(channel, account), "since": micros(since)}
    found = []
    for address, at in rooms:
        for message_id, received_at in (yield MESSAGE, {"room": address, "at": at}):
            found.append(Seen(Address.parse(address), message_id, moment(received_at)))
    return found


def last_heard(channel: str, account: str) -> Op[datetime | None]:
    rows = yield LAST_HEARD, _all_of(channel, account)
    return None if rows[0][0] is None else moment(rows[0][0])


def moved_rooms(channel: str, account: str) -> Op[dict[str, str]]:
    rows = yield MOVED, {"c": channel, "a": account}
    return dict(rows)


def receipts(address: Address, since: datetime) -> Op[list[str]]:
    room = f"{address.channel}:{address.account}/{address.room}"
    given = {"room": room, "low": f"{room}/", "high": f"{room}{BEHIND}", "since": micros(since), "n": RECEIPTS}
    rows = yield SHOWN, given
    return [row[0] for row in rows]


class PlaceStore(Base):
    """Implements `contract.Places`."""

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        return await self._driver.read(lambda: seen(channel, account, since))

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        return await self._driver.read(lambda: last_heard(channel, account))

    async def moved(self, channel: str, account: str) -> Mapping[str, str]:
        return await self._driver.read(lambda: moved_rooms(channel, account))

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        return await self._driver.read(lambda: receipts(address, since))
