"""Work that was handed on, for operators: the API, the console's pages and the commands, of a whole process in this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import EVIL, House
from tests.unit.bot.settings.test_settings import read

ROOM = "reports"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, "[web]\nport = 0\n"), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def stand(house: House, count: int = 1, **wanted: object) -> list[dict[str, Any]]:
    """So many pieces of work, once they all stand so."""
    async with asyncio.timeout(20):
        while True:
            found = await house.api.handed_on()
            if len(found) == count and all(row[name] == value for row in found for name, value in wanted.items()):
                return found
            await asyncio.sleep(0.02)  # over HTTP


async def test_a_piece_of_work_is_listed_shown_on_pages_and_stopped(house: House) -> None:
    await house.api.say(ROOM, f"delegate: run: echo {EVIL}", "event-0001")
    [piece] = await stand(house, asks=["shell"])
    assert (piece["agent"], piece["chain"], piece["by"], piece["state"]) == ("main", ["main"], "owner", "open")
    assert piece["stands"] == "waits for approval of shell"
    assert await house.api.handed_on("done") == []
    for run in (piece["id"], piece["root"]):
        assert [one["id"] for one in await house.api.handed_on(run=run)] == [piece["id"]]
        await shows_the_tree(house, f"/console/runs/{run}", piece["id"])
    await shows_the_tree(house, "/console/children?state=open", piece["id"])
    assert "Nothing was handed on." in await house.page("/console/children?state=late")
    assert (await house.api.stop_child(piece["short"]))["state"] == "stopped"
    [stopped] = await stand(house, state="stopped", asks=[])
    assert stopped["result"] == "Stopped by owner."
    with pytest.raises(Refusal, match="over already"):
        await house.api.stop_child(piece["short"])


async def shows_the_tree(house: House, path: str, child: str) -> None:
    page = await house.page(path)
    assert '<ul class="tree">' in page
    assert "echo &lt;script&gt;" in page
    assert EVIL not in page
    assert f'action="/console/api/children/{child}/stop"' in page


async def test_a_piece_of_work_that_there_is_not_is_refused_in_words(house: House) -> None:
    with pytest.raises(Refusal, match="Nothing that was handed on is called 'nothing'"):
        await house.api.child("nothing")
    with pytest.raises(Refusal, match="isn't one of: open, done, failed, stopped, late"):
        await house.api.handed_on("claimed")
    assert "Nothing was handed on." in await house.page("/console/children")


async def test_a_piece_is_shown_with_all_below_it(house: House) -> None:
    await house.api.say(ROOM, "delegate: delegate: list the files", "event-0002")
    above, below = await stand(house, 2, state="done")
    assert (above["depth"], below["depth"], below["parent"]) == (0, 1, above["id"])
    assert [one["id"] for one in (await house.api.child(above["id"]))["below"]] == [below["id"]]
    assert (await house.api.child(below["short"]))["below"] == []
