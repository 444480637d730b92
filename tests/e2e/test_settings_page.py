"""Settings in a real browser: found, changed with a diff, refused at the field, and confirmed; by keyboard, at both widths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.axe import violations
from tests.e2e.browser import tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


async def test_an_owner_finds_a_setting_sees_the_change_and_saves_it(browser: Browser, house: House) -> None:
    async with tab_of(browser, house.link) as tab:
        page = tab.page
        stale = await page.context.new_page()  # a tab that is open all the while
        await stale.goto(f"{house.url}/console/settings/budgets")
        await page.goto(f"{house.url}/console/settings")
        await page.get_by_role("searchbox").fill("share of a budget")
        await page.get_by_role("link", name="Change budgets.warn_at").press("Enter")
        await page.get_by_label("warn_at").fill("7")
        await page.get_by_label("warn_at").press("Enter")
        await expect(page.locator("#fault-warn_at")).to_contain_text("at most 1")
        await expect(page.get_by_label("warn_at")).to_be_focused()
        await page.get_by_label("warn_at").fill("0.5")
        await page.get_by_label("warn_at").press("Enter")
        await expect(page.locator(".diff")).to_contain_text("+warn_at = 0.5")
        assert await violations(page) == []
        await page.get_by_role("button", name="Save").press("Enter")
        await expect(page.locator("#said")).to_contain_text("In effect now: budgets.warn_at")
        await stale.get_by_label("person_day").fill("3")
        await stale.get_by_label("person_day").press("Enter")
        await expect(stale.get_by_role("alert")).to_contain_text("was changed since you opened the form")
        await expect(stale.locator(".diff .added")).to_have_text(["+++ signalbox.toml\n", "+person_day = 3\n"])
        await expect(stale.get_by_label("warn_at")).to_have_value("0.5")
        await stale.close()
        for path in ("settings", "settings/policy?add=1", "settings/web", "settings-model", "settings-channels"):
            await page.goto(f"{house.url}/console/{path}")
            assert await violations(page) == []
            await page.set_viewport_size({"width": 390, "height": 844})
            assert await page.evaluate(SIDEWAYS) <= 0
            await page.set_viewport_size({"width": 1280, "height": 900})
