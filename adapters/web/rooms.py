"""Conversations: their addresses, and who may open them."""

from __future__ import annotations

import re
from typing import Final

from aiohttp import web

from adapters.web.door import Door, Visitor
from adapters.web.errors import Refusal
from runtime.contract import Address, Identity, Ledger, Role, Room

OWNERS_IN_MIND: Final = 10_000
ROOM: Final = re.compile(r"[a-z0-9]{6,32}")
UNOPENED: Final = "There is no such conversation: open one on the page and say something in it first."
NO_ROOM: Final = "There is no such conversation, or it is somebody else's."


class Rooms:
    """A room's id is chosen by the page, at random; the room belongs to whoever spoke there first."""

    def __init__(self, *, door: Door, ledger: Ledger, channel: str, account: str) -> None:
        self._door = door
        self._ledger = ledger
        self._channel = channel
        self._account = account
        self._owners: dict[Address, Identity] = {}

    async def of(self, visitor: Visitor) -> list[Room]:
        """The conversations of `visitor`, newest first."""
        return await self._ledger.rooms(self._channel, self._account, visitor.identity)

    def address(self, room: str) -> Address:
        """Errors: Refusal 404 for what is no room's name."""
        if not ROOM.fullmatch(room):
            raise Refusal(404, NO_ROOM)
        return Address(self._channel, self._account, room)

    async def open(self, request: web.Request) -> tuple[Visitor, Address]:
        """Who asks and the room of the request. Errors: Refusal 404 for a stranger's room."""
        visitor = await self._door.visitor(request)
        address = self.address(request.match_info["room"])
        if visitor.person.role < Role.OPERATOR and await self._owner(address) not in (None, visitor.identity):
            raise Refusal(404, NO_ROOM)
        return visitor, address

    async def reach(self, address: Address) -> str | None:
        """Why nothing can be read there: a conversation begins when somebody speaks."""
        if ROOM.fullmatch(address.room) and await self._owner(address) is not None:
            return None
        return UNOPENED

    async def _owner(self, address: Address) -> Identity | None:
        """Kept in mind once there is one, since that never changes."""
        known = self._owners.get(address)
        if known is None and (known := await self._ledger.room_owner(address)) is not None:
            self._owners[address] = known
            if len(self._owners) > OWNERS_IN_MIND:
                del self._owners[next(iter(self._owners))]
        return known

    async def open_to_write(self, request: web.Request) -> tuple[Visitor, Address]:
        """The same for a request that says or changes something. Errors: Refusal 403 for a viewer."""
        visitor, address = await self.open(request)
        visitor.must_be_able_to_write()
        return visitor, address
