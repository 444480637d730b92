"""Packs of documents, and the tool that searches them. Their reader is loaded where there are some: `reader` beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.settings.settings import Settings
from bot.wiring.memory.embedder import meaning_of
from runtime.contract import Address, Tool
from runtime.contract.memory.knowledge import KnowledgeBook
from runtime.knowledge.book import PackBook
from runtime.knowledge.packs import Packs
from runtime.knowledge.searching import PackSearch
from runtime.store.store import Store
from runtime.vectors.near import NearRows
from tools.knowledge import knowledge_tools


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
