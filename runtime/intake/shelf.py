"""Names that people give to their conversations go through the leak guard, as all that they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from runtime.contract import Address, FoundEntry, Identity, RoomMark, Shelf


class GuardedShelf:
    """Implements `contract.Shelf`. `clean` is the guard's, once there is one."""

    def __init__(self, shelf: Shelf, clean: Callable[[str], str] = str) -> None:
        self._shelf = shelf
        self.clean = clean

    async def mark_room(self, owner: Identity, address: Address, mark: RoomMark) -> None:
        if mark.title:
            mark = replace(mark, title=self.clean(mark.title))
        await self._shelf.mark_room(owner, address, mark)

    async def restore_room(self, owner: Identity, name: str, address: Address) -> bool:
        return await self._shelf.restore_room(owner, name, address)

    async def find(self, addresses: Sequence[Address], wanted: str) -> list[FoundEntry]:
        return await self._shelf.find(addresses, wanted)
