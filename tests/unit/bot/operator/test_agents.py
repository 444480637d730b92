"""Agents for operators: the API and the console's page of a whole process, whose names can steer no page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import House
from tests.unit.bot.settings.test_settings import read

TEXT = (
    "[web]\nport = 0\n"
    '[[agents]]\nname = "ops"\nprompt = "You keep things running."\ntools = ["read_file", "shell"]\neffects = "write"\n'
    'rooms = ["slack:work/<b>*"]\nbudget_day = 5.0\ntool_calls_per_minute = 60\n'
)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, TEXT), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def test_agents_are_told_with_the_tools_that_are_left(house: House) -> None:
    main, ops = await house.api.agents()
    assert (main["name"], "shell" in main["has"], main["model"]) == ("main", True, "demo")
    assert (ops["name"], ops["has"], ops["prompt"]) == ("ops", ["find_tools", "read_file"], "You keep things running.")
    assert await house.api.agent("ops") == ops
    with pytest.raises(Refusal, match="There is no agent dev"):
        await house.api.agent("dev")


async def test_the_page_of_agents_shows_each_with_its_bounds(house: House) -> None:
    page = await house.page("/console/agents")
    assert "2 tools, up to write" in page
    assert "$5.00 a day, 60 tool calls a minute" in page
    assert "wherever no other does" in page
    assert "<b>*" not in page
    async with house.browser("uma", "user") as browser, browser.get("/console/agents") as answer:
        assert answer.status == 403
