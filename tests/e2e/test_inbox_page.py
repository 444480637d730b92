"""The inbox in a real browser: every question that waits for a person, decided by buttons and by two keys."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Route, expect

from tests.e2e.axe import violations
from tests.e2e.browser import Tab, tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

PHONE: Final[dict[str, Any]] = {"viewport": {"width": 390, "height": 844}}
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, house: House) -> AsyncIterator[Tab]:
    async with tab_of(browser, house.link) as tab:
        yield tab


async def asked(tab: Tab, *words: str) -> None:
    """Each in a conversation of its own, one after the other."""
    for one in words:
        await tab.at("new-room").click()
        await tab.say(one)
        await tab.open_card()


def cards(tab: Tab) -> Locator:
    return tab.at("inbox-card")


async def opened(tab: Tab, number: int) -> Locator:
    await tab.at("to-inbox").click()
    found = cards(tab)
    await expect(found).to_have_count(number)
    return found


async def test_everything_is_decided_in_one_place_oldest_first(tab: Tab) -> None:
    await asked(tab, "write one to a.txt", "write two to b.txt")
    found = await opened(tab, 2)
    await expect(found.nth(0)).to_contain_text("a.txt")
    await expect(tab.page).to_have_title("(2) Approvals · Signalbox")
    icon = tab.page.locator("#icon")
    await expect(icon).to_have_attribute("href", "/static/icon-2.svg")
    await found.nth(0).get_by_test_id("approve").click()
    await expect(tab.at("inbox-status")).to_have_text("write_file: approved by owner.")
    await expect(found).to_have_count(1)
    await expect(tab.page).to_have_title("(1) Approvals · Signalbox")
    await found.nth(0).get_by_test_id("deny-reason").click()
    await found.nth(0).get_by_test_id("deny-reason-text").fill("not today")
    await found.nth(0).get_by_test_id("deny-reason-send").click()
    await expect(tab.page.get_by_text("Nothing is waiting for you.")).to_be_visible()
    await expect(icon).to_have_attribute("href", re.compile(r"/icon\.svg$"))
    await expect(tab.page).to_have_title("Approvals · Signalbox")
    await tab.at("room-item").filter(has_text="b.txt").click()
    await expect(await tab.closed_card("Denied by owner")).to_contain_text("not today")


async def test_keys_answer_the_card_in_focus(tab: Tab) -> None:
    await asked(tab, "write one to a.txt", "write two to b.txt", "write three to c.txt")
    found = await opened(tab, 3)
    await expect(found.nth(0)).to_be_focused()
    await tab.page.keyboard.press("a")
    await expect(found).to_have_count(2)
    await expect(found.nth(0)).to_contain_text("b.txt")
    await expect(found.nth(0)).to_be_focused()
    await found.nth(0).get_by_test_id("deny-reason").click()
    await expect(found.nth(0).get_by_test_id("deny-reason-text")).to_be_focused()
    await tab.page.keyboard.type("a bad idea, and dated")
    await expect(found).to_have_count(2)
    await expect(found.nth(0).get_by_test_id("deny-reason-text")).to_have_value("a bad idea, and dated")
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.press("j")
    await expect(found.nth(1)).to_be_focused()
    await tab.page.keyboard.press("Control+d")
    await tab.page.keyboard.press("d")
    await expect(found).to_have_count(1)
    await expect(found.nth(0)).to_contain_text("b.txt")


@pytest.mark.usefixtures("sandbox")
async def test_a_dangerous_call_takes_the_key_twice(tab: Tab) -> None:
    await asked(tab, "run: echo one")
    found = await opened(tab, 1)
    await expect(found).to_contain_text("danger")
    await found.focus()
    await tab.page.keyboard.press("a")
    await expect(tab.at("inbox-status")).to_have_text("This call is dangerous. Press A again to approve it.")
    await expect(found).to_have_count(1)
    await tab.page.keyboard.press("a")
    await expect(found).to_have_count(0)


async def test_what_is_decided_elsewhere_goes_and_what_is_asked_comes(tab: Tab, house: House) -> None:
    await asked(tab, "write one to a.txt")
    await opened(tab, 1)
    assert house.command("approvals", "deny", "--last").returncode == 0
    await expect(cards(tab)).to_have_count(0)
    closed = tab.at("inbox-closed")
    await expect(closed).to_contain_text("Denied by")
    await expect(closed).to_contain_text("write_file")


async def test_several_are_decided_at_once_and_stay_until_they_were_looked_at(tab: Tab) -> None:
    await asked(tab, "write one to a.txt", "write two to b.txt", "write three to c.txt")
    found = await opened(tab, 3)
    await tab.page.keyboard.press("x")
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("x")
    await expect(tab.at("inbox-bulk")).to_contain_text("2 selected")
    assert await violations(tab.page) == []
    await tab.at("inbox-bulk-approve").click()
    await expect(tab.at("inbox-status")).to_have_text("Approved 2 calls.")
    await expect(found).to_have_count(1)
    await expect(found).to_contain_text("b.txt")
    closed = tab.at("inbox-closed")
    await expect(closed).to_have_text([re.compile("Approved by owner.*write_file")] * 2)
    for _ in range(20):
        await tab.page.wait_for_timeout(1_200)  # in view for as long as it takes to look, unless the machine is busy
        await tab.at("new-room").click()
        await tab.at("to-inbox").click()
        await expect(found).to_have_count(1)
        if not await closed.count():
            break
    await expect(closed).to_have_count(0)
    await expect(found).to_have_count(1)


async def test_rooms_are_chosen_also_where_their_names_come_after_their_questions(tab: Tab) -> None:
    told, seen = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        await told.wait()
        await route.continue_()

    async def held(route: Route) -> None:
        await seen.wait()
        await route.continue_()

    await asked(tab, "write one to a.txt")
    await tab.page.route("**/api/v1/rooms", late)
    await asked(tab, "write two to b.txt")
    found = await opened(tab, 2)
    name = found.nth(1).locator(".inbox-room")
    await expect(name).to_have_count(0)
    await tab.page.route("**/api/inbox", held)  # no further look is needed
    told.set()
    await expect(name).to_have_text("write two to b.txt")
    seen.set()
    await tab.page.unroute("**/api/inbox")
    await tab.at("inbox-room").select_option(index=2)
    await expect(found).to_have_count(1)
    await tab.at("inbox-room").select_option(index=0)
    await expect(found).to_have_count(2)


async def test_on_a_phone_the_buttons_are_in_view_also_of_a_long_call(browser: Browser, house: House) -> None:
    async with tab_of(browser, house.link, **PHONE) as tab:
        await tab.say(f"write {'word ' * 600} to long.txt")
        await tab.open_card()
        await tab.page.evaluate("() => { location.hash = '#/approvals'; }")
        card = cards(tab)
        await expect(card).to_have_count(1)
        for name in ("approve", "deny"):
            await expect(card.get_by_test_id(name)).to_be_in_viewport(ratio=1)
        assert await tab.page.evaluate(SIDEWAYS) == 0
        await card.get_by_test_id("deny").click()
        await expect(card).to_have_count(0)


async def test_buttons_cover_no_call_that_is_yet_to_be_scrolled_into_view(browser: Browser, house: House) -> None:
    async with tab_of(browser, house.link, **PHONE) as tab:
        await tab.say(f"write one to a.txt\nwrite {'word ' * 600} to long.txt")
        await expect(tab.at("card")).to_have_count(2)
        await tab.page.evaluate("() => { location.hash = '#/approvals'; }")
        found = cards(tab)
        await expect(found).to_have_count(2)
        await expect(found.nth(0).get_by_test_id("approve")).to_be_in_viewport(ratio=1)
        await expect(found.nth(1)).to_be_in_viewport()
        await expect(found.nth(1).get_by_test_id("approve")).not_to_be_in_viewport()
        await tab.page.mouse.move(195, 500)
        await tab.page.mouse.wheel(0, 300)
        await expect(found.nth(1).get_by_test_id("approve")).to_be_in_viewport(ratio=1)
        await expect(found.nth(1).get_by_text("long.txt")).to_be_in_viewport(ratio=1)


async def test_a_link_leads_there_and_back(tab: Tab, house: House) -> None:
    await expect(tab.page).to_have_url(re.compile("#."))  # it has opened a room: its address would undo ours
    await tab.page.goto(f"{house.url}/#/approvals")
    await tab.page.reload()
    await expect(tab.page.get_by_text("Nothing is waiting for you.")).to_be_visible()
    await tab.at("new-room").click()
    await expect(tab.at("composer")).to_be_focused()
    await tab.page.go_back()
    await expect(tab.page.get_by_text("Nothing is waiting for you.")).to_be_visible()
