"""Names, ids and texts that pretend to be something else: none of them reads, forgets or accepts what isn't theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Address, PersonId
from runtime.contract.memory.facts import MemoryRequest, Reader, Scope, ScopeKind, Trust
from runtime.domain.memory.scopes import may_read, reach_of, reaches_of
from tests.contract.store.stage import OTHER_ROOM, UMA, Stage
from tests.contract.store.test_memories import GROUP, actor, kept, texts

PIECES: Final = st.sampled_from(
    [
        "main",
        "|",
        "\n",
        "person",
        "room",
        "agent",
        "all",
        "web:main/r",
        "1",
        "5\nmain",
        "\N{CYRILLIC SMALL LETTER A}",
        "a",
        " ",
    ]
)
NAMES: Final = st.lists(PIECES, max_size=5).map("".join)
SCOPES: Final = st.builds(Scope, st.sampled_from([*ScopeKind]), NAMES)
LOOKALIKES: Final = (
    "slack:T1/\N{CYRILLIC CAPITAL LETTER ES}1",
    "slack:T1/c1",
    "slack:T1/C1 ",
    "slack:T1/C1|",
    "slack:T1/C1\n",
)


@given(NAMES, SCOPES, NAMES, SCOPES)
def test_only_the_same_agent_and_scope_have_the_same_reach(one: str, here: Scope, other: str, there: Scope) -> None:
    assert (reach_of(one, here) == reach_of(other, there)) is ((one, str(here)) == (other, str(there)))


@given(SCOPES)
def test_a_scope_is_read_as_it_was_written(scope: Scope) -> None:
    assert Scope.parse(str(scope)) == scope


@given(NAMES, NAMES, NAMES, st.none() | NAMES, NAMES, SCOPES)
def test_rows_are_looked_for_where_the_rule_says(
    agent: str, room: str, thread: str, person: str | None, other: str, scope: Scope
) -> None:
    reader = Reader(agent, Address("web", "main", room, thread), None if person is None else PersonId(person))
    if may_read(reader, other, scope):
        assert reach_of(other, scope) in reaches_of(reader) or (
            scope.subject and scope.kind in (ScopeKind.AGENT, ScopeKind.ALL)
        )
    else:
        assert reach_of(other, scope) not in reaches_of(reader)


async def test_rooms_that_look_alike_are_other_rooms(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    await kept(stage, "We deploy on Fridays", ada, scope=ScopeKind.ROOM)
    for room in LOOKALIKES:
        there = replace(ada, room=Address.parse(room))
        assert await texts(stage, there) == [], room
        assert await stage.store.memories.forget("deploy", there) == []
    assert await texts(stage, ada) == ["We deploy on Fridays"]


async def test_an_agent_named_like_a_scope_reads_its_own(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    await kept(stage, "We deploy on Fridays", ada, scope=ScopeKind.ROOM)
    for name in (f"main\nroom|{GROUP}", "main\n", "", "MAIN", "m\N{CYRILLIC SMALL LETTER A}in"):
        assert await texts(stage, replace(ada, agent=name)) == []


@pytest.mark.parametrize("name", ["%", "______", "%%%%%%%%", "#", "", "  ", "' OR 1 = 1 --", "\\", "0" * 22])
async def test_no_pattern_names_a_row(name: str, stage: Stage) -> None:
    await stage.say("hello", actor=UMA, at=OTHER_ROOM)
    uma = await actor(stage, "Uma", OTHER_ROOM)
    await kept(stage, "I like tea", uma, trust=Trust.STAGED)
    assert await stage.store.memories.memory(name) is None
    assert await stage.store.memories.forget(name, uma) == []
    assert isinstance(await stage.store.memories.accept(name, uma), str)
    assert await texts(stage, uma) == ["I like tea"]


async def test_a_repeat_with_the_key_of_another_call_finds_that_one_alone(stage: Stage) -> None:
    """A call of one run never finds, ends or changes what a call of another one made."""
    await stage.say("hello")
    ada, mine, other = await actor(stage), await stage.begin("one"), await stage.begin("two", at=OTHER_ROOM)
    first = await kept(stage, "I like tea", replace(ada, run_id=mine.run_id, key="c1"))
    second = await stage.store.memories.keep_said(
        MemoryRequest("I like beer"), replace(ada, run_id=other.run_id, key="c1")
    )
    assert not isinstance(second, str)
    assert second.memory.id != first.memory.id


async def test_a_page_that_the_agent_or_somebody_else_began_is_nobodys(stage: Stage) -> None:
    ada = await actor(stage)
    assert ada.person
    page = Address.parse("web:main/page")
    await stage.say("hello", actor=UMA, at=page)
    await stage.write("UPDATE identities SET room = NULL")
    assert (await stage.store.memories.reader_at("main", page, ada.person.id)).person is None
