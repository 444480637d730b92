"""Rooms of programs: those of their own, and those that their token names. People at the page have those of the page."""

from __future__ import annotations

import re
from typing import Final

from adapters.web.adapter import CHANNEL
from adapters.web.rooms import ROOM_NAME
from bot.doors.callers import Caller
from bot.operator.context import OperatorContext
from runtime.contract import Address, Role, Room
from runtime.domain.ids import digest
from runtime.http.errors import Refusal

OWN_ROOM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
OWN_ROOM_ID_CHARS: Final = 24
NOT_YOURS: Final = "There is no such room for this token."
ROOM_FORM: Final = "A room is a name of your own, such as `builds`, or an address, such as `slack:work/C0123`."


class ProgramRooms:
    """Decides where a program speaks and reads. What it may not enter and what isn't there get the same answer."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def own(self, caller: Caller, name: str) -> Address:
        """A room of the page, which belongs to the program as others belong to people; a person's has the name itself."""
        if caller.at_page:
            return Address(CHANNEL, self._context.web_account, name)
        room = digest(f"{self._context.web_account} {caller.identity} {name}")[:OWN_ROOM_ID_CHARS]
        return Address(CHANNEL, self._context.web_account, room)

    async def meant(self, caller: Caller, words: str, *, begins: bool = True) -> Address:
        """The room that a program names; on the page nobody reads one that they didn't begin, unless this `begins` it.

        Errors: Refusal 403, for what isn't there too; 422 for what is no room's name.
        """
        if ":" not in words:
            if not (ROOM_NAME if caller.at_page else OWN_ROOM).fullmatch(words):
                raise Refusal(422, ROOM_FORM)
            if not caller.may_enter(words):
                raise Refusal(403, NOT_YOURS)
            return await self._free(caller, self.own(caller, words), begins=begins)
        try:
            address = await self._context.finder.room(words)
        except Refusal:
            raise Refusal(403, NOT_YOURS) from None
        if not (await self.may_read(caller, address) and await self._context.finder.is_served(address)):
            raise Refusal(403, NOT_YOURS)
        return address

    async def may_read(self, caller: Caller, address: Address) -> bool:
        """True for rooms that the token names, and for the program's own ones."""
        named = self._context.named
        if any(caller.may_enter(named(one)) for one in {address, address.whole_room}):
            return True
        if caller.at_page and self._context.is_named(address):
            return False
        if (address.channel, address.account) != (CHANNEL, self._context.web_account):
            return False
        if caller.token.rooms:
            bare = [glob for glob in caller.token.rooms if OWN_ROOM.fullmatch(glob)]
            if address in {self.own(caller, name) for name in bare}:
                return True
            if not any(":" not in glob and "*" in glob for glob in caller.token.rooms):
                return False
        return await self._context.store.history.room_owner(address) == caller.identity

    async def spoken(self, caller: Caller) -> list[Room]:
        """Rooms of the page in which the caller spoke and that it may read, newest first."""
        history, account = self._context.store.history, self._context.web_account
        rooms = await history.rooms(CHANNEL, account, caller.identity)
        if caller.at_page and caller.role < Role.OPERATOR:
            own = await history.own_rooms(CHANNEL, account, caller.identity)
            return [one for one in rooms if one.address in own and not self._context.is_named(one.address)]
        return [one for one in rooms if await self.may_read(caller, one.address)]

    async def _free(self, caller: Caller, address: Address, *, begins: bool) -> Address:
        """`address`, unless somebody else began it."""
        if caller.at_page and await self.may_read(caller, address):
            return address
        history = self._context.store.history
        if caller.at_page and (self._context.is_named(address) or not begins):
            raise Refusal(403, NOT_YOURS)
        if await history.room_owner(address) == caller.identity or await history.is_untouched(address):
            return address
        # Another message of the same caller may have begun it between these two looks.
        if await history.room_owner(address) != caller.identity:
            raise Refusal(403, NOT_YOURS)
        return address
