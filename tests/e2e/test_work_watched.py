"""A workflow's graph and a goal, watched in a real browser while the program is killed and started again."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from tests.e2e.browser import Tab, chromium, executable, tab_of
from tests.e2e.conftest import not_here
from tests.e2e.house import House, open_house
from tests.e2e.watched import FLOW, FLOW_SETTINGS, GOAL, WINDOW, open_work, photographed, restarted, settings_of

pytestmark = [
    pytest.mark.soak,
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(300),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    program = executable()
    if program is None:
        not_here("no Chromium on this machine (tests/setup_chromium.sh installs one)")
    assert program is not None
    async with chromium(program) as browser:
        yield browser


def step(tab: Tab, name: str) -> Locator:
    return tab.page.locator(".graph g.step").filter(has_text=re.compile(rf"^{name}: "))


def told(house: House, *words: str) -> Any:
    return json.loads(house.command(*words, "--json").stdout)


async def test_a_graph_goes_on_by_itself_after_kills_and_each_step_is_done_once(
    browser: Browser, tmp_path: Path
) -> None:
    settings_of(tmp_path)
    with open_house(tmp_path, FLOW_SETTINGS) as house:
        async with tab_of(browser, house.link, **WINDOW) as chat, tab_of(browser, house.link, **WINDOW) as tab:
            chat.may_be_away = tab.may_be_away = True
            await chat.say(f"/workflow {FLOW}")
            await open_work(tab, house, "workflows", FLOW)
            await expect(step(tab, "pause")).to_contain_text("wait · waiting")
            await restarted(tab, house)  # while it waits for a time, and for a person
            await expect(step(tab, "drafts")).to_contain_text("tool · succeeded")
            await expect(step(tab, "sure")).to_contain_text("ask · waiting")
            await photographed(tab, tmp_path / "workflow.png")
            await photographed(tab, tmp_path / "workflow-narrow.png", narrow=True)
            await restarted(tab, house)
            card = await chat.open_card()
            await card.get_by_role("button", name="Yes", exact=True).click()
            await expect(step(tab, "keep")).to_contain_text("tool · succeeded")
            await expect(tab.page.locator(".badge").first).to_have_text("done")
            await photographed(tab, tmp_path / "workflow-done.png")
            await chat.reply("Wrote 12 bytes to kept.txt")
            await expect(chat.said("agent").filter(has_text="Wrote 12 bytes to kept.txt")).to_have_count(1)
        [begun] = told(house, "workflows", "list", "--begun")
        assert (begun["state"], begun["done"]) == ("done", len(begun["steps"]))


async def test_a_goal_goes_on_by_itself_after_kills_and_is_told_once(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        async with tab_of(browser, house.link, **WINDOW) as chat, tab_of(browser, house.link, **WINDOW) as tab:
            chat.may_be_away = tab.may_be_away = True
            await chat.say(GOAL)
            card = await chat.open_card()
            await open_work(tab, house, "goals", "write the kettle")
            await expect(tab.page.locator("dd").filter(has_text="a person")).to_be_visible()
            await restarted(tab, house)  # before anybody agreed
            await card.get_by_role("button", name="Begin", exact=True).click()
            write = await chat.open_card()
            await expect(write).to_contain_text("the goal write the kettle")
            await restarted(tab, house)  # in the middle of a turn
            await expect(tab.page.get_by_role("row").filter(has_text="waiting")).to_be_visible()
            await photographed(tab, tmp_path / "goal.png")
            await photographed(tab, tmp_path / "goal-narrow.png", narrow=True)
            await write.get_by_test_id("approve").click()
            await expect(tab.page.get_by_role("row").filter(has_text="accepted")).to_be_visible()
            await expect(tab.page.locator(".badge").first).to_have_text("done")
            await chat.reply("Goal met after 1 turn")
            await expect(chat.said("agent").filter(has_text="Goal met")).to_have_count(1)
            await photographed(tab, tmp_path / "goal-met.png")
        [goal] = told(house, "goals", "list")
        assert [turn["state"] for turn in goal["turns"]] == ["accepted"]
