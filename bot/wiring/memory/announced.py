"""Memories for tools that tell this node and the others when something is kept."""

from __future__ import annotations

from collections.abc import Callable

from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import MEMORIES
from runtime.contract.memory.facts import Kept, MemoryActor, MemoryRequest
from runtime.guard.door import Door
from runtime.memory.book import ToolMemories
from runtime.memory.recalling import Recalling
from runtime.store.store import Store


class AnnouncedMemories(ToolMemories):
    def __init__(self, notifier: LocalNotifier, store: Store, search: Recalling, door: Callable[[], Door]) -> None:
        super().__init__(memories=store.memories, recalling=search, door=door)
        self._notifier = notifier

    async def remember(self, wanted: MemoryRequest, by: MemoryActor) -> Kept:
        kept = await super().remember(wanted, by)
        self._notifier.notify(MEMORIES)
        return kept
