"""Standing intents: "tell me when …", for one room, once a day, and until they end."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from runtime.contract import Address, RunId, SessionKey, TaskActor
from runtime.contract.agents.watches import KeptWatch, WatchWish
from runtime.domain.ids import new_id
from runtime.domain.triggers.matching import MessageTriggers
from runtime.errors import ToolRetry
from runtime.guard.door import OPEN_DOOR
from runtime.triggers.watching import WATCHES_MAX, RoomWatches
from tests.contract.store.stage import ADA, GATE, OTHER_ROOM, OTTO, ROOM, Stage

DEPLOY: Final = WatchWish("words", ["deploy*"])


def watches(stage: Stage) -> RoomWatches:
    return RoomWatches(book=stage.store.triggers, now=stage.store.now, changed=lambda: None, door=lambda: OPEN_DOOR)


async def actor(stage: Stage, name: str = "Uma", room: Address = ROOM) -> TaskActor:
    (who,) = [one.person for one in await stage.store.people.people() if one.person.name == name]
    return TaskActor(room, SessionKey("s"), RunId(new_id()), who, new_id())


async def watched(stage: Stage, wish: WatchWish = DEPLOY) -> KeptWatch:
    return await watches(stage).watch(wish, await actor(stage), "main")


async def heard(stage: Stage, text: str, at: Address = ROOM) -> int:
    """Say it, as another person; how much work triggers have begun by then."""
    gate = replace(GATE, triggers=MessageTriggers(await stage.store.triggers.for_messages()))
    await stage.say(text, actor=ADA, at=at, gate=gate)
    return len(await stage.column("SELECT id FROM occurrences"))


async def test_somebody_is_told_of_words_in_their_room_once_a_day(stage: Stage) -> None:
    await watched(stage)
    assert await heard(stage, "we deploy", at=OTHER_ROOM) == 0
    assert await heard(stage, "we deploy") == 1
    assert await heard(stage, "we deploy again") == 1
    if stage.store.driver.now != stage.clock:  # a server has a clock of its own
        return
    stage.clock.advance(hours=25)
    assert await heard(stage, "we deploy a third time") == 2
    stage.clock.advance(hours=24 * 90)
    assert await heard(stage, "we deploy much later") == 2


async def test_the_same_call_makes_one_watch(stage: Stage) -> None:
    by = await actor(stage)
    for _ in range(2):
        await watches(stage).watch(DEPLOY, by, "main")
    assert len(await watches(stage).listed(by)) == 1


async def test_a_watch_is_ended_by_its_person_or_an_operator(stage: Stage) -> None:
    made = await watched(stage)
    with pytest.raises(ToolRetry, match="None of yours"):
        await watches(stage).end(made.id, await actor(stage, "Ada", OTHER_ROOM))
    assert (await watches(stage).end("deploy*", await actor(stage, "Otto"))).id == made.id
    assert await heard(stage, "we deploy") == 0


async def test_a_person_watches_only_so_many_things(stage: Stage) -> None:
    for number in range(WATCHES_MAX):
        await watched(stage, WatchWish("words", [f"word{number}"]))
    with pytest.raises(ToolRetry, match="limit"):
        await watched(stage)


@pytest.mark.parametrize("wish", [WatchWish("agent_spawned"), WatchWish("words"), WatchWish("words", ["*"])])
async def test_what_can_not_be_watched_is_refused(stage: Stage, wish: WatchWish) -> None:
    with pytest.raises(ToolRetry):
        await watched(stage, wish)


async def test_schedules_tell_what_is_watched(stage: Stage) -> None:
    made = await watched(stage)
    await stage.say("/schedules", actor=OTTO)
    assert 'when somebody says "deploy"**, until' in (told := (await stage.drain())[-1])
    assert made.id in told
