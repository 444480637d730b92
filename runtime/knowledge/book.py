"""Packs as tools and commands use them: which ones where, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from runtime.contract import Address
from runtime.contract.memory.knowledge import Passage
from runtime.knowledge.packs import Packs, open_to
from runtime.store.protocol.memory.knowledge import Knowledge


class PackBook:
    """Implements `contract.memory.knowledge.KnowledgeBook`. `named` writes a room as the settings do."""

    def __init__(self, store: Knowledge, packs: Callable[[], Packs], named: Callable[[Address], str]) -> None:
        self._store, self._packs, self._named = store, packs, named

    def packs(self, agent: str, room: Address | None) -> Sequence[str]:
        return open_to(self._packs(), agent, self._named(room.whole_room) if room else "")

    async def search(self, query: str, packs: Collection[str], limit: int = 5) -> Sequence[Passage]:
        return await self._store.search(query, packs, limit) if packs and query.strip() else []
