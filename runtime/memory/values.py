"""Values for tools: each in a scope that may be read where the run is, and past the leak guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from runtime.contract.memory.facts import MemoryActor, Reader, Scope, ScopeKind
from runtime.contract.memory.values import StateValue
from runtime.contract.people import Address, PersonId
from runtime.domain.memory.keeping import refusal_of_scope, scope_of
from runtime.domain.memory.scopes import may_read
from runtime.domain.memory.values import fault_of_value
from runtime.errors import ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.memory.book import done

NOT_PRIVATE: Final = "Values of a person are read and kept in their private rooms alone. Use the room's own."


class Values(Protocol):
    async def get(self, agent: str, scope: Scope, key: str) -> StateValue | None: ...

    async def put_value(
        self, agent: str, scope: Scope, key: str, value: str, *, expected: int | None = None
    ) -> StateValue | str: ...

    async def listed(self, agent: str, scope: Scope, prefix: str = "") -> list[StateValue]: ...

    async def delete_value(self, agent: str, scope: Scope, key: str) -> bool: ...


class Readers(Protocol):
    async def reader_at(self, agent: str, room: Address, person: PersonId | None) -> Reader: ...


class ToolValues:
    """Implements `contract.StateBook`."""

    def __init__(self, *, values: Values, readers: Readers, door: Callable[[], Door]) -> None:
        self._values = values
        self._readers = readers
        self._door = door

    async def get(self, key: str, scope: ScopeKind, by: MemoryActor) -> StateValue | None:
        agent, place = await self._readable(scope, by)
        return await self._values.get(agent, place, key)

    async def put(
        self, key: str, value: str, scope: ScopeKind, by: MemoryActor, *, expected: int | None = None
    ) -> StateValue:
        if fault := fault_of_value(key, value):
            raise ToolRetry(fault)
        agent, place = await self._own(scope, by)
        return done(
            await self._values.put_value(agent, place, self._clean(key, by), self._clean(value, by), expected=expected)
        )

    async def listed(self, prefix: str, scope: ScopeKind, by: MemoryActor) -> Sequence[StateValue]:
        agent, place = await self._readable(scope, by)
        return await self._values.listed(agent, place, prefix)

    async def delete(self, key: str, scope: ScopeKind, by: MemoryActor) -> bool:
        agent, place = await self._own(scope, by)
        return await self._values.delete_value(agent, place, key)

    async def _readable(self, scope: ScopeKind, by: MemoryActor) -> tuple[str, Scope]:
        if scope is not ScopeKind.ALL:
            return await self._own(scope, by)
        _check(scope, by)
        return "", Scope(scope)

    async def _own(self, scope: ScopeKind, by: MemoryActor) -> tuple[str, Scope]:
        """Agent and scope, where what is kept there may also be read here."""
        _check(scope, by)
        place = done(scope_of(scope, by))
        reader = await self._readers.reader_at(by.agent, by.room, by.person.id if by.person else None)
        if not may_read(reader, by.agent, place):
            raise ToolRetry(NOT_PRIVATE)
        return by.agent, place

    def _clean(self, text: str, by: MemoryActor) -> str:
        door = self._door()
        return door.clean(text, Gate.MEMORY_WRITE, door.room(by.room))


def _check(scope: ScopeKind, by: MemoryActor) -> None:
    """Errors: ToolRetry where the agent hasn't got that scope."""
    if refusal := refusal_of_scope(scope, by):
        raise ToolRetry(refusal)
