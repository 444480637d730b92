"""Packs of documents for operators: their sizes and faults, and what a search finds in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from bot.wiring.knowledge.packs import search_of
from runtime.http.errors import Refusal
from runtime.knowledge.searching import PackSearch
from runtime.store.protocol.memory.knowledge import NO_PARTS, Knowledge
from runtime.vectors.near import NOBODYS

FOUND_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class KnowledgeOperations:
    """Packs as operators call things. `mask` hides secrets in what was read."""

    store: Knowledge
    search: PackSearch
    mask: Callable[[str], str]

    async def listed(self) -> list[View]:
        """Packs that have been read, by name."""
        return [
            {
                "pack": one.pack,
                "documents": one.documents,
                "characters": one.characters,
                "parts": one.parts,
                "vectors": one.vectors,
                "faults": one.faults,
                "read_at": at(one.read_at),
            }
            for one in await self.store.counts()
        ]

    async def shown(self, pack: str) -> list[View]:
        """Documents of a pack, by place."""
        await self._check(pack)
        found = await self.store.documents(pack)
        parts = await self.store.parts(pack)
        return [
            {
                "place": self.mask(one.place),
                "title": self.mask(one.title),
                "characters": one.characters,
                "parts": parts.get(one.id, NO_PARTS).parts,
                "vectors": parts.get(one.id, NO_PARTS).vectors,
                "fault": self.mask(one.fault),
                "read_at": at(one.read_at),
            }
            for one in found
        ]

    async def searched(self, query: str, pack: str) -> list[View]:
        """The best passages of a pack, or of all."""
        if not query.strip():
            raise Refusal(400, "Say what to look for: words that the passage would have.")
        if pack:
            await self._check(pack)
        packs = [pack] if pack else [one.pack for one in await self.store.counts()]
        found = await self.search.search(query, packs, FOUND_MAX, NOBODYS)
        return [
            {
                "pack": one.pack,
                "cited": self.mask(one.cited),
                "heading": self.mask(one.heading),
                "text": self.mask(one.text),
                "score": one.score,
            }
            for one in found
        ]

    async def _check(self, pack: str) -> None:
        """Errors: Refusal names the packs there are."""
        known = [one.pack for one in await self.store.counts()]
        if pack in known:
            return
        there = (
            f"Read so far: {', '.join(known)}."
            if known
            else "None has been read; `[[knowledge]]` in the settings names packs."
        )
        raise Refusal(404, f"No pack called {pack[:64]!r} has been read. {there}")


@by_role
class KnowledgeApi(PartialApi):
    """Packs of documents, and a search in them."""

    async def knowledge(self) -> list[View]:
        """Packs of documents that have been read."""
        return await self._knowledge.listed()

    async def knowledge_documents(self, name: str) -> list[View]:
        return await self._knowledge.shown(name)

    async def search_knowledge(self, query: str, pack: str = "") -> list[View]:
        """The best passages for a query, as an agent would find them."""
        return await self._knowledge.searched(query, pack)

    @property
    def _knowledge(self) -> KnowledgeOperations:
        search = search_of(self._store, self._context.meaning)
        return KnowledgeOperations(self._store.knowledge, search, self._context.mask)
