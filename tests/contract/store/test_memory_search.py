"""The search for memories and messages: words in any script, in what its reader may see, whatever is written in a query."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import asyncpg
import pytest

from runtime.contract import Address, PersonId
from runtime.contract.memory.facts import Memory, MemoryRequest, Reader, Scope, ScopeKind, Trust
from runtime.domain.memory.terms import terms_of
from runtime.store.protocol.memory.finding import Asker, Sought
from runtime.store.sql.full_text import INDEXED
from runtime.store.store import Store
from tests.contract.database import EmptyDatabase
from tests.contract.store.stage import OTHER_ROOM, ROOM, UMA, HandClock, Stage
from tests.contract.store.test_memories import who

HERE: Final = Reader("main", Address.parse("slack:T1/C1"))
AGENT: Final = Scope(ScopeKind.AGENT)


async def kept(store: Store, text: str, agent: str = "main", scope: Scope = AGENT, **given: Any) -> Memory:
    made = await store.memories.keep_given(MemoryRequest(text, **given), agent, scope, actor="cli")
    assert not isinstance(made, str), made
    return made.memory


async def found(store: Store, query: str, reader: Reader = HERE, **given: Any) -> list[str]:
    hits = await store.memory_search.by_words(Sought(reader, store.now(), **given), terms_of(query))
    return sorted(one.memory.text for one in hits.rows)


@pytest.mark.parametrize(
    "query",
    [
        "Where did my sister move?",
        "ZÜRICH",
        "zurich",
        "sister's",
        'sister OR "NEAR(',
        "sister\x00*^",
        "x" * 9_000 + " sister",
    ],
)
async def test_words_in_any_form_are_found(store: Store, query: str) -> None:
    await kept(store, "My sister moved to Zürich in May")
    await kept(store, "I drink tea")
    assert await found(store, query) == ["My sister moved to Zürich in May"]


@pytest.mark.parametrize(
    "query", ["", "?!…", "🙂🙂", "'; DROP TABLE memories; --", '"""', "what is it", "\ud800", "%", "\\", "_"]
)
async def test_a_query_without_words_finds_nothing_and_breaks_nothing(store: Store, query: str) -> None:
    await kept(store, "I drink tea")
    assert await found(store, query) == []
    assert await found(store, "tea") == ["I drink tea"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("妹妹住在哪里", "我的妹妹住在北京"),
        ("北京", "我的妹妹住在北京"),
        ("東京タワー", "来週、東京へ行きます"),
        ("서울", "서울에 살아요"),
        ("กรุงเทพ", "ฉันอยู่กรุงเทพ"),
        ("deploy", "The redeployment is on Friday"),
        ("🙂 plan", "The plan is 🙂"),
        ("москва", "Сестра переехала: МОСКВА"),  # noqa: RUF001 - as it is written
        ("αθηνα", "Το γραφείο είναι στην ΑΘΗΝΑ"),  # noqa: RUF001 - as it is written
    ],
)
async def test_signs_and_parts_of_words_are_found(store: Store, query: str, text: str) -> None:
    await kept(store, text)
    await kept(store, "I drink tea")
    assert await found(store, query) == [text]


async def test_only_rows_of_the_readers_reaches_are_found(store: Store) -> None:
    rooms = Scope(ScopeKind.ROOM, "slack:T1/C1")
    for agent, scope in (
        ("main", AGENT),
        ("main", rooms),
        ("", Scope(ScopeKind.ALL)),
        ("main", Scope(ScopeKind.PERSON, "p1")),
        ("main", Scope(ScopeKind.ROOM, "slack:T1/C2")),
        ("ops", AGENT),
        ("ops", rooms),
    ):
        await kept(store, f"tea for {agent or 'each'} in {scope}", agent, scope)
    seen = ["tea for each in all", "tea for main in agent", "tea for main in room|slack:T1/C1"]
    assert await found(store, "tea") == seen
    assert await found(store, "tea", replace(HERE, person=PersonId("p1"))) == [
        *seen[:2],
        "tea for main in person|p1",
        seen[2],
    ]


async def test_what_ended_is_not_found(store: Store, clock: HandClock) -> None:
    first: Any = {"subject": "I", "relation": "live in"}
    await kept(store, "I live in Graz", **first)
    await kept(store, "I live in Rome", **first)
    await kept(store, "I live here until Friday", expires_at=store.now() + timedelta(days=1))
    assert await found(store, "live") == ["I live here until Friday", "I live in Rome"]
    clock.advance(hours=48)
    assert await found(store, "live") == ["I live in Rome"]
    assert await found(store, "live Graz Rome", about="Rome") == ["I live in Rome"]
    assert await found(store, "live", about="Graz") == []
    assert await found(store, "live", since=store.now()) == []


async def test_what_nobody_said_is_found_only_by_whoever_asks(store: Store) -> None:
    await kept(store, "tea is free", trust=Trust.LOW)
    await kept(store, "tea at five")
    assert await found(store, "tea") == ["tea at five", "tea is free"]
    assert await found(store, "tea", any_trust=False) == ["tea at five"]


async def test_messages_of_a_room_of_several_are_found_from_within_it_alone(stage: Stage) -> None:
    """Whoever left it can't ask there: no platform tells who left, so nothing of it is read elsewhere."""
    group = Address.parse("slack:T1/C1")
    await stage.say("hello")
    await stage.say("the budget of the group", at=group)
    ada = await who(stage, "Ada")

    async def texts(here: Address, **given: Any) -> list[str]:
        hits = await stage.store.message_search.messages(terms_of("budget"), Asker(here, ada.id), **given)
        return [one.text for one in hits]

    assert await texts(group) == ["the budget of the group"]
    assert await texts(ROOM) == []
    assert await texts(ROOM, room=str(group)) == []


async def test_messages_are_found_where_the_asker_may_read_them(stage: Stage) -> None:
    store = stage.store
    await stage.say("the budget is due on Friday")
    await stage.say("my budget is secret", actor=UMA, at=OTHER_ROOM)
    ada, uma = await who(stage, "Ada"), await who(stage, "Uma")

    async def texts(person: PersonId | None, here: Address, query: str = "budget", **given: Any) -> list[str]:
        hits = await store.message_search.messages(terms_of(query), Asker(here, person), **given)
        return sorted(one.text for one in hits)

    assert await texts(ada.id, ROOM) == ["the budget is due on Friday"]
    assert await texts(uma.id, OTHER_ROOM) == ["my budget is secret"]
    assert await texts(ada.id, Address.parse("slack:T1/C1")) == []
    assert await texts(ada.id, ROOM, "holiday") == []
    assert await texts(ada.id, ROOM, room="nowhere") == []
    assert await texts(ada.id, ROOM, room=str(ROOM)) == ["the budget is due on Friday"]
    assert await texts(ada.id, ROOM, since=store.now() + timedelta(days=1)) == []


INDEX: Final = "SELECT pg_get_expr(indexprs, indrelid) FROM pg_index WHERE indexrelid = '{}'::regclass"


async def test_the_indexes_that_upgrades_make_are_those_that_searches_ask(database: EmptyDatabase) -> None:
    """Migrations have their statements written out, and a search in other words than its index walks through all rows."""
    connection = await asyncpg.connect(database.url)
    for one in INDEXED:
        made = await connection.fetchval(INDEX.format(one.words))
        async with connection.transaction():
            await connection.execute(f"DROP INDEX {one.words}")
            await connection.execute(f"CREATE INDEX {one.words} ON {one.table} USING gin ({one.vector})")
            assert await connection.fetchval(INDEX.format(one.words)) == made
    await connection.close()
