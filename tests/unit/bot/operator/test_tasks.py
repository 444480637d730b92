"""Tasks for operators: the API and the console's pages, of a whole process in this one."""

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


async def stands(house: House, **wanted: object) -> dict[str, Any]:
    """The one task, once it stands so."""
    async with asyncio.timeout(20):
        while True:
            [task] = await house.api.tasks()
            if {name: task[name] for name in wanted} == wanted:
                return task
            await asyncio.sleep(0.02)  # over HTTP


async def test_a_task_is_listed_shown_dropped_and_tried_again(house: House) -> None:
    await house.api.say(ROOM, f"/task run: echo {EVIL}", "event-0001")
    task = await stands(house, state="claimed", asks=True)
    assert (task["by"], task["owner"], task["address"], task["attempts"]) == ("owner", "main", f"web:main/{ROOM}", 1)
    assert await house.api.tasks("done") == []
    assert [one["id"] for one in await house.api.tasks("claimed", f"web:main/{ROOM}")] == [task["id"]]
    for path in ("/console/tasks", f"/console/tasks/{task['id']}"):
        page = await house.page(path)
        assert "run: echo &lt;script&gt;" in page
        assert EVIL not in page
        assert f'action="/console/api/tasks/{task["id"]}/drop"' in page
    assert (await house.api.drop_task(task["short"]))["told"] == f"Dropped: run: echo {EVIL}."
    dropped = await stands(house, state="dropped", asks=False)
    assert dropped["result"] == "Dropped by owner."
    with pytest.raises(Refusal, match="already dropped"):
        await house.api.drop_task(task["short"])
    assert f'action="/console/api/tasks/{task["id"]}/retry"' in await house.page("/console/tasks")
    await house.api.retry_task(task["id"])
    assert (await stands(house, state="claimed", asks=True))["attempts"] == 2


async def test_a_task_that_there_is_not_is_refused_in_words(house: House) -> None:
    with pytest.raises(Refusal, match="No task is called 'nothing'"):
        await house.api.task("nothing")
    with pytest.raises(Refusal, match="isn't one of: open, claimed, done, failed, dropped"):
        await house.api.tasks("late")
    assert "No tasks." in await house.page("/console/tasks")
