"""Processes for operators: the API and the console's page, of a whole process in this one, with the demo model at work."""

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
from tests.unit.tools.processes import gone, started

ROOM = "reports"
SETTINGS = '[web]\nport = 0\n[[policy]]\ntool = "process_*"\nresult = "allow"\n'


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, SETTINGS), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def stands(house: House, count: int, state: str) -> dict[str, Any]:
    """The newest process, once there are so many and it stands so."""
    async with asyncio.timeout(20):
        while True:
            rows = await house.api.processes()
            if len(rows) == count and rows[0]["state"] == state:
                return rows[0]
            await asyncio.sleep(0.02)  # over HTTP


async def test_a_process_is_listed_and_stopped_by_operators_and_in_chat(house: House) -> None:
    await house.api.say(ROOM, f"start: echo '{EVIL}'; sleep 4271", "event-0001")
    row = await stands(house, 1, "running")
    await started("4271")
    assert (row["agent"], row["address"], row["exit"]) == ("main", f"web:main/{ROOM}", None)
    assert [one["id"] for one in await house.api.processes(f"web:main/{ROOM}")] == [row["id"]]
    assert await house.api.processes("web:main/another") == []
    page = await house.page("/console/tasks")
    assert "&lt;script&gt;" in page
    assert EVIL not in page
    assert f'action="/console/api/processes/{row["id"]}/stop"' in page
    assert (await house.api.stop_process(row["short"]))["told"].startswith("It ends now: echo ")
    assert (await stands(house, 1, "stopped"))["reason"] == "Stopped by owner."
    await gone("4271")
    with pytest.raises(Refusal, match="over already"):
        await house.api.stop_process(row["short"])
    await house.api.say(ROOM, "start: sleep 4272", "event-0002")
    await stands(house, 2, "running")
    await house.api.say(ROOM, "/stop", "event-0003")
    await stands(house, 2, "stopped")
    await gone("4272")
    with pytest.raises(Refusal, match="No process is called 'nothing'"):
        await house.api.stop_process("nothing")
