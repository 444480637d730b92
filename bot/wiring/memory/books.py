"""Books of memory for tools, and what gives runs what was kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.settings.memory import MemorySection
from runtime.agent.duties.remembering import Giving, Remembering
from runtime.agent.duties.renewing import DueSummaries, SummaryRenewal
from runtime.agent.registry import Agents
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import MEMORIES
from runtime.contract import Tool
from runtime.contract.memory.embedding import Embedder
from runtime.contract.memory.facts import Kept, MemoryActor, MemoryBook, MemoryRequest
from runtime.contract.memory.values import StateBook
from runtime.guard.door import Door
from runtime.memory.book import ToolMemories
from runtime.memory.recalling import Recalling
from runtime.memory.values import ToolValues
from runtime.store.store import Store
from tools.remembering.catalogue import remembering_tools


class AnnouncedMemories(ToolMemories):
    """Memories for tools that tell this node and the others when something is kept."""

    def __init__(self, notifier: LocalNotifier, store: Store, search: Recalling, door: Callable[[], Door]) -> None:
        super().__init__(memories=store.memories, recalling=search, door=door)
        self._notifier = notifier

    async def remember(self, wanted: MemoryRequest, by: MemoryActor) -> Kept:
        kept = await super().remember(wanted, by)
        self._notifier.notify(MEMORIES)
        return kept


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Memories and values for tools, and what gives runs some of them unasked."""

    book: MemoryBook
    values: StateBook
    remembering: Remembering
    due: DueSummaries


def memory_of(
    settings: MemorySection, store: Store, notifier: LocalNotifier, door: Callable[[], Door], search: Recalling
) -> MemoryParts | None:
    """None where memory is off."""
    if not settings.enabled:
        return None
    book = AnnouncedMemories(notifier, store, search, door)
    due = DueSummaries(store.now)
    return MemoryParts(
        book,
        ToolValues(values=store.state_values, readers=store.memories, door=door),
        Remembering(
            memories=store.memories,
            finds=search,
            summaries=store.person_summaries,
            book=book,
            rung=notifier.listen(MEMORIES),
            now=store.now,
            giving=Giving(settings.given, settings.given_tokens, settings.proposals),
            due=due,
        ),
        due,
    )


def renewal_of(parts: MemoryParts, store: Store, agents: Agents, door: Callable[[], Door]) -> SummaryRenewal:
    return SummaryRenewal(
        due=parts.due, summaries=store.person_summaries, costs=store.embedding_costs, agents=agents, door=door
    )


def search_of(store: Store, embedder: Callable[[], Embedder | None] = lambda: None) -> Recalling:
    """The search by words, and by meaning where there is a model of embeddings."""
    return Recalling(
        search=store.memory_search,
        vectors=store.memory_vectors,
        messages=store.message_search,
        costs=store.embedding_costs,
        embedder=embedder,
        now=store.now,
    )


def tools_of(parts: MemoryParts) -> list[Tool]:
    return remembering_tools(parts.book, parts.values)
