"""Memories as books, commands and operators see them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from runtime.contract import NewId
from runtime.contract.memory.facts import (
    Kept,
    Memory,
    MemoryActor,
    MemoryId,
    MemoryRequest,
    Reader,
    Scope,
    ScopeKind,
    Trust,
)
from runtime.contract.people import Address, PersonId, RunId, SessionKey
from runtime.domain.approvals import Rights
from runtime.domain.ids import derived
from runtime.domain.memory.keeping import scope_of, trust_of
from runtime.store.memory.accepting import accept, accepted, pin
from runtime.store.memory.forgetting import called, forget, forget_own, remove_ids
from runtime.store.memory.graph import about
from runtime.store.memory.keeping import Keeping, is_of_child, keep
from runtime.store.memory.listed import listed, readable
from runtime.store.memory.overview import counts, is_used
from runtime.store.memory.readers import has_any, reader_at
from runtime.store.memory.rows import TAKEN_OVER, Row
from runtime.store.memory.uses import last_uses, record_uses, uses_of
from runtime.store.memory.why import forgotten_at, why
from runtime.store.protocol.memory.memories import Use, UsedMemory, Why
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op

OPERATORS_APPROVE: Final = Rights()
"""Rights without a list of approvers."""


class MemoryStore(Base):
    """Implements `protocol.memory.Memories`."""

    async def reader_at(self, agent: str, room: Address, person: PersonId | None) -> Reader:
        return await self._driver.read(lambda: reader_at(agent, room, person))

    async def has_any(self, reader: Reader) -> bool:
        return await self._driver.read(lambda: has_any(reader))

    async def keep_said(self, wanted: MemoryRequest, by: MemoryActor) -> Kept | str:
        now, memory = self.now(), _id_of(by, self._new_id)
        scope = scope_of(wanted.scope, by)
        if isinstance(scope, str):
            return scope
        asked = replace(wanted, trust=trust_of(wanted.trust, by.person))
        new = Keeping(
            *(memory, asked, by.agent, scope, by.person.id if by.person else None),
            actor=by.person.name if by.person else by.agent,
            run=by.run_id,
            step=by.step,
        )

        def make() -> Op[Kept | str]:
            is_childs = yield from is_of_child(by.session)
            return (yield from keep(replace(new, wanted=replace(asked, trust=Trust.LOW)) if is_childs else new, now))

        return await self._driver.write(make)

    async def keep_given(
        self, wanted: MemoryRequest, agent: str, scope: Scope, *, actor: str, origin: str = ""
    ) -> Kept | str:
        now, owner = self.now(), "" if scope.kind is ScopeKind.ALL else agent
        signal = f"{TAKEN_OVER}{origin}" if origin else None
        new = Keeping(self._new_id(), replace(wanted, scope=scope.kind), owner, scope, None, actor, signal=signal)
        return await self._driver.write(lambda: keep(new, now))

    async def forget(self, words: str, by: MemoryActor) -> list[Memory] | str:
        now = self.now()
        return await self._driver.write(lambda: forget(words, by, now))

    async def forget_own(self, by: MemoryActor) -> int:
        now = self.now()
        return await self._driver.write(lambda: forget_own(by, now))

    async def remove(self, ids: Collection[MemoryId], *, actor: str) -> list[Memory]:
        now = self.now()
        return await self._driver.write(lambda: remove_ids(ids, actor, now))

    async def accept(self, memory: str, by: MemoryActor, rights: Rights = OPERATORS_APPROVE) -> Memory | str:
        now = self.now()
        return await self._driver.write(lambda: accept(memory, by, rights, now))

    async def pin(self, memory: str, by: MemoryActor, *, on: bool) -> Memory | str:
        now = self.now()
        return await self._driver.write(lambda: pin(memory, by, now, on=on))

    async def approve(self, memory: MemoryId, *, actor: str) -> Memory | str:
        now = self.now()
        return await self._driver.write(lambda: accepted(memory, None, actor, now))

    async def readable(
        self, reader: Reader, *, trust: Trust | None = None, past: bool = False, limit: int = 50
    ) -> list[Memory]:
        now = self.now()
        return await self._driver.read(lambda: readable(reader, trust, past, limit, now))

    async def listed(
        self,
        *,
        agent: str | None = None,
        scope: Scope | None = None,
        past: bool = False,
        before: str = "",
        limit: int = 100,
    ) -> list[Memory]:
        now = self.now()
        return await self._driver.read(lambda: listed(agent, scope, past, before, limit, now))

    async def is_used(self) -> bool:
        return await self._driver.read(is_used)

    async def counts(self) -> list[tuple[str, Scope, int]]:
        """Count the current rows of each agent in each scope."""
        now = self.now()
        return await self._driver.read(lambda: counts(now))

    async def about(self, reader: Reader, entity: str, depth: int = 1) -> list[Memory]:
        now = self.now()
        return await self._driver.read(lambda: about(reader, entity, depth, now))

    async def memory(self, memory: str) -> Memory | None:
        def find() -> Op[Row | None]:
            return called(memory)

        found = await self._driver.read(find)
        return found and found.memory

    async def record_uses(self, run: RunId, uses: Sequence[Use], *, accepts: bool = False) -> None:
        now = self.now()
        await self._driver.write(lambda: record_uses(run, uses, now, accepts=accepts))

    async def uses_of(self, run: RunId) -> list[UsedMemory]:
        return await self._driver.read(lambda: uses_of(run))

    async def last_uses(self, session: SessionKey) -> tuple[RunId, list[UsedMemory]] | None:
        return await self._driver.read(lambda: last_uses(session))

    async def why(self, run: RunId, by: MemoryActor) -> Why:
        now = self.now()
        return await self._driver.read(lambda: why(run, by, now))

    async def forgotten_at(self, memory: str) -> datetime | None:
        return await self._driver.read(lambda: forgotten_at(memory))


def _id_of(by: MemoryActor, new_id: NewId) -> MemoryId:
    """The same for the same call of a run, or for the same message of a person."""
    if by.run_id and by.key:
        return MemoryId(derived(by.run_id, f"memory {by.key}"))
    return MemoryId(derived(by.key, "memory") if by.key else new_id())
