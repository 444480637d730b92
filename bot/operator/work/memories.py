"""Memories for operators: those of rooms, of agents and of all. A person's rows are told as a count alone, but to themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from runtime.cluster.topics import MEMORIES
from runtime.contract import Address, Notifier
from runtime.contract.memory.facts import Kept, Memory, MemoryRequest, Scope, ScopeKind, Trust
from runtime.domain.agents.manifest import MAIN
from runtime.domain.memory.keeping import fault_of
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.store.memory.store import MemoryStore

LISTED_AT_ONCE: Final = 200
EXPORTED_MAX: Final = 100_000
"""Rows of an export."""
NO_SUCH: Final = "No memory is called {name!r}. The last six characters of its id are enough."
OF_A_PERSON: Final = (
    "This belongs to a person, who alone can read and accept it: `/memory` in their private chat. You can delete it."
)
NEEDS_ROOM: Final = "Name the room: --room slack:work/C024BE91L."
FOR_ONE_ROOM: Final = (
    "--room goes with --scope room, and this is for the scope {scope}. Add --scope room, or leave out --room."
)
FOR_ALL: Final = "What is for all belongs to no agent. Add --scope agent to keep it for that one, or leave out --agent."
NEEDS_SUBJECT: Final = "A relation is of something: add --subject."
NO_AGENT: Final = "There's no agent called {name!r}. Agents here: {known}."
WIDER: Final = "Operators write for a room, an agent or all. What is a person's, they tell the agent themselves."


@dataclass(frozen=True, slots=True)
class MemoryOperations:
    """Memories as operators call things. `people` are names by id, and `clean` is the leak guard at the gate of memory."""

    memories: MemoryStore
    notifier: Notifier
    people: Mapping[str, str]
    named: Named
    called: Named
    clean: Callable[[str, Gate], str]
    mask: Callable[[str], str]
    agents: Sequence[str] = (MAIN,)

    async def listed(
        self, agent: str, kind: ScopeKind | None, room: Address | None, limit: int, actor: Actor
    ) -> list[View]:
        """Newest first, without those of other people."""
        await self._check_agent(agent)
        scope = Scope(ScopeKind.ROOM, str(room.whole_room)) if room else None
        found: list[Memory] = []
        before = ""
        while len(found) < limit:
            rows = await self.memories.listed(agent=agent or None, scope=scope, before=before, limit=LISTED_AT_ONCE)
            found += [one for one in rows if kind in (None, one.scope.kind) and _may_see(one, actor)]
            if len(rows) < LISTED_AT_ONCE:
                break
            before = rows[-1].id
        return [self._view(one) for one in found[:limit]]

    async def counts(self) -> list[View]:
        """Counts by agent, and by whose they are."""
        return [
            {**self._whose(scope), "agent": agent, "count": count}
            for agent, scope, count in await self.memories.counts()
        ]

    async def shown(self, name: str, actor: Actor) -> View:
        return self._view(self._seen(await self._found(name), actor))

    async def put(
        self, text: str, kind: ScopeKind, agent: str, room: Address | None, names: Sequence[str], actor: Actor
    ) -> View:
        """Keep one in the name of an operator. `names` are its subject and its relation."""
        await self._check_agent(agent)
        if fault := _mismatch(kind, agent, room is not None, names):
            raise Refusal(400, fault)
        scope = Scope(kind, str(room.whole_room) if kind is ScopeKind.ROOM and room else "")
        asked = MemoryRequest(text, kind, subject=names[0], relation=names[1])
        if fault := fault_of(asked):  # before the guard reads all of it
            raise Refusal(400, fault)
        subject, relation = (self._cleaned(one) for one in names)
        wanted = MemoryRequest(self._cleaned(text), kind, subject=subject, relation=relation)
        kept: Kept | str = await self.memories.keep_given(wanted, agent or MAIN, scope, actor=actor.name)
        if isinstance(kept, str):
            raise Refusal(400, kept)
        self.notifier.notify(MEMORIES)
        ended = f" It replaces: {self.mask(kept.ended.text)}" if kept.ended else ""
        return {**self._view(kept.memory), "told": f"Kept as {kept.memory.short_id}.{ended}"}

    async def accept(self, name: str, actor: Actor) -> View:
        one = self._seen(await self._found(name), actor)
        made = await self.memories.approve(one.id, actor=actor.name)
        if isinstance(made, str):
            raise Refusal(409, made)
        return {**self._view(made), "told": f"Accepted: {self.mask(made.text)}"}

    async def delete(self, name: str, actor: Actor) -> View:
        """Forget one for good; of another person without telling what it said."""
        one = await self._found(name)
        await self.memories.remove([one.id], actor=actor.name)
        text = self.mask(one.text) if _may_see(one, actor) else "a memory of a person"
        return {"id": one.id, "told": f"Forgotten for good: {text}"}

    async def _check_agent(self, name: str) -> None:
        """Errors: Refusal names the agents there are. One that is gone may still have rows."""
        if not name or name in self.agents or name in {agent for agent, _, _ in await self.memories.counts()}:
            return
        raise Refusal(404, NO_AGENT.format(name=name[:64], known=", ".join(self.agents)))

    async def _found(self, name: str) -> Memory:
        found = await self.memories.memory(name)
        if found is None:
            raise Refusal(404, NO_SUCH.format(name=name[:40]))
        return found

    def _seen(self, one: Memory, actor: Actor) -> Memory:
        if not _may_see(one, actor):
            raise Refusal(403, OF_A_PERSON)
        return one

    def _cleaned(self, text: str) -> str:
        return self.clean(text.strip(), Gate.MEMORY_WRITE)

    def _whose(self, scope: Scope) -> View:
        """Room or person of a scope, by name."""
        room = Address.parse(scope.subject) if scope.kind is ScopeKind.ROOM else None
        of_person = scope.kind is ScopeKind.PERSON
        return {
            "scope": scope.kind.value,
            "room": self.called(room) if room else "",
            "address": self.named(room) if room else "",
            "person": self.people.get(scope.subject, "somebody who was removed") if of_person else "",
        }

    def _view(self, one: Memory) -> View:
        return {
            **self._whose(one.scope),
            "id": one.id,
            "short": one.short_id,
            "agent": one.agent,
            "kind": one.kind.value,
            "text": self.mask(one.text),
            "subject": self.mask(one.subject),
            "relation": self.mask(one.relation),
            "object": self.mask(one.object),
            "trust": one.trust.value,
            "pinned": one.pinned,
            "by": one.by if one.trust is Trust.SAID else "",
            "origin": one.origin,
            "run": one.source_run,
            "uses": one.uses,
            "used_at": at(one.used_at),
            "valid_from": at(one.valid_from),
            "expires_at": at(one.expires_at),
        }


def _mismatch(kind: ScopeKind, agent: str, has_room: bool, names: Sequence[str]) -> str:
    """Reason for which options don't go together; empty where they do."""
    if kind is ScopeKind.PERSON:
        return WIDER
    if kind is ScopeKind.ROOM and not has_room:
        return NEEDS_ROOM
    if kind is not ScopeKind.ROOM and has_room:
        return FOR_ONE_ROOM.format(scope=kind.value)
    if kind is ScopeKind.ALL and agent:
        return FOR_ALL
    return NEEDS_SUBJECT if names[1].strip() and not names[0].strip() else ""


def _may_see(one: Memory, actor: Actor) -> bool:
    """True for what is no person's, or the operator's own."""
    return one.scope.kind is not ScopeKind.PERSON or one.scope.subject == actor.person.id


@by_role
class MemoriesApi(PartialApi):
    """Memories of rooms, agents and all."""

    async def memories(self, agent: str = "", scope: str = "", room: str = "", limit: int = 100) -> list[View]:
        """Memories of rooms, agents and all, newest first; of people the operator's own alone."""
        memories, where = await self._memories(), await self._room_meant(room)
        rows = await memories.listed(agent, word_of(ScopeKind, scope), where, limit, self.actor)
        return await self._entitled(rows)

    async def memory_counts(self) -> list[View]:
        """Count what is kept, by agent and whose it is: of other people nothing else is told."""
        return await self._entitled(await (await self._memories()).counts())

    async def memory(self, name: str) -> View:
        return await self._one_entitled(await (await self._memories()).shown(name, self.actor))

    async def put_memory(
        self, text: str, scope: str, agent: str = "", room: str = "", subject: str = "", relation: str = ""
    ) -> View:
        """Keep one for a room, an agent or all."""
        kind, where = word_of(ScopeKind, scope), await self._room_meant(room)
        if kind is None:
            raise Refusal(400, "Say for whom: room, agent or all.")
        return await (await self._memories()).put(text, kind, agent, where, (subject, relation), self.actor)

    async def accept_memory(self, name: str) -> View:
        return await (await self._memories()).accept(name, self.actor)

    async def delete_memory(self, name: str) -> View:
        return await (await self._memories()).delete(name, self.actor)

    async def _memories(self) -> MemoryOperations:
        has = self._context
        people = {str(known.person.id): known.person.name for known in await self._store.people.people()}
        await has.refresh()
        return MemoryOperations(
            *(self._store.memories, has.notifier, people, has.named, has.called, has.door().clean, has.mask),
            agents=list(dict.fromkeys([MAIN, *(agent["name"] for agent in has.agents())])),
        )
