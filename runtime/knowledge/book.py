"""Packs as tools and commands use them: which ones where, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from runtime.contract import Address
from runtime.contract.memory.facts import MemoryActor
from runtime.contract.memory.knowledge import Passage
from runtime.knowledge.packs import Packs, open_to
from runtime.knowledge.searching import PackSearch
from runtime.vectors.near import NOBODYS


class PackBook:
    """Implements `contract.memory.knowledge.KnowledgeBook`. `named` writes a room as the settings do."""

    def __init__(self, search: PackSearch, packs: Callable[[], Packs], named: Callable[[Address], str]) -> None:
        self._search, self._packs, self._named = search, packs, named

    def packs(self, agent: str, room: Address | None) -> Sequence[str]:
        return open_to(self._packs(), agent, self._named(room.whole_room) if room else "")

    async def search(
        self, query: str, packs: Collection[str], limit: int = 5, *, by: MemoryActor | None = None
    ) -> Sequence[Passage]:
        payer = (by.agent, by.room, by.person.id if by.person else None) if by else NOBODYS
        return await self._search.search(query, packs, limit, payer)
