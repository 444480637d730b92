"""Work that takes long, for whoever watches it in a browser: a workflow, a goal, kills, and pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Locator, expect

from tests.e2e.browser import Tab
from tests.e2e.house import House

WINDOW: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 940}, "color_scheme": "light"}
PHONE: Final[Any] = {"width": 390, "height": 800}
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
FLOW: Final = "offers"
FLOW_FILE: Final = """\
about = "Look at what is there, draft, ask, and keep the result"

[inputs]
names = ["a", "b"]

[[steps]]
name = "look"
tool = "list_files"

[[steps]]
name = "drafts"
each = "inputs.names"
tool = "write_file"
arguments = { path = "{{ item }}.txt", content = "Draft {{ item }}" }

[[steps]]
name = "pause"
after = ["look"]
wait = "6 seconds"

[[steps]]
name = "sure"
after = ["drafts", "pause"]
ask = "Keep both drafts?"
options = ["Yes", "No"]

[[steps]]
name = "keep"
when = "steps.sure.text == 'Yes'"
tool = "write_file"
arguments = { path = "kept.txt", content = "kept a and b" }

[[steps]]
name = "later"
after = ["sure"]
when = "steps.sure.text == 'No'"
post = "Not kept."
"""
FLOW_SETTINGS: Final = '[[policy]]\ntool = "write_file"\nresult = "allow"\n'
GOAL: Final = "/goal write the kettle is on to tea.txt\nverify: it mentions tea.txt\nturns: 3"


def settings_of(folder: Path) -> None:
    """The workflow as a file beside the settings."""
    (folder / "workflows").mkdir()
    (folder / "workflows" / f"{FLOW}.toml").write_text(FLOW_FILE, encoding="utf-8")


async def watched_flow(chat: Tab, tab: Tab, house: House, pictures: Path) -> None:
    """Start it in `chat` and watch its graph in `tab`, while the program is killed twice."""
    chat.may_be_away = tab.may_be_away = True
    await chat.say(f"/workflow {FLOW}")
    await open_work(tab, house, "workflows", FLOW)
    await expect(step(tab, "pause")).to_contain_text("wait, waiting")
    await restarted(tab, house)  # while it waits for a time
    await expect(step(tab, "drafts")).to_contain_text("tool, succeeded")
    await expect(step(tab, "sure")).to_contain_text("question to a person, waiting")
    await photographed(tab, pictures / "workflow.png")
    await photographed(tab, pictures / "workflow-narrow.png", narrow=True)
    await restarted(tab, house)  # while it waits for a person
    card = await chat.open_card()
    await card.get_by_role("button", name="Yes", exact=True).click()
    await expect(step(tab, "keep")).to_contain_text("tool, succeeded")
    await expect(tab.page.locator(".badge").first).to_have_text("done")
    await chat.reply("Wrote 12 bytes to kept.txt")


async def watched_goal(chat: Tab, tab: Tab, house: House, pictures: Path) -> None:
    """Set it in `chat` and watch its page in `tab`, while the program is killed twice."""
    chat.may_be_away = tab.may_be_away = True
    await chat.say(GOAL)
    card = await chat.open_card()
    await open_work(tab, house, "goals", "write the kettle")
    await expect(tab.page.locator("dd").filter(has_text="a person")).to_be_visible()
    await restarted(tab, house)  # before anybody agreed
    await card.get_by_role("button", name="Begin", exact=True).click()
    write = await chat.open_card()
    await expect(write).to_contain_text("The goal write the kettle")  # begins a sentence there, and on no other card
    await restarted(tab, house)  # in the middle of a turn
    await expect(tab.page.get_by_role("row").filter(has_text="waiting")).to_be_visible()
    await write.get_by_test_id("approve").click()
    await expect(tab.page.get_by_role("row").filter(has_text="accepted")).to_be_visible()
    await expect(tab.page.locator(".badge").first).to_have_text("done")
    await chat.reply("Goal met after 1 turn")
    await photographed(tab, pictures / "goal-met.png")
    await photographed(tab, pictures / "goal-narrow.png", narrow=True)


def step(tab: Tab, name: str) -> Locator:
    """The box of a step in the graph."""
    return tab.page.locator(".graph g.step").filter(has_text=re.compile(rf"^{name}: "))


async def open_work(tab: Tab, house: House, kind: str, name: str) -> None:
    """The page of the newest one that is called so, by the list of them."""
    await tab.page.goto(f"{house.url}/console/{kind}")
    row = tab.page.get_by_role("row").filter(has_text=re.compile(re.escape(name))).filter(has=tab.page.locator("time"))
    await expect(row).to_be_visible()
    await row.locator("a").first.click()
    await expect(tab.page.locator("h1")).to_contain_text(name)


async def restarted(tab: Tab, house: House) -> None:
    """kill -9, a while in which the page says so, and another start, after which it goes on by itself."""
    house.kill()
    await expect(tab.page.locator("#said")).to_contain_text("isn't answering")
    house.start()
    await expect(tab.page.locator("#said")).to_have_text("Connected again.")


async def photographed(tab: Tab, path: Path, *, narrow: bool = False) -> None:
    """Keep a picture of the page, of which nothing may stand out to the right; `narrow`: as a phone shows it."""
    before = tab.page.viewport_size
    if narrow:
        await tab.page.set_viewport_size(PHONE)
    assert await tab.page.evaluate(SIDEWAYS) == 0
    await tab.page.screenshot(path=path, animations="disabled", full_page=True)
    if before:
        await tab.page.set_viewport_size(before)
