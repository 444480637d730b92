"""Books of memories and values, as tools have them: past the leak guard, in their bounds, and only where they may be read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

import pytest
from sqlalchemy import text

from runtime.contract import Address, Person, Role, RunId
from runtime.contract.memory.facts import FoundMessage, Memory, MemoryActor, MemoryRequest, Recalled, ScopeKind, Trust
from runtime.domain.ids import new_id
from runtime.domain.memory.values import KEYS_FULL, KEYS_MAX, VALUE_MAX_BYTES
from runtime.errors import ToolRetry
from runtime.guard.door import OPEN_DOOR
from runtime.memory.book import ToolMemories
from runtime.memory.values import ToolValues
from runtime.store.sql.driver import Op
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tests.contract.store.stage import HandClock
from tests.unit.guard.secrets import SECRETS

NAME, SECRET = SECRETS["github"]
PRIVATE: Final = Address.parse("slack:T1/D1")
GROUP: Final = Address.parse("slack:T1/C1")


class FindsAll:
    """A search that finds these rows, whatever is asked."""

    def __init__(self) -> None:
        self.rows: list[Memory] = []

    async def recall(self, query: str, *_: object, **__: object) -> list[Recalled]:
        return [Recalled(one, 1.0, "words, 1st") for one in self.rows]

    async def search_messages(self, *_: object, **__: object) -> list[FoundMessage]:
        return []


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = memory_store(HandClock())
    yield opened
    await opened.close()


@pytest.fixture
async def ada(store: Store) -> MemoryActor:
    """A person in their private chat, in a run."""
    person = await store.people.add_person("Ada", Role.USER, [], actor="test")
    assert isinstance(person, Person)

    def private() -> Op[None]:
        yield text("UPDATE identities SET room = :r"), {"r": str(PRIVATE)}

    await store.driver.write(private)
    return MemoryActor("main", PRIVATE, person, run_id=RunId(new_id()), key="c1")


@pytest.fixture
def finds() -> FindsAll:
    return FindsAll()


@pytest.fixture
def book(store: Store, finds: FindsAll) -> ToolMemories:
    return ToolMemories(memories=store.memories, recalling=finds, door=lambda: OPEN_DOOR)


@pytest.fixture
def values(store: Store) -> ToolValues:
    return ToolValues(values=store.state_values, readers=store.memories, door=lambda: OPEN_DOOR)


# ---------------------------------------------------------------------------------------------------------- memories


async def test_no_secret_is_kept_in_any_part(book: ToolMemories, ada: MemoryActor) -> None:
    wanted = MemoryRequest(f"use {SECRET}", subject=f"key {SECRET}", relation="is", object=SECRET)
    kept = (await book.remember(wanted, ada)).memory
    parts = (kept.text, kept.subject, kept.object)
    assert all("[redacted: " in part and SECRET not in part for part in parts), parts


async def test_it_says_where_it_will_not_be_read(book: ToolMemories, ada: MemoryActor) -> None:
    there = replace(ada, room=GROUP)
    assert (await book.remember(MemoryRequest("I like tea"), ada)).read_here
    assert not (await book.remember(MemoryRequest("I like cake"), replace(there, key="c2"))).read_here
    assert (await book.remember(MemoryRequest("We like cake", ScopeKind.ROOM), replace(there, key="c3"))).read_here


async def test_ten_megabytes_are_refused_in_words(book: ToolMemories, ada: MemoryActor) -> None:
    with pytest.raises(ToolRetry, match=r"at most 2,000 characters, and this one has 10,000,000\. Keep the gist"):
        await book.remember(MemoryRequest("x" * 10_000_000), ada)


async def test_what_a_run_finds_is_noted_and_accepted_by_its_use(
    book: ToolMemories, finds: FindsAll, ada: MemoryActor, store: Store
) -> None:
    other = replace(ada, run_id=RunId(new_id()))
    proposed = (await book.remember(MemoryRequest("Ada has a cat", trust=Trust.STAGED), other)).memory
    finds.rows = [proposed]
    assert ada.run_id
    await book.recall("cat", replace(ada, person=None))
    assert [one.memory.trust for one in await store.memories.uses_of(ada.run_id)] == [Trust.STAGED]
    further = replace(ada, run_id=RunId(new_id()))
    assert further.run_id
    await book.recall("cat", further)
    assert [(one.memory.trust, one.how) for one in await store.memories.uses_of(further.run_id)] == [
        (Trust.SAID, "recalled: words, 1st")
    ]


# ------------------------------------------------------------------------------------------------------------- values


async def test_values_of_a_person_stay_in_their_private_rooms(values: ToolValues, ada: MemoryActor) -> None:
    await values.put("mood", '"good"', ScopeKind.PERSON, ada)
    there = replace(ada, room=GROUP)
    for call in (
        values.get("mood", ScopeKind.PERSON, there),
        values.listed("", ScopeKind.PERSON, there),
        values.delete("mood", ScopeKind.PERSON, there),
        values.put("mood", "1", ScopeKind.PERSON, there),
    ):
        with pytest.raises(ToolRetry, match="in their private rooms alone"):
            await call
    assert await values.get("mood", ScopeKind.ROOM, ada) is None
    found = await values.get("mood", ScopeKind.PERSON, ada)
    assert found
    assert found.value == '"good"'


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("", "1", "The key is empty"),
        ("a\nb", "1", "that can't be read"),
        ("k", "nonsense", "written as JSON"),
        ("k", "[" * 50_000, "written as JSON"),
        ("k", '"' + "x" * VALUE_MAX_BYTES + '"', "at most 64 KiB"),
    ],
)
async def test_a_value_has_its_bounds(key: str, value: str, words: str, values: ToolValues, ada: MemoryActor) -> None:
    with pytest.raises(ToolRetry, match=words):
        await values.put(key, value, ScopeKind.ROOM, ada)


async def test_a_scope_has_a_thousand_keys(values: ToolValues, ada: MemoryActor) -> None:
    for number in range(KEYS_MAX):
        await values.put(f"k{number}", "1", ScopeKind.ROOM, ada)
    with pytest.raises(ToolRetry, match=KEYS_FULL):
        await values.put("more", "1", ScopeKind.ROOM, ada)
    assert (await values.put("k0", "2", ScopeKind.ROOM, ada)).version == 2


async def test_only_operators_write_for_all(values: ToolValues, ada: MemoryActor) -> None:
    with pytest.raises(ToolRetry, match="written by operators"):
        await values.put("k", "1", ScopeKind.ALL, ada)
    assert await values.get("k", ScopeKind.ALL, ada) is None


async def test_a_version_that_is_another_by_now_is_told(values: ToolValues, ada: MemoryActor) -> None:
    await values.put("k", f'"{SECRET}"', ScopeKind.ROOM, ada, expected=0)
    with pytest.raises(ToolRetry, match="has version 1 by now, and you expected 0"):
        await values.put("k", "2", ScopeKind.ROOM, ada, expected=0)
    with pytest.raises(ToolRetry, match="There is no value under 'other'"):
        await values.put("other", "2", ScopeKind.ROOM, ada, expected=3)
    found = await values.get("k", ScopeKind.ROOM, ada)
    assert found
    assert SECRET not in found.value
