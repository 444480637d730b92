"""The page of schedules in a real browser, against the real process: planned, run, paused, changed and removed by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.browser import Tab, tab_in
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

SETTINGS: Final = (
    '[planning]\nzone = "Europe/Berlin"\n[[schedules]]\nname = "morning"\nwhen = "0 9 * * 1-5"\n'
    'prompt = "Good morning."\nto = ["web:main/reports"]\n'
)
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house"), SETTINGS) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="module")
async def tab(window: BrowserContext, house: House) -> AsyncIterator[Tab]:
    async with tab_in(window, house.url) as tab:
        yield tab


def row(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("row").filter(has=tab.page.get_by_role("link", name=name, exact=True))


async def press(tab: Tab, name: str, verb: str) -> None:
    await row(tab, name).get_by_role("button", name=verb).click()


async def test_one_of_the_file_is_run_paused_and_resumed(tab: Tab, house: House) -> None:
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
    await expect(past).to_contain_text("1/1")
    await past.get_by_role("link", name="Steps").click()
    await expect(tab.page.locator("blockquote")).to_contain_text("Good morning.")


async def test_one_is_planned_changed_and_removed_on_the_page(tab: Tab, house: House) -> None:
    await tab.say("hello")  # a report goes to this conversation
    await tab.reply("hello")
    room = tab.page.url.rpartition("#")[2].rpartition("/")[2]
    await tab.page.goto(f"{house.url}/console/schedules")
    await tab.page.get_by_label("When, as cron or in words").fill("every weekday at 7:30 in Tokyo")
    await tab.page.get_by_label("Task: what the agent should do").fill("What is new?\n# Really")
    await tab.page.get_by_label("Rooms for the report").fill(f"web:main/{room}")
    await tab.page.get_by_label("Name (optional)").fill("news <b>")
    await tab.page.get_by_role("button", name="Add schedule", exact=True).click()
    await expect(row(tab, "news <b>")).to_contain_text("every weekday at 07:30 (Asia/Tokyo)")
    await expect(tab.page.get_by_label("Name (optional)")).to_have_value("")
    await tab.page.get_by_role("link", name="news <b>", exact=True).click()
    await expect(tab.page.locator("pre").first).to_have_text("What is new?\n# Really")
    await tab.page.get_by_label("When").fill("every 2 hours")
    await tab.page.get_by_role("button", name="Change", exact=True).click()
    await expect(tab.page.locator(".facts")).to_contain_text("every 2 hours")
    tab.page.once("dialog", lambda dialog: dialog.accept())
    await tab.page.get_by_role("button", name="Remove").click()
    await expect(tab.page).to_have_url(f"{house.url}/console/schedules")
    await expect(row(tab, "morning")).to_be_visible()
    await expect(row(tab, "news <b>")).to_have_count(0)


async def test_what_is_not_understood_is_told_and_what_was_typed_stays(tab: Tab, house: House) -> None:
    await tab.page.goto(f"{house.url}/console/schedules")
    tab.complaints.clear()
    await tab.page.get_by_label("When, as cron or in words").fill("every foo")
    await tab.page.get_by_label("Task: what the agent should do").fill("a long task")
    await tab.page.get_by_label("Rooms for the report").fill("web:main/reports")
    await tab.page.get_by_role("button", name="Add schedule", exact=True).click()
    await expect(tab.page.locator("#said")).to_contain_text('"every foo" is not understood. For example:')
    await expect(tab.page.get_by_label("Task: what the agent should do")).to_have_value("a long task")
    tab.complaints.clear()  # the browser tells of an answer that was a refusal


async def test_nothing_sticks_out_sideways(tab: Tab, house: House) -> None:
    for path in ("/console/schedules", "/console/schedules/morning"):
        await tab.page.goto(house.url + path)
        for width in (360, 768, 1280):
            await tab.page.set_viewport_size({"width": width, "height": 800})
            await expect(tab.page.locator("h1")).to_be_visible()
            assert await tab.page.evaluate(SIDEWAYS) == 0, width
