"""The page of schedules in a real browser, against the real process: planned, run, paused, changed and removed by hand."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, expect

from tests.e2e.axe import violations
from tests.e2e.browser import Tab, tab_in, tab_of
from tests.e2e.house import House, open_house
from tests.sample import sample

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

SETTINGS: Final = (
    '[planning]\nzone = "Europe/Berlin"\n[[schedules]]\nname = "morning"\nwhen = "0 9 * * 1-5"\n'
    'prompt = "Good morning."\nto = ["web:main/reports"]\n'
)
DRAWN: Final = """
[[schedules]]
name = "drawn"
when = "last day of the month at 18:00"
to = ["web:main/reports"]
template = '''
+++
[[charts]]
name = "bars"
arguments = "{'kind': 'bar', 'title': 'Bars', 'labels': ['a', 'b'], 'series': [{'name': '', 'values': [1, 2]}]}"
+++
## Two bars
'''
"""
PLACES: Final = (
    *("/console/schedules", "/console/schedules/morning", "/console/schedules/morning/edit", "/console/schedules/new"),
    *("/console/schedules/drawn", "/console/reports"),
)
POSTED: Final = re.compile(r"^/#reports/[0-9A-Za-z]+\.[0-9]+$")
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house"), SETTINGS + DRAWN) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def tab(window: BrowserContext, house: House) -> AsyncIterator[Tab]:
    async with tab_in(window, house.url) as tab:
        yield tab


def row(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("row").filter(has=tab.page.get_by_role("link", name=name, exact=True))


async def press(tab: Tab, name: str, verb: str) -> None:
    await row(tab, name).get_by_role("button", name=verb).click()


async def test_one_of_the_file_is_run_paused_resumed_and_run_again(tab: Tab, house: House) -> None:
    await tab.page.goto(f"{house.url}/console/schedules")
    await expect(row(tab, "morning")).to_contain_text("every weekday at 09:00 (Europe/Berlin)")
    await press(tab, "morning", "Run now")
    await expect(tab.page.locator("#said")).to_have_text("Started: morning.")
    await press(tab, "morning", "Pause")
    await expect(row(tab, "morning").locator(".badge")).to_have_text("paused")
    await press(tab, "morning", "Resume")
    await expect(row(tab, "morning").locator(".badge")).to_have_text("active")
    await tab.page.get_by_role("link", name="morning", exact=True).click()
    await expect(tab.page.locator("ol li")).to_have_count(5)
    await expect(tab.page.locator("ol li").first).to_contain_text("09:00 in Europe/Berlin")
    past = tab.page.get_by_role("row").filter(has_text="run by hand")
    await expect(past).to_have_count(1)
    await expect(past.locator(".badge")).to_have_text("done")
    await expect(past.get_by_role("link", name="web:main/reports")).to_have_attribute("href", POSTED)
    await past.get_by_role("link", name="Steps").click()
    await expect(tab.page.locator("blockquote")).to_contain_text("Good morning.")
    await expect(tab.page.locator(".facts").get_by_role("link", name="morning")).to_be_visible()
    assert await violations(tab.page) == []
    tab.page.once("dialog", lambda dialog: dialog.accept())
    await tab.page.get_by_role("button", name="Run again").click()
    await expect(tab.page.locator("#said")).to_have_text("Started again.")
    await expect(tab.page.get_by_role("button", name="Run again")).to_have_count(0)
    await tab.page.get_by_role("link", name="See that run.").click()
    await expect(tab.page.locator("blockquote")).to_contain_text("Good morning.")


async def test_one_is_planned_with_its_times_seen_changed_and_deleted(browser: Browser, house: House) -> None:
    async with tab_of(browser, house.link, timezone_id="America/New_York") as tab:
        await tab.say("hello")  # a report goes to this conversation
        await tab.reply("hello")
        page = tab.page
        await page.goto(f"{house.url}/console/schedules")
        await page.get_by_role("link", name="New schedule").click()
        await page.get_by_label("When", exact=True).fill("every foo")
        await expect(page.locator("#when-fault")).to_contain_text('"every foo" is not understood. For example:')
        await expect(page.get_by_label("When", exact=True)).to_have_attribute("aria-invalid", "true")
        await page.get_by_label("When", exact=True).fill("first Monday of the month at 8:30")
        await expect(page.locator("#coming li")).to_have_count(5)
        await expect(page.locator("#coming li").first).to_contain_text("08:30 (America/New_York)")
        await expect(page.locator("#when-fault")).to_be_empty()
        await page.get_by_label("Time zone").fill("Tokio")
        await expect(page.locator("#zone-fault")).to_contain_text("no time zone called")
        await page.get_by_label("Time zone").fill("Asia/Tokyo")
        await page.get_by_role("button", name="Add schedule").click()
        await expect(page.get_by_label("Task for the agent")).to_be_focused()
        await expect(page.locator("#prompt-fault")).to_have_text("Fill this in.")
        await page.get_by_label("Task for the agent").fill("What is new?\n# Really")
        await by_keyboard(page.get_by_label("Rooms for the report"), "hello")
        await expect(page.locator(".chips li")).to_contain_text("hello (page)")
        await page.get_by_label("Name").fill("news <b>")
        assert await violations(page) == []
        await page.get_by_role("button", name="Add schedule").click()
        await expect(page.get_by_role("heading", name="news <b>")).to_be_visible()
        await expect(page.locator(".facts")).to_contain_text("on the first Monday of every month at 08:30 (Asia/Tokyo)")
        await expect(page.locator("pre").first).to_have_text("What is new?\n# Really")
        await page.get_by_role("link", name="Change", exact=True).click()
        await page.get_by_label("When", exact=True).fill("every 2 hours")
        await page.get_by_role("button", name="Save changes").click()
        await expect(page.locator(".facts")).to_contain_text("every 2 hours")
        page.once("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Delete").click()
        await expect(page).to_have_url(f"{house.url}/console/schedules")
        await expect(page.locator("#said")).to_have_text("Removed: news <b>.")
        await expect(row(tab, "morning")).to_be_visible()
        await expect(row(tab, "news <b>")).to_have_count(0)


async def by_keyboard(field: Locator, words: str) -> None:
    """Find a room by its name, and take it, without a mouse."""
    await field.press_sequentially(words)
    await expect(field).to_have_attribute("aria-expanded", "true")
    await field.press("ArrowDown")
    await field.press("ArrowUp")
    await field.press("Enter")


async def test_a_report_is_seen_with_its_chart_before_it_is_made(tab: Tab, house: House) -> None:
    page = tab.page
    await page.goto(f"{house.url}/console/schedules/drawn")
    await page.get_by_role("button", name="Show a preview").click()
    await expect(page.locator("#preview h2")).to_have_text("Two bars")
    await expect(page.get_by_role("img", name="Bars")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_role("button", name="Close the preview").click()
    await expect(page.locator("#preview")).to_be_hidden()


async def test_a_run_is_stopped_on_its_page_and_says_why_it_is_not_run_again(tab: Tab, house: House) -> None:
    await tab.at("new-room").click()
    await tab.say("write a to a.txt")
    await tab.open_card()
    await tab.page.goto(f"{house.url}/console/runs?state=parked")
    await tab.page.locator('tbody a[href^="/console/runs/"]').first.click()
    tab.page.once("dialog", lambda dialog: dialog.accept())
    await tab.page.get_by_role("button", name="Stop").click()
    await expect(tab.page.locator("#said")).to_have_text("Stopped.")
    await expect(tab.page.locator(".facts .badge").first).to_have_text("stopped")
    await expect(tab.page.locator("#live")).to_contain_text("You asked for it in a message. Ask again there")


@pytest.mark.parametrize("width", sample([360, 1280], 1))
async def test_nothing_sticks_out_sideways(tab: Tab, house: House, width: int) -> None:
    await tab.page.set_viewport_size({"width": width, "height": 800})
    for path in PLACES:
        await tab.page.goto(house.url + path)
        await expect(tab.page.locator("h1")).to_be_visible()
        assert await tab.page.evaluate(SIDEWAYS) == 0
