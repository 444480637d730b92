"""Conversations: their addresses, and who may open them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from aiohttp import web

from runtime.contract import Address, History, Identity, Role
from runtime.http.authentication import Authenticator, Visitor
from runtime.http.errors import Refusal
from runtime.text.words import heard_at, marked

OWNERS_IN_MIND: Final = 10_000
ROOM_NAME: Final = re.compile(r"[a-z0-9]{6,32}")
INBOX_PLACE: Final = "inbox"
UNOPENED: Final = marked("There is no such conversation. Open one on the page and say something in it first.")
NO_ROOM: Final = marked("There is no such conversation, or it is somebody else's.")

IsNamed = Callable[[Address], bool]
"""Whether the settings send something to this room."""


def nothing_named(address: Address) -> bool:
    """Answer where no settings name a room."""
    return False


class Rooms:
    """Decides who reads and writes in which room.

    A room's id is chosen by the page, at random. Its first sender owns it, unless the settings name it or something was
    posted there before: such a room belongs to the operators, who read every room. Nobody else sees a room without owner.
    """

    def __init__(
        self,
        *,
        authenticator: Authenticator,
        history: History,
        channel: str,
        account: str,
        is_named: IsNamed = nothing_named,
    ) -> None:
        self._authenticator = authenticator
        self._history = history
        self._channel = channel
        self._account = account
        self.is_named = is_named
        self._owners: dict[Address, Identity] = {}

    def address(self, room: str) -> Address:
        """Errors: Refusal 404 for what is no room's name."""
        if not ROOM_NAME.fullmatch(room):
            raise Refusal(404, NO_ROOM)
        return Address(self._channel, self._account, room)

    @property
    def inbox(self) -> Address:
        """Address of presses in an inbox. No room is called so: it is too short for a name."""
        return Address(self._channel, self._account, INBOX_PLACE)

    async def open(self, request: web.Request, *, fresh: bool = False) -> tuple[Visitor, Address]:
        """Visitor and room of the request, as of this very moment if `fresh`.

        Errors: Refusal 404 for a room that is not theirs to read.
        """
        visitor = await self._authenticator.visitor(request, fresh=fresh)
        address = self.address(request.match_info["room"])
        if not await self._may_read(visitor, address):
            raise Refusal(404, NO_ROOM)
        if self._owners.get(address) == visitor.identity:
            heard_at(address)
        return visitor, address

    async def open_to_change(self, request: web.Request) -> tuple[Visitor, Address]:
        """Visitor and room of a request that changes something. Errors: Refusal 403 for a viewer."""
        visitor, address = await self.open(request)
        visitor.must_be_able_to_write()
        return visitor, address

    async def open_to_write(self, request: web.Request) -> tuple[Visitor, Address]:
        """Visitor and room of a message or file, which may begin a conversation."""
        visitor = await self._authenticator.visitor(request)
        address = self.address(request.match_info["room"])
        if not (await self._may_read(visitor, address) or await self._may_begin(address)):
            raise Refusal(404, NO_ROOM)
        visitor.must_be_able_to_write()
        heard_at(address)
        return visitor, address

    async def reach(self, address: Address) -> str | None:
        """The reason nothing can be posted there, or None: a room opens when somebody speaks or the settings name it."""
        return await reach(self._history, self.is_named, address)

    async def _may_read(self, visitor: Visitor, address: Address) -> bool:
        if visitor.person.role >= Role.OPERATOR:
            return True
        return not self.is_named(address) and await self._is_owner(visitor.identity, address)

    async def _may_begin(self, address: Address) -> bool:
        return not self.is_named(address) and await self._history.is_untouched(address)

    async def _is_owner(self, who: Identity, address: Address) -> bool:
        """Kept in mind for whom it is true. Who is not in mind is asked about anew: two people may have become one."""
        if self._owners.get(address) != who:
            if await self._history.room_owner(address) != who:
                return False
            self._owners[address] = who
            if len(self._owners) > OWNERS_IN_MIND:
                del self._owners[next(iter(self._owners))]
        return True


async def reach(history: History, is_named: IsNamed, address: Address) -> str | None:
    """The reason nothing can be posted in a room of the page, or None. Also serves commands while no process runs."""
    there = ROOM_NAME.fullmatch(address.room) and (is_named(address) or not await history.is_untouched(address))
    return None if there else UNOPENED
