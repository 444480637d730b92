"""Memories for operators: the API, the console's page and what neither shows of people."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import EVIL, House
from tests.unit.bot.settings.test_settings import read

ROOM = "reports"
PAGE = "/console/memory"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, "[web]\nport = 0\n"), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def counted(house: House, number: int) -> list[tuple[str, str, int]]:
    """What is kept, once there are so many."""
    async with asyncio.timeout(20):
        while True:
            rows = await house.api.memory_counts()
            if sum(row["count"] for row in rows) == number:
                return [(row["scope"], row["person"], row["count"]) for row in rows]
            await asyncio.sleep(0.02)  # over HTTP


async def test_operators_write_show_and_delete_what_is_for_all(house: House) -> None:
    made = await house.api.put_memory(f"We deploy on Fridays {EVIL}", "all")
    assert made["told"] == f"Kept as {made['short']}."
    await house.api.put_memory("The wiki is at wiki.example", "agent", agent="main")
    await house.api.put_memory("This room is for reports", "room", room=f"web:main/{ROOM}")
    assert {row["scope"] for row in await house.api.memories()} == {"all", "agent", "room"}
    assert [row["text"] for row in await house.api.memories(scope="agent")] == ["The wiki is at wiki.example"]
    assert [row["scope"] for row in await house.api.memories(room=f"web:main/{ROOM}")] == ["room"]
    page = await house.page(PAGE)
    assert "We deploy on Fridays &lt;script&gt;" in page
    assert EVIL not in page
    assert f'action="/console/api/memories/{made["id"]}/delete"' in page
    assert "wiki" not in await house.page(f"{PAGE}?scope=all")
    assert (await house.api.memory(made["short"]))["by"] == ""
    assert "Forgotten for good" in (await house.api.delete_memory(made["short"]))["told"]
    with pytest.raises(Refusal, match="No memory is called"):
        await house.api.memory(made["id"])


async def test_a_value_of_the_same_thing_replaces_the_one_before(house: House) -> None:
    await house.api.put_memory("We deploy on Fridays", "all", subject="we", relation="deploy")
    made = await house.api.put_memory("We deploy on Mondays", "all", subject="We", relation="deploy")
    assert "It replaces: We deploy on Fridays" in made["told"]
    assert [row["text"] for row in await house.api.memories()] == ["We deploy on Mondays"]


async def test_of_a_person_operators_see_a_count_alone(house: House) -> None:
    """Their own they see: the one who asks here is the owner."""
    await house.api.say(ROOM, "remember that my dog is called Rex", "event-0001")
    assert await counted(house, 1) == [("person", "owner", 1)]
    [own] = await house.api.memories()
    assert own["text"] == "my dog is called Rex"
    async with house.browser("uma", "user") as browser:
        said = {"id": "event-0002", "text": "remember that my secret is Otto"}
        async with browser.post(
            "/api/rooms/umasroom/messages", json=said, headers={"Origin": house.ready.control.url}
        ) as answer:
            assert answer.status == 202
        assert sorted(await counted(house, 2)) == [("person", "owner", 1), ("person", "uma", 1)]
        async with browser.get(PAGE) as answer:
            assert answer.status == 403
    assert [row["id"] for row in await house.api.memories()] == [own["id"]]
    page = await house.page(PAGE)
    assert "my dog is called Rex" in page
    assert "Otto" not in page
    assert "uma" in page


async def test_what_a_child_had_kept_counts_once_it_is_accepted(house: House) -> None:
    await house.api.say(ROOM, "delegate: remember that my cat is called Tom", "event-0001")
    await counted(house, 1)
    [row] = await house.api.memories(scope="person")
    assert (row["text"], row["trust"], row["by"]) == ("my cat is called Tom", "low", "")
    assert f'action="/console/api/memories/{row["id"]}/accept"' in await house.page(PAGE)
    assert (await house.api.accept_memory(row["short"]))["told"] == "Accepted: my cat is called Tom"
    assert (await house.api.memory(row["id"]))["trust"] == "said"
    assert "/accept" not in await house.page(PAGE)


async def test_what_nobody_may_write_is_refused_in_words(house: House) -> None:
    with pytest.raises(Refusal, match="Operators write for a room"):
        await house.api.put_memory("x y z", "person")
    with pytest.raises(Refusal, match="Name the room"):
        await house.api.put_memory("x y z", "room")
    with pytest.raises(Refusal, match="isn't one of"):
        await house.api.put_memory("x y z", "everybody")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scope": "agent", "agent": "nosuch"}, "There's no agent called 'nosuch'. Agents here: main."),
        ({"scope": "all", "agent": "main"}, "What is for all belongs to no agent"),
        ({"scope": "all", "room": f"web:main/{ROOM}"}, "--room goes with --scope room"),
        ({"scope": "all", "relation": "is"}, "A relation is of something: add --subject"),
        ({"scope": "all", "text": "x" * 100_000}, "at most 2,000 characters, and this one has 100,000"),
        ({"scope": "all", "subject": "s" * 201}, "The subject has at most 200 characters"),
    ],
)
async def test_what_does_not_go_together_is_refused_in_words(house: House, given: dict[str, str], words: str) -> None:
    with pytest.raises(Refusal, match=re.escape(words)):
        await house.api.put_memory(**{"text": "x y z", **given})
    assert await house.api.memories() == []


async def test_a_list_of_an_agent_that_is_not_there_says_so(house: House) -> None:
    with pytest.raises(Refusal, match="no agent called 'nosuch'"):
        await house.api.memories(agent="nosuch")


async def test_a_pack_that_is_not_there_is_told(house: House) -> None:
    for asked in (house.api.knowledge_documents("nosuch"), house.api.search_knowledge("leave", "nosuch")):
        with pytest.raises(Refusal, match=r"No pack called 'nosuch' has been read\. None has been read"):
            await asked
    with pytest.raises(Refusal, match="Say what to look for"):
        await house.api.search_knowledge(" ")
