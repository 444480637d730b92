"""Rooms that people name in arguments of tools."""

from __future__ import annotations

from typing import Final, Protocol

from runtime.contract import Address
from runtime.errors import Retryable, ToolRetry


class Rooms(Protocol):
    """Rooms as people write them: `slack:work/C024BE91L`. None where no account has one. Errors: ValueError for no address."""

    def known(self, text: str) -> Address | None:
        """As far as that is known at once: for a card."""

    async def found(self, text: str) -> Address | None:
        """Once its account is connected. Errors: Retryable tells why it isn't."""


class WrittenRooms:
    """Rooms by their stored addresses, for a process without accounts."""

    def known(self, text: str) -> Address | None:
        return Address.parse(text)

    async def found(self, text: str) -> Address | None:
        return Address.parse(text)


AS_STORED: Final = WrittenRooms()


async def room_at(text: str, rooms: Rooms) -> Address:
    """The room that a call names. Errors: ToolRetry for what is none, and for one whose account isn't connected."""
    try:
        found = await rooms.found(text.strip())
    except (ValueError, Retryable) as error:
        raise ToolRetry(str(error)) from error
    if found is None:
        raise ToolRetry(f"No account here matches {text!r}. Write a room as channel:account/room.")
    return found


def known_room(text: str, rooms: Rooms) -> Address | None:
    """The room that a card tells of, where it can be told at once."""
    try:
        return rooms.known(text.strip())
    except ValueError:
        return None
