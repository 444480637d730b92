"""A workflow's graph and a goal, watched in a real browser while the program is killed and started again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.browser import tab_of
from tests.e2e.house import House, open_house
from tests.e2e.watched import FLOW_SETTINGS, WINDOW, settings_of, watched_flow, watched_goal

pytestmark = [
    pytest.mark.soak,
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(300),
]


def told(house: House, *words: str) -> Any:
    return json.loads(house.command(*words, "--json").stdout)


async def test_a_graph_goes_on_by_itself_after_kills_and_each_step_is_done_once(
    browser: Browser, tmp_path: Path
) -> None:
    settings_of(tmp_path)
    with open_house(tmp_path, FLOW_SETTINGS) as house:
        async with tab_of(browser, house.link, **WINDOW) as chat, tab_of(browser, house.link, **WINDOW) as tab:
            await watched_flow(chat, tab, house, tmp_path)
            await expect(chat.said("agent").filter(has_text="Wrote 12 bytes to kept.txt")).to_have_count(1)
        [begun] = told(house, "workflows", "list", "--begun")
        assert (begun["state"], begun["done"]) == ("done", len(begun["steps"]))


async def test_a_goal_goes_on_by_itself_after_kills_and_is_told_once(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        async with tab_of(browser, house.link, **WINDOW) as chat, tab_of(browser, house.link, **WINDOW) as tab:
            await watched_goal(chat, tab, house, tmp_path)
            await expect(chat.said("agent").filter(has_text="Goal met")).to_have_count(1)
        [goal] = told(house, "goals", "list")
        assert [turn["state"] for turn in goal["turns"]] == ["accepted"]
