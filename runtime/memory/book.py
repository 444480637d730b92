"""Memories for tools: what is kept passes the leak guard, what is read is read for whoever asks, and uses are noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from runtime.contract.memory.facts import FoundMessage, Kept, Memory, MemoryActor, MemoryRequest, Reader, Recalled
from runtime.contract.people import Address, PersonId, RunId
from runtime.domain.memory.keeping import fault_of, refusal_of_scope
from runtime.domain.memory.scopes import may_read
from runtime.errors import ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol.memory.memories import Use

Got = TypeVar("Got")
ABOUT_DEPTH_MAX: Final = 2
RECALLED: Final = "recalled"
ABOUT: Final = "found by a name"
TOLD_PARTS: Final = ("text", "subject", "relation", "object")


class Keeps(Protocol):
    """Memories in the store. What could not be done comes back as words."""

    async def reader_at(self, agent: str, room: Address, person: PersonId | None) -> Reader: ...

    async def keep_said(self, wanted: MemoryRequest, by: MemoryActor) -> Kept | str: ...

    async def forget(self, words: str, by: MemoryActor) -> list[Memory] | str: ...

    async def about(self, reader: Reader, entity: str, depth: int) -> list[Memory]: ...

    async def record_uses(self, run: RunId, uses: Sequence[Use], *, accepts: bool = False) -> None: ...


class Recalling(Protocol):
    """The search for memories and messages."""

    async def recall(
        self, query: str, reader: Reader, *, about: str = "", since: datetime | None = None, limit: int = 10
    ) -> list[Recalled]: ...

    async def search_messages(
        self, query: str, by: MemoryActor, *, room: str = "", since: datetime | None = None
    ) -> list[FoundMessage]: ...


class ToolMemories:
    """Implements `contract.MemoryBook`."""

    def __init__(self, *, memories: Keeps, recalling: Recalling, door: Callable[[], Door]) -> None:
        self._memories = memories
        self._recalling = recalling
        self._door = door

    async def remember(self, wanted: MemoryRequest, by: MemoryActor) -> Kept:
        if fault := fault_of(wanted) or refusal_of_scope(wanted.scope, by):  # before the guard reads all of it
            raise ToolRetry(fault)
        kept = done(await self._memories.keep_said(self._cleaned(wanted, by.room), by))
        reader = await self._reader(by)
        return replace(kept, read_here=may_read(reader, kept.memory.agent, kept.memory.scope))

    async def recall(
        self, query: str, by: MemoryActor, *, about: str = "", since: datetime | None = None, limit: int = 10
    ) -> list[Recalled]:
        reader = await self._reader(by)
        found = await self._recalling.recall(query, reader, about=about, since=since, limit=limit)
        uses = [Use(one.memory.id, rank, f"{RECALLED}: {one.why}") for rank, one in enumerate(found, 1)]
        await self._note(uses, by, accepts=by.person is not None)
        return found

    async def about(self, entity: str, by: MemoryActor, *, depth: int = 1) -> list[Memory]:
        found = await self._memories.about(await self._reader(by), entity, min(max(depth, 1), ABOUT_DEPTH_MAX))
        await self._note([Use(one.id, rank, ABOUT) for rank, one in enumerate(found, 1)], by)
        return found

    async def forget(self, words: str, by: MemoryActor) -> list[Memory]:
        return done(await self._memories.forget(words, by))

    async def search_messages(
        self, query: str, by: MemoryActor, *, room: str = "", since: datetime | None = None
    ) -> list[FoundMessage]:
        return await self._recalling.search_messages(query, by, room=room, since=since)

    async def _reader(self, by: MemoryActor) -> Reader:
        reader = await self._memories.reader_at(by.agent, by.room, by.person.id if by.person else None)
        return reader.narrowed(by.kinds)

    async def _note(self, uses: Sequence[Use], by: MemoryActor, *, accepts: bool = False) -> None:
        """Note what a run found. What was proposed and is of use to a person counts as said from then on."""
        if by.run_id and uses:
            await self._memories.record_uses(by.run_id, uses, accepts=accepts)

    def _cleaned(self, wanted: MemoryRequest, room: Address) -> MemoryRequest:
        door = self._door()
        parts: dict[str, Any] = {
            name: door.clean(getattr(wanted, name), Gate.MEMORY_WRITE, door.room(room)) for name in TOLD_PARTS
        }
        return replace(wanted, **parts)


def done(found: Got | str) -> Got:
    """Outcome of a call of the store. Errors: ToolRetry with its words where it did nothing."""
    if isinstance(found, str):
        raise ToolRetry(found)
    return found
