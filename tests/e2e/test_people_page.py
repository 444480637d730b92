"""People and health in a real browser: somebody is invited and merged, and the log is read as it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browser import Tab, tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, house: House) -> AsyncIterator[Tab]:
    async with tab_of(browser, house.link) as tab:
        yield tab


async def console(tab: Tab, place: str) -> Page:
    await tab.page.goto(f"{tab.page.url.partition('#')[0].rstrip('/')}/console/{place}")
    return tab.page


async def test_somebody_is_invited_by_a_link_joins_on_a_phone_and_is_merged(tab: Tab, browser: Browser) -> None:
    page = await console(tab, "people")
    await page.get_by_role("button", name="Make an invitation").press("Enter")
    window = page.get_by_role("dialog")
    await expect(window.get_by_role("img", name="The link as a QR code")).to_be_visible()
    assert await violations(page) == []
    link = await window.get_by_role("textbox").input_value()
    await page.keyboard.press("Escape")
    await expect(window).to_have_count(0)
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    phone = await context.new_page()
    await phone.goto(link)
    assert await violations(phone) == []
    assert await phone.evaluate(SIDEWAYS) == 0
    await phone.keyboard.type("Zoe")
    await phone.keyboard.press("Enter")
    await expect(phone.get_by_role("heading", level=2)).to_have_text("What can I do for you, Zoe?")
    await phone.goto(link)
    await expect(phone.get_by_role("main")).to_contain_text("Somebody has used this invitation already")
    await page.reload()
    await expect(page.get_by_role("table").filter(has_text="Who joined")).to_contain_text("Zoe")
    await page.get_by_role("link", name="Zoe").click()
    await page.get_by_label("Role", exact=True).select_option("operator")
    await page.get_by_role("button", name="Set the role").click()
    await expect(page.locator("#said")).to_have_text("Zoe has the role operator now.")
    await expect(page.locator("dd .badge")).to_have_text("operator")
    await page.get_by_label("Write Zoe once more").fill("Zo")
    await page.get_by_role("button", name="Forget for good").press("Enter")
    await expect(page.locator("#fault-confirm")).to_have_text("This must be exactly: Zoe")
    await page.get_by_label("Write Zoe once more").fill("")
    await page.get_by_label("Same person as…").select_option("owner")
    await page.get_by_role("button", name="See what a merge would do").click()
    await expect(page.get_by_role("main")).to_contain_text("The role operator of Zoe goes.")
    assert await violations(page) == []
    await page.get_by_role("button", name="Merge Zoe into owner").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("owner")
    await phone.goto(link.partition("/join/")[0])
    await expect(phone.get_by_role("main")).to_contain_text("This browser isn't signed in any more.")
    await context.close()


async def test_the_log_is_read_as_it_comes_and_by_the_run_that_it_tells_of(tab: Tab, house: House) -> None:
    await tab.at("new-room").click()
    await tab.say("list the files")
    await tab.reply("Files in")
    page = await console(tab, "runs")
    await page.locator("tbody a").first.click()
    await page.get_by_role("link", name="See its log lines").click()
    await expect(page.locator("#log li")).not_to_have_count(0)
    await expect(page.locator("#log li").filter(has_text="connected")).to_have_count(0)
    await page.get_by_role("link", name="Show all").click()
    await expect(page.locator("#flow")).to_have_text("Live")
    await page.get_by_role("button", name="Pause").press("Enter")
    before = await page.locator("#log li").count()
    assert house.command("reload").returncode == 0
    await expect(page.locator("#flow")).to_contain_text("Paused; 1 new")
    await page.get_by_role("button", name="Pause").press("Enter")
    await expect(page.locator("#log li")).to_have_count(before + 1)
    await expect(page.locator("#log li").first).to_contain_text("settings reloaded")
    assert await violations(page) == []
    await page.set_viewport_size({"width": 390, "height": 844})
    assert await page.evaluate(SIDEWAYS) == 0
    await page.set_viewport_size({"width": 1280, "height": 900})
    await page.get_by_role("link", name="Runs", exact=True).click()
    await page.context.clear_cookies()
    await expect(page.get_by_role("heading", level=1)).to_have_text("You need your link")
    tab.complaints[:] = [one for one in tab.complaints if "401" not in one]
