"""Examples of the pages "Workflows", "Goals" and "Hands and triggers", each run to its end in a whole process in this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from runtime.contract import Choice
from tests.unit.bot.operator.test_schedules import House
from tests.unit.bot.settings.test_settings import read
from tests.unit.test_docs import DOCS, OWN_FILES, blocks

ROOM: Final = "reports"
TO: Final = f"web:main/{ROOM}"
TRIED: Final = ("workflows.md", "triggers.md")
SEEN_WITHIN: Final = 20  # seconds; under one where nothing else runs


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A place with all settings and files that the pages show."""
    settings = ["[web]\nport = 0\n"]
    for name in TRIED:
        for block in blocks(DOCS / name):
            if block.marks and block.marks[0].startswith(OWN_FILES):
                place = tmp_path / block.marks[0].removeprefix("file=")
                place.parent.mkdir(exist_ok=True)
                place.write_text(block.text, encoding="utf-8")
            elif block.language == "toml":
                settings.append(block.text)
    async with serving(read(tmp_path, "\n".join(settings)), with_link=False) as ready, connected(ready.control) as api:
        await api.say(ROOM, "hello", "event-0001")  # a room of the page is there once something was said in it
        yield House(ready, api)


async def seen(look: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
    """The first of what is looked at that is as `wanted`."""
    async with asyncio.timeout(SEEN_WITHIN):
        while True:
            if wanted(found := await look()):
                return found
            await asyncio.sleep(0.02)  # over HTTP


async def decided(house: House, tool: str, choice: Choice) -> None:
    rows = await seen(lambda: house.api.approvals("pending"), lambda rows: any(row["tool"] == tool for row in rows))
    await house.api.decide(next(row["id"] for row in rows if row["tool"] == tool), choice)


async def ended(house: House, name: str) -> dict[str, Any]:
    [row] = await seen(lambda: house.api.workflow_runs(name), lambda rows: rows and rows[0]["ended_at"])
    found: dict[str, Any] = await house.api.workflow_run(row["id"])
    return found


async def test_the_examples_do_what_their_pages_say(house: House) -> None:
    """One process for all of them: each has a part below."""
    await workflow_asks_and_writes(house)
    await goal_is_met(house)
    await trigger_begins_its_workflow(house)
    await hand_works(house)


async def workflow_asks_and_writes(house: House) -> None:
    await house.api.say(ROOM, "/workflow tidy", "event-0002")
    await decided(house, "ask_person", Choice.FIRST)
    await decided(house, "write_file", Choice.APPROVE)
    row = await ended(house, "tidy")
    assert (row["state"], [step["state"] for step in row["steps"]]) == ("done", ["succeeded"] * 3)


async def goal_is_met(house: House) -> None:
    await house.api.say(ROOM, "/goal list the files\nverify: it mentions note.txt\nturns: 2", "event-0003")
    await decided(house, "ask_person", Choice.FIRST)
    [goal] = await seen(house.api.goals, lambda rows: rows[0]["ended_at"])
    assert (goal["end"], [turn["state"] for turn in goal["turns"]]) == ("met", ["accepted"])


async def trigger_begins_its_workflow(house: House) -> None:
    await house.api.say(ROOM, "hear, hear: we decided to go", "event-0004")
    await decided(house, "write_file", Choice.APPROVE)
    row = await ended(house, "note_it")
    assert (row["state"], row["inputs"]["said"]) == ("done", "hear, hear: we decided to go")
    [fired] = [one for one in await house.api.triggers() if one["name"] == "keep decisions"]
    assert fired["fires"] == 1


async def hand_works(house: House) -> None:
    [hand] = await house.api.hands()
    assert (hand["hand"], hand["to"], hand["state"]) == ("watcher", [TO], "active")
    await house.api.run_schedule(hand["id"])
    await seen(house.api.hands, lambda hands: hands[0]["last_state"] == "done")
