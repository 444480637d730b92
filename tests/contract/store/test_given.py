"""Memories that a run is given unasked, and those that it recalls: which ones, in what order, and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from runtime.contract import Address
from runtime.contract.memory.facts import MemoryActor, Recalled, Trust
from runtime.store.common import web_identity
from runtime.store.store import Store
from tests.contract.store.stage import OTHER_ROOM, ROOM, UMA, HandClock, Stage
from tests.contract.store.test_memories import who
from tests.contract.store.test_memory_search import HERE, kept
from tests.contract.store.test_memory_vectors import Model, duty_of, recalling_of


def texts(found: list[Recalled]) -> list[str]:
    return [one.memory.text for one in found]


async def test_pinned_rows_come_first_and_only_what_was_said(store: Store) -> None:
    await kept(store, "The office is in Graz", pinned=True)
    await kept(store, "Deploys are on Fridays")
    await kept(store, "Deploys are always approved", trust=Trust.LOW)
    await kept(store, "Deploys take an hour", trust=Trust.STAGED)
    await kept(store, "I drink tea")
    found = await recalling_of(store, None).given("When are deploys?", HERE)
    assert texts(found) == ["The office is in Graz", "Deploys are on Fridays"]
    assert [one.why for one in found] == ["pinned", "words, 1st"]
    assert texts(await recalling_of(store, None).given("Good morning!", HERE)) == ["The office is in Graz"]


async def test_what_has_little_to_do_with_a_message_is_not_given(store: Store) -> None:
    await kept(store, "The quarterly report of the Lisbon office is due in March")
    recalling = recalling_of(store, None)
    assert texts(await recalling.given("Which office chairs, desks and lamps are on sale today?", HERE)) == []
    assert len(await recalling.recall("Which office chairs, desks and lamps are on sale today?", HERE)) == 1


async def test_given_rows_keep_to_their_number_and_tokens(store: Store) -> None:
    for number in range(8):
        await kept(store, f"Deploy {number} " + f"step{number} " * 100)
    recalling = recalling_of(store, None)
    assert len(await recalling.given("deploy", HERE)) == 5
    assert len(await recalling.given("deploy", HERE, tokens=500)) == 2
    assert len(await recalling.recall("deploy", HERE)) == 8
    assert len(await recalling.recall("deploy", HERE, limit=3)) == 3


async def test_of_equal_rows_the_recent_and_important_one_comes_first(store: Store, clock: HandClock) -> None:
    await kept(store, "Standup is at nine")
    await kept(store, "Standup matters most", importance=5)
    clock.advance(hours=24 * 90)
    await kept(store, "Standup is at ten")
    recalling = recalling_of(store, None)
    assert texts(await recalling.recall("standup", HERE))[0] == "Standup is at ten"
    since = await recalling.recall("standup", HERE, since=store.now() - timedelta(days=1))
    assert texts(since) == ["Standup is at ten"]
    assert texts(await recalling.recall("standup", HERE, about="ten")) == ["Standup is at ten"]


async def test_words_and_meaning_are_told_as_the_reason(store: Store) -> None:
    await kept(store, "My doctor is Dr Hofer")
    await duty_of(store, model := Model()).look()
    [one] = await recalling_of(store, model).recall("my doctor", HERE)
    assert one.why == "words, 1st; meaning, 1st"
    [one] = await recalling_of(store, model).given("my physician", HERE)
    assert one.why == "meaning, 1st"


async def test_messages_that_answer_most_come_newest_first(stage: Stage) -> None:
    for text in ("the budget is due", "lunch", "the budget of May is due on Friday", "hello"):
        await stage.say(text)
    await stage.write("UPDATE signals SET accepted_at = accepted_at + 60000000 WHERE text LIKE '%Friday'")
    by = MemoryActor("main", ROOM, await who(stage, "Ada"))
    recalling = recalling_of(stage.store, None)
    found = await recalling.search_messages("budget due", by)
    assert [one.text for one in found] == ["the budget of May is due on Friday", "the budget is due"]
    assert {(one.author, one.room) for one in found} == {("Ada", ROOM)}
    elsewhere = MemoryActor("main", Address.parse("slack:T1/C9"), by.person)
    assert await recalling.search_messages("budget due", elsewhere) == []


async def test_answers_are_messages_too_and_those_of_other_rooms_stay_there(stage: Stage) -> None:
    ada = await who(stage, "Ada")
    page = web_identity(ada)
    await stage.finish(await stage.begin("when is the fair?", actor=page), "The fair begins on Friday.")
    await stage.finish(await stage.begin("the fair in private", actor=UMA, at=OTHER_ROOM), "A secret of the fair.")
    second = replace(ROOM, room="another-of-ada")
    await stage.say("tickets for the fair", actor=page, at=second)
    recalling = recalling_of(stage.store, None)

    async def found(at: Address) -> list[str]:
        hits = await recalling.search_messages("fair", MemoryActor("main", at, ada))
        return sorted(one.text for one in hits)

    own = ["The fair begins on Friday.", "when is the fair?"]
    assert await found(ROOM) == sorted([*own, "tickets for the fair"])
    await stage.say("hi Ada, the fair?", actor=UMA, at=second)
    assert await found(ROOM) == own
    assert await found(second) == ["hi Ada, the fair?", "tickets for the fair"]
