"""Memories whose owner goes: people who are removed or merged, agents that are ended, rooms that move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract.memory.facts import Kept, MemoryRequest, Scope, ScopeKind, Trust
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.domain.memory.terms import terms_of
from runtime.store.memory.ending.owners import forget_agent
from runtime.store.protocol.memory.finding import Sought
from runtime.store.store import open_store
from tests.contract.store.stage import OTHER_ROOM, ROOM, UMA, Stage
from tests.contract.store.test_memories import GROUP, actor, kept, texts

TOPIC: Final[dict[str, Any]] = {"subject": "home", "relation": "town"}


async def test_with_a_person_goes_what_was_kept_for_them_and_their_name(stage: Stage) -> None:
    await stage.say("hello", actor=UMA)
    uma = await actor(stage, "Uma")
    assert uma.person
    await kept(stage, "I like tea", uma)
    await kept(stage, "I live in Graz", uma, **TOPIC)
    await kept(stage, "I live in Wien", uma, **TOPIC)
    await kept(stage, "We deploy on Fridays", replace(uma, room=GROUP), scope=ScopeKind.ROOM)
    await stage.store.state_values.put_value("main", Scope(ScopeKind.PERSON, uma.person.id), "k", "1")
    await stage.store.person_summaries.enable_summary(uma.person, "main", on=True)
    await stage.store.people.remove("Uma", actor="cli")
    assert await stage.rows("SELECT text, by_person FROM memories") == [("We deploy on Fridays", None)]
    assert await stage.column("SELECT count(*) FROM forgotten") == [3]
    assert await stage.column("SELECT count(*) FROM state_values") == [0]
    assert await stage.column("SELECT count(*) FROM person_summaries") == [0]
    assert await stage.audit("memories forgotten") == [("cli", f"person|{uma.person.id}", "3")]


async def test_of_two_people_who_are_one_each_value_stands_once(stage: Stage) -> None:
    await stage.say("hello")
    await stage.say("hello", actor=UMA, at=OTHER_ROOM)
    ada, uma = await actor(stage), await actor(stage, "Uma", OTHER_ROOM)
    assert ada.person
    assert uma.person
    await kept(stage, "I live in Wien", ada, **TOPIC)
    await kept(stage, "I like tea", ada)
    stage.clock.advance(hours=1)
    await kept(stage, "I live in Graz", uma, **TOPIC)
    await kept(stage, "i like TEA", uma)
    await kept(stage, "I have a cat", uma)
    for person, key in ((ada.person, "a"), (uma.person, "a"), (uma.person, "b")):
        await stage.store.state_values.put_value("main", Scope(ScopeKind.PERSON, person.id), key, f'"{person.name}"')
    await stage.store.people.merge("Uma", "Ada", actor="cli")
    found = ["I have a cat", "I like tea", "I live in Graz"]
    reader = await stage.store.memories.reader_at("main", ROOM, ada.person.id)
    hits = await stage.store.memory_search.by_words(Sought(reader, stage.clock()), terms_of("cat"))
    assert [one.memory.text for one in hits.rows] == ["I have a cat"]
    assert sorted(await texts(stage, ada)) == found
    assert sorted(await texts(stage, replace(ada, room=OTHER_ROOM))) == found
    assert await stage.column("SELECT DISTINCT scope FROM memories") == [f"person|{ada.person.id}"]
    values = await stage.store.state_values.listed("main", Scope(ScopeKind.PERSON, ada.person.id))
    assert [(one.key, one.value) for one in values] == [("a", '"Ada"'), ("b", '"Uma"')]


async def test_two_people_who_are_one_keep_their_word_beside_a_proposal_of_the_same(stage: Stage) -> None:
    """A proposal's time ends, and nobody is given it unasked."""
    await stage.say("hello", actor=UMA)
    ada, uma = await actor(stage), await actor(stage, "Uma")
    await kept(stage, "I am allergic to nuts", ada, trust=Trust.STAGED)
    await kept(stage, "I am allergic to nuts", uma)
    await stage.store.people.merge("Uma", "Ada", actor="cli")
    reader = await stage.store.memories.reader_at("main", ROOM, ada.person.id if ada.person else None)
    [one] = await stage.store.memories.readable(reader)
    assert (one.text, one.trust, one.expires_at) == ("I am allergic to nuts", Trust.SAID, None)


async def test_what_an_agent_kept_goes_when_it_is_ended_for_good(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    await kept(stage, "We deploy on Fridays", replace(ada, agent="ops"), scope=ScopeKind.ROOM)
    await kept(stage, "We deploy on Mondays", ada, scope=ScopeKind.ROOM)
    await stage.store.lives.turn_agent("ops", AgentEvent.SUSPEND, "drill", "Otto")
    assert len(await stage.column("SELECT id FROM memories")) == 2
    await stage.store.lives.turn_agent("ops", AgentEvent.TERMINATE, "drill", "Otto")
    assert await stage.column("SELECT text FROM memories") == ["We deploy on Mondays"]
    assert await stage.audit("memories forgotten") == [("Otto", "ops", "1")]


async def test_everything_of_a_person_is_forgotten_at_once(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    for text in ("I like tea", "I like coffee"):
        await kept(stage, text, ada)
    await kept(stage, "We deploy on Fridays", replace(ada, room=GROUP), scope=ScopeKind.ROOM)
    await kept(stage, "I like beer", replace(ada, agent="ops"))
    assert await stage.store.memories.forget_own(ada) == 2
    assert sorted(await stage.column("SELECT text FROM memories")) == ["I like beer", "We deploy on Fridays"]


@pytest.mark.parametrize("everything", [False, True])
async def test_no_word_of_what_was_forgotten_is_left_in_the_file(tmp_path: Path, *, everything: bool) -> None:
    """SQLite's indexes keep removed words, in threes of letters too, which read one after another are the text."""
    store = await open_store(f"sqlite:///{tmp_path / 'signalbox.db'}")
    whose = Scope(ScopeKind.AGENT)
    made = [await store.memories.keep_given(MemoryRequest(f"Zanzibar {one}"), "ops", whose, actor="t") for one in "ab"]
    ids = [one.memory.id for one in made if isinstance(one, Kept)]
    if everything:
        await store.driver.write(lambda: forget_agent("ops", "t", store.now()))
    else:
        await store.memories.remove(ids, actor="t")
    await store.close()
    assert b"zanzibar" not in bytes_in(tmp_path).lower()


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())
