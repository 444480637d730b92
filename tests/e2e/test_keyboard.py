"""The whole main job by keyboard alone, with a focus that can be seen all the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.browser import Tab, tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

STEPS: Final = 80
"""Presses of Tab within which anything on a page is reached."""
FOCUS: Final = """() => {
  const one = document.activeElement;
  const at = one.closest("[data-testid]");
  const seen = [one, one.parentElement, one.closest(".composer-box")].filter(Boolean).map((part) => getComputedStyle(part));
  return {
    testid: at?.dataset.testid ?? "", label: one.getAttribute("aria-label") ?? one.textContent.trim().slice(0, 60),
    page: one === document.body,
    seen: seen.some((style) => (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none"),
  };
}"""
ZOOMED: Final = {"width": 640, "height": 450}
"""A window of 1280 pixels at 200 %."""
REFLOWED: Final = {"width": 320, "height": 256}
"""The same at 400 %."""
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


async def to(page: Page, testid: str, label: str = "") -> None:
    """Press Tab until the focus is there; wherever it stands on the way, it can be seen."""
    for _ in range(STEPS):
        await page.keyboard.press("Tab")
        focus = await page.evaluate(FOCUS)
        assert focus["page"] or focus["seen"], f"the focus on {focus['label']!r} can't be seen"
        if focus["testid"] == testid and label in focus["label"]:
            return
    raise AssertionError(f"no Tab leads to {testid} {label}")


async def chosen(page: Page, label: str) -> None:
    """Open the menu of the first conversation and choose from it."""
    await to(page, "room-more")
    await page.keyboard.press("Enter")
    for _ in range(5):
        if (await page.evaluate(FOCUS))["label"] == label:
            break
        await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")


async def gone_to(page: Page, words: str) -> None:
    """To a place by its name."""
    await page.keyboard.press("Control+k")
    await expect(page.locator("#palette-field")).to_be_focused()
    await page.keyboard.type(words)
    await expect(page.get_by_test_id("place").first).to_contain_text(words, ignore_case=True)
    await page.keyboard.press("Enter")


async def test_the_main_job_is_done_by_keyboard_alone(browser: Browser, house: House) -> None:
    """In the system's own colours, which take away shadows and grounds."""
    async with tab_of(browser, house.link, forced_colors="active") as tab:
        page = tab.page
        await page.keyboard.press("Escape")
        await asked_and_approved(tab)
        await page.keyboard.press("Escape")
        await gone_to(page, "New conversation")
        await expect(page.locator("#welcome")).to_be_visible()
        await page.keyboard.type("what about the second?")
        await page.keyboard.press("Enter")
        await tab.reply("what about the second?")
        await gone_to(page, "write the kettle")
        await expect(page.locator("#room-title")).to_contain_text("write the kettle")
        await renamed_and_deleted(tab)
        await gone_to(page, "console: models")
        await expect(page.locator("h1")).to_have_text("Models")
        await page.keyboard.press("Tab")
        assert (await page.evaluate(FOCUS))["label"] == "Skip to content"
        await page.keyboard.press("Enter")
        await expect(page.locator("#main")).to_be_focused()


async def asked_and_approved(tab: Tab) -> None:
    page = tab.page
    await expect(page.get_by_test_id("composer")).to_be_focused()
    assert (await page.evaluate(FOCUS))["seen"], "the focus on the composer can't be seen"
    await page.keyboard.type("write the kettle is on to notes.txt")
    await page.keyboard.press("Enter")
    await tab.open_card()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Shift+Tab")
    for _ in range(STEPS):
        if (await page.evaluate(FOCUS))["testid"] == "approve":
            break
        await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await tab.reply("Written to")
    await expect(await tab.closed_card("Approved by owner")).to_be_focused()
    await to(page, "undo")
    await page.keyboard.press("Enter")
    await expect(await tab.closed_card("Undone by owner")).to_be_focused()
    await page.keyboard.press("Tab")
    assert (await page.evaluate(FOCUS))["label"] == "Copy this code"


async def renamed_and_deleted(tab: Tab) -> None:
    page = tab.page
    await expect(tab.at("room-item")).to_have_count(2)
    await chosen(page, "Rename")
    await expect(page.get_by_test_id("asked")).to_be_focused()
    await page.keyboard.type("Kettles")
    await page.keyboard.press("Enter")
    await expect(tab.at("room-item").filter(has_text="Kettles")).to_have_count(1)
    await chosen(page, "Delete")
    await expect(tab.at("room-item")).to_have_count(1)
    await expect(tab.at("undo-line").get_by_test_id("undo")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(tab.at("undo-line")).to_have_count(0)
    await chosen(page, "Delete")
    await expect(tab.at("room-item")).to_have_count(0)
    await page.evaluate("document.activeElement.blur()")
    await page.keyboard.press("z")
    await expect(tab.at("room-item")).to_have_count(1)


async def led_through_the_drawer(page: Page) -> None:
    """It takes the focus, which goes around in it, and gives it back."""
    await page.locator("#open-drawer").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#close-drawer")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    assert (await page.evaluate(FOCUS))["label"] == "Console"
    await page.keyboard.press("Tab")
    await expect(page.locator("#close-drawer")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("#open-drawer")).to_be_focused()


async def test_nothing_is_lost_at_200_and_400_percent(browser: Browser, house: House) -> None:
    async with tab_of(browser, house.link) as tab:
        await tab.say("list the files")
        await tab.reply("Files in")
        for size in (ZOOMED, REFLOWED):
            await tab.page.set_viewport_size(size)  # type: ignore[arg-type]  # a dict of both
            for path in ("/", "/#/approvals", "/console", "/console/runs", "/console/schedules"):
                await tab.page.goto(f"{house.url}{path}")
                await tab.page.wait_for_timeout(300)
                assert await tab.page.evaluate(SIDEWAYS) == 0, f"{path} scrolls sideways at {size}"
            await tab.page.goto(f"{house.url}/")
            await expect(tab.at("send")).to_be_in_viewport()
            await expect(tab.at("composer")).to_be_in_viewport()
            await led_through_the_drawer(tab.page)
            assert await tab.page.evaluate("() => document.documentElement.lang") == "en"
