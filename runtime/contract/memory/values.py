"""Values that programs and long work keep under a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from runtime.contract.memory.facts import MemoryActor, ScopeKind


@dataclass(frozen=True, slots=True)
class StateValue:
    """A value as JSON text, at most 64 KiB. `version` grows by one with each change."""

    key: str
    value: str
    version: int
    changed_at: datetime


class StateBook(Protocol):
    """Values for tools, at most 1,000 in a scope. What is refused is a ToolRetry with words for the model."""

    async def get(self, key: str, scope: ScopeKind, by: MemoryActor) -> StateValue | None: ...

    async def put(
        self, key: str, value: str, scope: ScopeKind, by: MemoryActor, *, expected: int | None = None
    ) -> StateValue:
        """Set a value; with `expected` only where that is its version now (0: where there is none)."""

    async def listed(self, prefix: str, scope: ScopeKind, by: MemoryActor) -> Sequence[StateValue]:
        """Values whose key begins so, by key."""

    async def delete(self, key: str, scope: ScopeKind, by: MemoryActor) -> bool: ...
