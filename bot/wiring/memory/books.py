"""Books of memory for tools, and what gives runs what was kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.settings.memory import MemorySection
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import MEMORIES
from runtime.contract import Tool
from runtime.contract.memory.facts import MemoryBook
from runtime.contract.memory.values import StateBook
from runtime.guard.door import Door
from runtime.store.store import Store
from runtime.vectors.near import NearRows

if TYPE_CHECKING:
    from runtime.agent.duties.remembering import Remembering
    from runtime.agent.duties.renewing import DueSummaries, SummaryRenewal
    from runtime.agent.registry import Agents
    from runtime.memory.recalling import Recalling


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Memories and values for tools, and what gives runs some of them unasked."""

    book: MemoryBook
    values: StateBook
    remembering: Remembering
    due: DueSummaries


def memory_of(
    settings: MemorySection, store: Store, notifier: LocalNotifier, door: Callable[[], Door], meaning: NearRows
) -> MemoryParts | None:
    """None where memory is off: then nothing of it is loaded."""
    if not settings.enabled:
        return None
    from bot.wiring.memory.announced import AnnouncedMemories
    from runtime.agent.duties.remembering import Giving, Remembering
    from runtime.agent.duties.renewing import DueSummaries
    from runtime.memory.values import ToolValues

    search = search_of(store, meaning)
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
    """Renews the summaries of people who want that."""
    from runtime.agent.duties.renewing import SummaryRenewal

    return SummaryRenewal(
        due=parts.due, summaries=store.person_summaries, costs=store.embedding_costs, agents=agents, door=door
    )


def search_of(store: Store, meaning: NearRows) -> Recalling:
    """The search by words, and by meaning where there is a model of embeddings."""
    from runtime.memory.recalling import Recalling

    return Recalling(
        search=store.memory_search,
        vectors=store.memory_vectors,
        messages=store.message_search,
        meaning=meaning,
        now=store.now,
    )


def tools_of(parts: MemoryParts) -> list[Tool]:
    from tools.remembering.catalogue import remembering_tools

    return remembering_tools(parts.book, parts.values)
