"""The page and the console as somebody sees them whose browser speaks German, and who then chooses English."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.axe import violations
from tests.e2e.browser import Tab, tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

WIDTHS: Final = (1280, 390)
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, house: House) -> AsyncIterator[Tab]:
    async with tab_of(browser, house.link, locale="de-DE") as tab:
        yield tab


async def test_a_german_browser_reads_german_until_somebody_chooses_english(tab: Tab) -> None:
    page = tab.page
    await expect(page.locator("html")).to_have_attribute("lang", "de")
    await expect(tab.at("new-room")).to_have_text("Neue Unterhaltung")
    await expect(tab.at("composer")).to_have_attribute("placeholder", "Nachricht schreiben")
    await tab.say("/status")
    await expect(tab.said("agent").last).to_contain_text("Hier läuft nichts. Ich bin bereit.")
    await tab.say("run: uname")
    card = await tab.open_card()
    await expect(card).to_contain_text("Darf ich shell ausführen?")
    await expect(card).to_contain_text("läuft ab am")
    await card.get_by_role("button", name="Approve", exact=True).click()
    await expect(await tab.closed_card("Freigegeben")).to_contain_text("fertig nach")
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 844})
        assert await page.evaluate(SIDEWAYS) <= 0
        assert await violations(page) == []
    await page.set_viewport_size({"width": WIDTHS[0], "height": 844})
    await tab.at("who").click()
    await page.get_by_role("menuitem", name="English").click()
    await expect(tab.at("new-room")).to_have_text("New conversation")
    await expect(page.locator("html")).to_have_attribute("lang", "en")
    await tab.say("/status")
    await expect(tab.said("agent").last).to_contain_text("Nothing is running here. I'm ready.")
    assert tab.complaints == []
