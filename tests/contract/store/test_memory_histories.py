"""Random histories of memories: what is read anywhere is compared with a rule that was written apart from the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

import pytest

from runtime.contract import Address, Person
from runtime.contract.memory.facts import (
    Kept,
    Memory,
    MemoryActor,
    MemoryId,
    MemoryKind,
    MemoryRequest,
    Reader,
    Scope,
    ScopeKind,
    Trust,
)
from runtime.domain.memory.scopes import may_read
from runtime.domain.memory.terms import terms_of
from runtime.store.memory.keeping import FORGOTTEN_BEFORE
from runtime.store.memory.store import MemoryStore
from runtime.store.protocol.memory.finding import MemorySearch, Sought
from tests.contract.store.conftest import KINDS
from tests.contract.store.stage import Stage

AGENTS: Final = ("main", "ops", "person", "main|x")
PEOPLE: Final = ("Ada", "Otto", "Uma", "Vera")
STEPS: Final = 12
TOPICS: Final = (("", ""), ("", ""), ("home", "town"), ("HOME ", "Town"), ("host", "ip"))
WORDS: Final = ("tea", "Graz", "Wien", "b1", "b2", "Friday")
GROUPS: Final = tuple(
    Address.parse(text) for text in ("slack:T1/C1", "slack:T1/C1/171.2", "web:main/all", "slack:T1/C|2")
)
FEW: Final = {"file": 12, "memory": 50, "postgres": 6}
MANY: Final = {"file": 1_000, "memory": 10_000, "postgres": 500}


@dataclass
class World:
    """People with a private chat and a page each, and rooms of all; and every row that should be there."""

    memories: MemoryStore
    search: MemorySearch
    people: list[Person]
    private: dict[Address, Person]
    random: Random
    rows: dict[MemoryId, Memory] = field(default_factory=dict)
    foreign: int = 0

    def place(self) -> Address:
        return self.random.choice([*self.private, *GROUPS])

    def actor(self) -> MemoryActor:
        """Anybody anywhere: also a person in somebody else's private room, and nobody."""
        who = self.random.choice([*self.people, None])
        return MemoryActor(self.random.choice(AGENTS), self.place(), who)

    def reader(self, by: MemoryActor) -> Reader:
        owner = self.private.get(by.room.whole_room)
        return Reader(by.agent, by.room, owner.id if owner and owner == by.person else None)

    def readable(self, by: MemoryActor) -> set[MemoryId]:
        reader = self.reader(by)
        return {one.id for one in self.rows.values() if may_read(reader, one.agent, one.scope)}

    def request(self) -> MemoryRequest:
        subject, relation = self.random.choice(TOPICS)
        word = self.random.choice(WORDS)
        return MemoryRequest(
            f"{subject} {relation} {word}".strip(),
            scope=self.random.choice([*ScopeKind]),
            kind=self.random.choice([MemoryKind.FACT, MemoryKind.FACT, MemoryKind.RELATION]),
            subject=subject,
            relation=relation,
            object=word if subject else "",
            trust=self.random.choice([Trust.SAID, Trust.SAID, Trust.STAGED, Trust.LOW]),
        )

    def named(self) -> str:
        """Any row's id, the end of one, or words."""
        known = [*self.rows] or [MemoryId("nothing")]
        return self.random.choice(
            [self.random.choice(known), self.random.choice(known)[-8:], self.random.choice(WORDS)]
        )


async def world_of(stage: Stage, random: Random) -> World:
    people = []
    private: dict[Address, Person] = {}
    for number, name in enumerate(PEOPLE):
        known = await stage.store.people.person_named(name)
        assert known
        people.append(known.person)
        chat, page = Address.parse(f"slack:T1/D{number}"), Address.parse(f"web:main/p{number}")
        await stage.write("UPDATE identities SET room = :r WHERE identity = :i", r=str(chat), i=f"web:{name.lower()}")
        await stage.write(
            "INSERT INTO signals (id, platform, dedupe_key, kind, urgency, actor, actor_name, address, text, files, "
            "words_hash, state, received_at, accepted_at, message_id, by_program, \"trigger\") VALUES (:id, 'web:main', "
            ":id, 'said', 'normal', :actor, '', :room, 'hello', '[]', '', 'consumed', 1, 1, '', 0, 'message')",
            id=f"s{number}",
            actor=f"web:{known.person.id}",
            room=str(page),
        )
        private |= {chat: known.person, page: known.person}
    return World(stage.store.memories, stage.store.memory_search, people, private, random)


async def remember(world: World) -> None:
    by, wanted = world.actor(), world.request()
    if by.person and world.random.random() < 0.1:  # an operator
        scope = world.random.choice(
            [Scope(ScopeKind.ALL), Scope(ScopeKind.AGENT), Scope(ScopeKind.PERSON, by.person.id)]
        )
        kept = await world.memories.keep_given(wanted, by.agent, scope, actor="cli")
    else:
        kept = await world.memories.keep_said(wanted, by)
    if isinstance(kept, str):
        is_again = kept == FORGOTTEN_BEFORE and wanted.trust is Trust.STAGED
        assert is_again or wanted.scope is ScopeKind.ALL or (wanted.scope is ScopeKind.PERSON and by.person is None), (
            kept
        )
        return
    await noted(world, kept)


async def noted(world: World, kept: Kept) -> None:
    """The row as it stands, and what it ended in the same scope alone."""
    for one in [*world.rows.values()]:
        now = await world.memories.memory(one.id)
        assert now, "nobody forgot it"
        if now.valid_to is not None and one.valid_to is None:
            assert (now.agent, now.scope) == (kept.memory.agent, kept.memory.scope)
            assert now.superseded_by == kept.memory.id
            assert kept.memory.trust is Trust.SAID or now.trust is not Trust.SAID
        world.rows[one.id] = now
    world.rows[kept.memory.id] = kept.memory


async def forget(world: World) -> None:
    by = world.actor()
    before = world.readable(by)
    gone = await world.memories.forget(world.named(), by)
    if not isinstance(gone, str):
        assert {one.id for one in gone} <= before
        assert all(one.scope.kind is not ScopeKind.ALL for one in gone)
        for one in gone:
            del world.rows[one.id]


async def accept(world: World) -> None:
    by = world.actor()
    accepted = await world.memories.accept(world.named(), by)
    if not isinstance(accepted, str):
        assert accepted.id in world.readable(by)
        assert by.person
        assert by.person.name == accepted.by or world.rows[accepted.id].trust is Trust.SAID
        await noted(world, Kept(accepted))


async def read(world: World) -> None:
    """Every way to read, compared with the rule: nothing foreign, and nothing missing."""
    by = world.actor()
    reader = await world.memories.reader_at(by.agent, by.room, by.person.id if by.person else None)
    assert reader == world.reader(by)
    every = world.readable(by)
    found = await world.memories.readable(reader, past=True, limit=10_000)
    about = await world.memories.about(reader, "Home", depth=2)
    sought = Sought(reader, world.memories.now())
    hits = await world.search.by_words(sought, terms_of(f"{world.random.choice(WORDS)} home town"))
    by_id = await world.search.by_ids(sought, world.rows)
    searched = [one.memory for one in [*hits.rows, *by_id]]
    world.foreign += len({one.id for one in [*found, *about, *searched]} - every)
    assert {one.memory.id for one in by_id} == {one for one in every if world.rows[one].valid_to is None}
    assert {one.id for one in found} == every
    current = await world.memories.readable(reader, limit=10_000)
    assert {one.id for one in current} == {one for one in every if world.rows[one].valid_to is None}
    assert await world.memories.has_any(reader) is bool(current)
    said = [
        (one.agent, one.scope, one.subject.strip().lower(), one.relation.lower())
        for one in current
        if one.subject and one.trust is Trust.SAID and one.kind is not MemoryKind.RELATION
    ]
    assert len(said) == len(set(said)), "two values of one thing"


async def history(stage: Stage, world: World) -> None:
    for _ in range(STEPS):
        act = world.random.choices([remember, forget, accept, read], [5, 2, 1, 3])[0]
        await act(world)
        stage.clock.advance(seconds=1)
    await read(world)
    await stage.write("DELETE FROM memories")
    world.rows.clear()


async def histories(stage: Stage, number: int, seed: int) -> int:
    world = await world_of(stage, Random(seed))
    for _ in range(number):
        await history(stage, world)
    return world.foreign


def kind_of(url: str) -> str:
    return "postgres" if url.startswith("postgresql") else "memory" if url.endswith(":memory:") else "file"


async def test_nobody_reads_what_is_not_theirs_to_read(stage: Stage, url: str) -> None:
    assert await histories(stage, FEW[kind_of(url)], seed=19) == 0


@pytest.mark.soak
@pytest.mark.timeout(3_600)
async def test_nobody_reads_what_is_not_theirs_in_ten_thousand_histories(stage: Stage, url: str) -> None:
    assert sorted(MANY) == sorted(KINDS)
    assert await histories(stage, MANY[kind_of(url)], seed=1) == 0
