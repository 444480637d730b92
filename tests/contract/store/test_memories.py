"""Memories in the store: what is the same, what ends what, who may read, forget and accept."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any, Final

import pytest

from runtime.contract import Address, Person, RunId, SessionKey
from runtime.contract.memory.facts import (
    Kept,
    Memory,
    MemoryActor,
    MemoryKind,
    MemoryRequest,
    Scope,
    ScopeKind,
    Trust,
)
from runtime.domain.ids import new_id
from runtime.domain.memory.tombstones import NO_ID
from runtime.store.memory.keeping import FORGOTTEN_BEFORE
from runtime.store.protocol.memory.memories import Use
from tests.contract.store.stage import OTHER_ROOM, ROOM, UMA, Stage

GROUP: Final = Address.parse("slack:T1/C1")


async def who(stage: Stage, name: str) -> Person:
    known = await stage.store.people.person_named(name)
    assert known
    return known.person


async def actor(stage: Stage, name: str = "Ada", at: Address = ROOM, **given: Any) -> MemoryActor:
    return MemoryActor("main", at, await who(stage, name), **given)


async def kept(stage: Stage, text: str, by: MemoryActor, **given: Any) -> Kept:
    result = await stage.store.memories.keep_said(MemoryRequest(text, **given), by)
    assert isinstance(result, Kept), result
    return result


async def texts(stage: Stage, by: MemoryActor, *, past: bool = False) -> list[str]:
    reader = await stage.store.memories.reader_at(by.agent, by.room, by.person.id if by.person else None)
    return [one.text for one in await stage.store.memories.readable(reader, past=past)]


# ------------------------------------------------------------------------------------------------------- what is read


async def test_a_persons_memories_are_read_in_their_own_rooms_alone(stage: Stage) -> None:
    await stage.say("hello")
    await stage.say("hello", actor=UMA, at=OTHER_ROOM)
    ada, uma = await actor(stage), await actor(stage, "Uma", OTHER_ROOM)
    await kept(stage, "I like tea", ada)
    assert await texts(stage, ada) == ["I like tea"]
    assert await texts(stage, replace(ada, agent="ops")) == []
    assert await texts(stage, replace(ada, person=None)) == []
    assert await texts(stage, uma) == []
    assert await texts(stage, replace(ada, room=GROUP)) == []
    assert await texts(stage, replace(ada, room=OTHER_ROOM)) == []
    assert await texts(stage, replace(uma, room=ROOM)) == []


async def test_a_room_where_others_spoke_is_nobodys_own(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    await kept(stage, "I like tea", ada)
    await stage.say("me too", actor=UMA)
    assert await texts(stage, ada) == []


async def test_in_a_group_a_person_keeps_for_themselves(stage: Stage) -> None:
    await stage.say("hello")
    there = await actor(stage, at=GROUP)
    made = await kept(stage, "I like tea", there)
    assert made.memory.scope == Scope(ScopeKind.PERSON, (await who(stage, "Ada")).id)
    assert await texts(stage, there) == []
    assert await texts(stage, await actor(stage)) == ["I like tea"]


async def test_wider_scopes_are_read_where_they_should(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    await kept(stage, "Deploys are on Fridays", ada, scope=ScopeKind.ROOM)
    await kept(stage, "The office is in Graz", ada, scope=ScopeKind.AGENT)
    await stage.store.memories.keep_given(MemoryRequest("Be brief"), "main", Scope(ScopeKind.ALL), actor="cli")
    there = replace(ada, room=replace(GROUP, thread="171.2"), person=None)
    assert sorted(await texts(stage, there)) == ["Be brief", "Deploys are on Fridays", "The office is in Graz"]
    assert sorted(await texts(stage, replace(ada, room=OTHER_ROOM))) == ["Be brief", "The office is in Graz"]
    assert await texts(stage, replace(ada, agent="ops")) == ["Be brief"]
    refused = await stage.store.memories.keep_said(MemoryRequest("Obey me", ScopeKind.ALL), ada)
    assert refused == "What all agents read is written by operators, with `signalbox memory set`."


# -------------------------------------------------------------------------------------------------- the same, and its end


async def test_the_same_call_makes_one_memory(stage: Stage) -> None:
    by = await actor(stage, run_id=RunId(new_id()), key="c1")
    first = await kept(stage, "I like tea", by)
    assert await kept(stage, "I like tea", by) == first
    assert (await kept(stage, "I like  TEA.", replace(by, key="c2"))).was_known
    await stage.store.memories.forget(first.memory.id, await actor(stage))
    assert "forgotten" not in str(await stage.column("SELECT text FROM memories"))


async def test_a_new_value_ends_the_one_before(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    old = await kept(stage, "I live in Graz", ada, subject="Ada", relation="lives in", object="Graz")
    new = await kept(
        stage, "I moved to Wien", ada, subject="\N{CYRILLIC CAPITAL LETTER A}DA", relation="Lives in", object="Wien"
    )
    assert new.ended
    assert new.ended.id == old.memory.id
    assert await texts(stage, ada) == ["I moved to Wien"]
    assert await texts(stage, ada, past=True) == ["I moved to Wien", "I live in Graz"]
    ended = await stage.store.memories.memory(old.memory.id)
    assert ended
    assert (ended.superseded_by, ended.valid_to) == (new.memory.id, new.memory.valid_from)
    back = await kept(stage, "I live in Graz", ada, subject="Ada", relation="lives in", object="Graz")
    assert (back.was_known, back.ended and back.ended.text) == (False, "I moved to Wien")


async def test_what_two_say_stays_the_word_of_the_first(stage: Stage) -> None:
    ada, uma = await actor(stage, at=GROUP), await actor(stage, "Uma", GROUP)
    await kept(stage, "We deploy on Fridays", uma, scope=ScopeKind.ROOM, trust=Trust.LOW)
    said = [await kept(stage, "We deploy on Fridays.", by, scope=ScopeKind.ROOM) for by in (uma, ada)]
    assert [(one.was_known, one.memory.trust, one.memory.by) for one in said] == [(True, Trust.SAID, "Uma")] * 2


async def test_relations_stand_beside_each_other(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    for name in ("Bo", "Cy", "bo"):
        await kept(
            stage, f"Ada knows {name}", ada, kind=MemoryKind.RELATION, subject="Ada", relation="knows", object=name
        )
    assert await texts(stage, ada) == ["Ada knows Cy", "Ada knows Bo"]


async def test_what_a_stranger_says_ends_no_persons_word(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    value: dict[str, Any] = {"subject": "backup", "relation": "host"}
    await kept(stage, "The backup host is b1", ada, **value)
    low = await kept(stage, "The backup host is evil", ada, trust=Trust.LOW, **value)
    assert (low.ended, low.memory.trust) == (None, Trust.LOW)
    assert await texts(stage, ada) == ["The backup host is evil", "The backup host is b1"]
    accepted = await stage.store.memories.accept(low.memory.id, ada)
    assert isinstance(accepted, Memory)
    assert (accepted.trust, accepted.by, accepted.expires_at) == (Trust.SAID, "Ada", None)
    assert await texts(stage, ada) == ["The backup host is evil"]


async def test_two_at_once_leave_one_value(stage: Stage) -> None:
    ada = await actor(stage)
    values = [MemoryRequest(f"host {n}", subject="backup", relation="host", object=str(n)) for n in range(8)]
    await asyncio.gather(*(stage.store.memories.keep_said(one, ada) for one in [*values, *values]))
    assert await stage.column("SELECT count(*) FROM memories WHERE valid_to IS NULL") == [1]


async def test_a_run_of_nobody_says_nothing_that_is_trusted(stage: Stage) -> None:
    by = MemoryActor("main", GROUP, None, run_id=RunId(new_id()), key="c1")
    assert (await kept(stage, "The build is red", by, scope=ScopeKind.ROOM)).memory.trust is Trust.LOW
    refused = await stage.store.memories.keep_said(MemoryRequest("I like tea"), by)
    assert refused == "Nobody asked for this run, so there's no person to keep it for. Keep it for the room instead."


async def test_what_a_child_says_is_of_low_trust(stage: Stage) -> None:
    """Whoever calls: the store itself knows the sessions of children."""
    ada, child = await actor(stage), new_id()
    session = SessionKey(f"child|{child}|ops")
    await stage.write(
        "INSERT INTO children (id, parent_run, parent_step, ordinal, parent_session, root_run, session, agent, chain, depth, "
        "awaits, goal, criteria, wanted, files, state, result, valid, budget_micros, deadline_at, created_at) VALUES "
        "(:id, 'r1', 1, 1, 's1', 'r1', :session, 'ops', '[]', 1, 1, 'look', '', '{}', '[]', 'open', '', 1, 0, 1, 1)",
        id=child,
        session=session,
    )
    by = replace(ada, agent="ops", session=session)
    assert (await kept(stage, "The build is green", by, scope=ScopeKind.ROOM)).memory.trust is Trust.LOW
    like = replace(ada, session=SessionKey(f"child|{ROOM}"))
    assert (await kept(stage, "The build is red", like, scope=ScopeKind.ROOM)).memory.trust is Trust.SAID


async def test_nothing_that_was_recalled_is_kept_again(stage: Stage) -> None:
    await stage.say("hello")
    ada, run = await actor(stage), RunId(new_id())
    made = (await kept(stage, "My cat is called Minka", ada)).memory
    await stage.store.memories.record_uses(run, [Use(made.id, 1, "given")])
    working = replace(ada, run_id=run, key="c1")
    wider = await stage.store.memories.keep_said(MemoryRequest("my cat is called MINKA", ScopeKind.ROOM), working)
    assert isinstance(wider, str)
    assert made.id in wider
    proposed = await kept(stage, "Cat is called Minka", replace(working, key="c2"), trust=Trust.STAGED)
    assert (proposed.was_known, proposed.memory.id) == (True, made.id)
    assert await stage.column("SELECT count(*) FROM memories") == [1]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (MemoryRequest("x" * 10_000_000), "at most 2,000 characters, and this one has 10,000,000"),
        (MemoryRequest(" .\n"), "There's nothing to remember"),
        (MemoryRequest("a", subject="s" * 201), "The subject has at most 200 characters"),
    ],
)
async def test_what_is_too_much_is_refused_in_words(wanted: MemoryRequest, words: str, stage: Stage) -> None:
    assert words in str(await stage.store.memories.keep_said(wanted, await actor(stage)))


# ------------------------------------------------------------------------------------------------- forget and accept


async def test_forgetting_leaves_nothing_but_an_id_and_tombstones_without_words(stage: Stage) -> None:
    await stage.say("hello")
    ada, run = await actor(stage), RunId(new_id())
    old = await kept(stage, "I live in Graz", ada, subject="Ada", relation="lives in")
    new = await kept(stage, "I live in Wien", ada, subject="Ada", relation="lives in")
    await kept(stage, "I like tea", ada)
    await stage.store.memories.record_uses(run, [Use(new.memory.id, 1, "given")])
    gone = await stage.store.memories.forget("live wien", ada)
    assert [one.id for one in gone if isinstance(one, Memory)] == [new.memory.id, old.memory.id]
    assert await stage.column("SELECT text FROM memories") == ["I like tea"]
    assert await stage.store.memories.uses_of(run) == []
    left = await stage.column("SELECT id FROM forgotten")
    assert sorted(one for one in left if not one.endswith(NO_ID)) == sorted([old.memory.id, new.memory.id])
    assert {re.sub("[0-9a-f]{32}", "", one) for one in left if one.endswith(NO_ID)} == {NO_ID}
    assert await stage.store.memories.forget("live wien", ada) == []


@pytest.mark.parametrize("words", ["dog Rex", "all"])
async def test_what_was_forgotten_is_not_proposed_again_until_a_person_says_it_again(stage: Stage, words: str) -> None:
    """Nor in nearly the same words. Another scope and other facts may be proposed."""
    await stage.say("hello")
    ada, memories = await actor(stage), stage.store.memories
    await kept(stage, "Ada's dog is called Rex.", ada)
    assert await (memories.forget_own(ada) if words == "all" else memories.forget(words, ada))
    for text in ("Ada's dog is called Rex.", "The dog of Ada is named REX"):
        assert await memories.keep_said(MemoryRequest(text, trust=Trust.STAGED), ada) == FORGOTTEN_BEFORE
    await kept(stage, "Ada likes green tea.", ada, trust=Trust.STAGED)
    await kept(stage, "Ada's dog is called Rex.", ada, trust=Trust.STAGED, scope=ScopeKind.ROOM)
    await kept(stage, "Ada's dog is called Rex.", ada)
    assert (await kept(stage, "Ada's dog is called Rex.", ada, trust=Trust.STAGED)).was_known
    assert not [one for one in await stage.column("SELECT id FROM forgotten") if one.endswith(NO_ID)]


async def test_a_sentence_without_blanks_is_not_proposed_again_either(stage: Stage) -> None:
    await stage.say("hello")
    ada, memories = await actor(stage), stage.store.memories
    made = await kept(stage, "我的狗叫雷克斯。", ada)
    assert await memories.forget(made.memory.id, ada)
    wanted = MemoryRequest("我的狗叫雷克斯", trust=Trust.STAGED)
    assert await memories.keep_said(wanted, ada) == FORGOTTEN_BEFORE


async def test_ids_of_others_name_nothing(stage: Stage) -> None:
    await stage.say("hello")
    await stage.say("hello", actor=UMA, at=OTHER_ROOM)
    ada, uma = await actor(stage), await actor(stage, "Uma", OTHER_ROOM)
    made = (await kept(stage, "I like tea", ada, trust=Trust.STAGED)).memory
    assert await stage.store.memories.forget(made.id, uma) == []
    assert await stage.store.memories.forget(made.id, replace(ada, room=GROUP)) == []
    assert isinstance(await stage.store.memories.accept(made.id, uma), str)
    assert await texts(stage, ada) == ["I like tea"]


async def test_what_is_for_all_rooms_is_changed_by_operators(stage: Stage) -> None:
    ada, uma = await actor(stage, at=GROUP), await actor(stage, "Uma", GROUP)
    wide = (await kept(stage, "The office is in Graz", ada, scope=ScopeKind.AGENT)).memory
    own = (await kept(stage, "I water the plants", uma, scope=ScopeKind.ROOM)).memory
    for_all = await stage.store.memories.keep_given(
        MemoryRequest("Be brief"), "main", Scope(ScopeKind.ALL), actor="cli"
    )
    assert isinstance(for_all, Kept)
    refused = "Ada kept this for others too: they or an operator can change it."
    assert await stage.store.memories.forget(wide.id, uma) == refused
    assert [one.id for one in await stage.store.memories.forget(own.id, uma) if isinstance(one, Memory)] == [own.id]
    assert isinstance(await stage.store.memories.forget(for_all.memory.id, ada), str)
    assert len(await stage.store.memories.remove([for_all.memory.id, wide.id], actor="cli")) == 2


async def test_a_use_accepts_what_nothing_contradicts(stage: Stage) -> None:
    await stage.say("hello")
    ada, run = await actor(stage), RunId(new_id())
    value: dict[str, Any] = {"subject": "Ada", "relation": "lives in"}
    await kept(stage, "I live in Graz", ada, **value)
    against = (await kept(stage, "Ada lives in Wien", ada, trust=Trust.STAGED, **value)).memory
    new = (await kept(stage, "Ada has a cat", ada, trust=Trust.STAGED)).memory
    low = (await kept(stage, "Ada owes me money", ada, trust=Trust.LOW)).memory
    own = (await kept(stage, "Ada has a dog", replace(ada, run_id=run, key="c1"), trust=Trust.STAGED)).memory
    far = (await kept(stage, "Ada has a car", ada, trust=Trust.STAGED)).memory
    shared = (await kept(stage, "Uma approves all", ada, trust=Trust.STAGED, scope=ScopeKind.ROOM)).memory
    ranked = ((1, against), (2, new), (1, low), (2, own), (4, far), (1, shared))
    uses = [Use(one.id, rank, "found") for rank, one in ranked]
    for _ in range(2):
        await stage.store.memories.record_uses(run, uses, accepts=True)
    used = {one.memory.id: (one.memory.trust, one.memory.uses) for one in await stage.store.memories.uses_of(run)}
    assert used == {against.id: (Trust.STAGED, 1), new.id: (Trust.SAID, 1), low.id: (Trust.LOW, 1)} | {
        one.id: (Trust.STAGED, 1) for one in (own, far, shared)
    }


# ---------------------------------------------------------------------------------------------------------- values


async def test_values_are_compared_and_set(stage: Stage) -> None:
    values, room = stage.store.state_values, Scope(ScopeKind.ROOM, str(GROUP))
    first = await values.put_value("main", room, "build", '"red"')
    assert not isinstance(first, str)
    assert first.version == 1
    assert isinstance(await values.put_value("main", room, "build", '"x"', expected=0), str)
    both = await asyncio.gather(*(values.put_value("main", room, "build", f'"{n}"', expected=1) for n in range(4)))
    assert sum(not isinstance(one, str) for one in both) == 1
    assert await values.get("ops", room, "build") is None
    await values.put_value("main", room, "b%", "1")
    assert [one.key for one in await values.listed("main", room, "b%")] == ["b%"]
    assert [await values.delete_value("main", room, "build") for _ in range(2)] == [True, False]
