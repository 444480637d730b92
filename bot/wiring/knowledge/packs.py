"""Packs of documents, their reader and the tool that searches them."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from bot.settings.settings import Settings
from bot.wiring.memory.embedder import meaning_of
from bot.wiring.safety.egress import egress_of
from runtime.contract import Address, Now, Tool
from runtime.contract.memory.knowledge import KnowledgeBook
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.knowledge.book import PackBook
from runtime.knowledge.packs import TEXT_MAX_BYTES, Packs
from runtime.knowledge.pages import PackPages
from runtime.knowledge.reading import KnowledgeReader
from runtime.knowledge.searching import PackSearch
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import Knowledge
from runtime.store.store import Store
from runtime.vectors.near import NearRows
from tools.documents.kinds import is_document
from tools.documents.reader import DocumentReader
from tools.knowledge import knowledge_tools
from tools.web.bodies import Body, text_of

PAGES: Final = ("text/html", "application/xhtml+xml")


def packs_of(settings: Settings) -> Packs:
    return {table.name: table.pack() for table in settings.knowledge}


def search_of(store: Store, meaning: NearRows | None = None) -> PackSearch:
    """The search by words, and by meaning where there is a model of embeddings."""
    return PackSearch(store.knowledge, store.knowledge_vectors, meaning or meaning_of(store, None))


def book_of(settings: Settings, search: PackSearch, named: Callable[[Address], str]) -> PackBook:
    packs = packs_of(settings)
    return PackBook(search, lambda: packs, named)


def tools_of(settings: Settings, book: KnowledgeBook) -> Mapping[str, Tool]:
    """The tool that searches packs, where there is one."""
    return {tool.spec.name: tool for tool in knowledge_tools(book)} if settings.knowledge else {}


def reader_of(
    settings: Settings, store: Knowledge, door: Door, take: Callable[[str], Awaitable[Duty | None]], now: Now
) -> KnowledgeReader:
    packs = packs_of(settings)
    return KnowledgeReader(
        store=store,
        packs=lambda: packs,
        pages=PackPages(egress_of(settings)),
        text_of=document_text,
        clean=partial(door.clean, gate=Gate.MEMORY_WRITE),
        take=take,
        now=now,
    )


async def document_text(data: bytes, media: str, place: str) -> str | None:
    """The text of a file or a page; None for what is no text. Errors: ToolFailed for a page or a document that can't be read."""
    if is_document(data, place, media):
        return await DocumentReader().read_bytes(data, place, media=media, most=TEXT_MAX_BYTES, headed=True)
    guessed = "" if media else mimetypes.guess_type(place)[0] or ""
    kind = media or (guessed if guessed in PAGES else "")
    return await text_of(Body.of(data, kind, place), most=TEXT_MAX_BYTES)
