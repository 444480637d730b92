"""Links and a provider in a real browser: who is signed in changes with a person's own click alone, and a user begins a conversation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.browser import Tab, window_of
from tests.e2e.house import open_house
from tests.fakes.openid import FakeOpenId, openid
from tests.unit.bot.auth.stage import auth_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]


async def test_a_link_asks_before_it_changes_who_is_signed_in(browser: Browser, tmp_path: Path) -> None:
    async with openid(FakeOpenId(person={"sub": "grace-1", "name": "Grace", "groups": ["staff"]})) as at:
        await through_all(tmp_path, browser, at)


async def through_all(folder: Path, browser: Browser, at: FakeOpenId) -> None:
    """One program for both layers: links, and then a provider."""
    with open_house(folder, auth_of(at)) as house:
        house.command("people", "add", "ada")
        links = re.search(r"http\S+", house.command("people", "link", "ada").stdout)
        assert links
        async with window_of(browser) as window, window_of(browser) as another:
            tab = Tab(await window.new_page())
            await from_another_site(tab, house.url, links[0])
            tab.watch()
            await becomes(tab, "ada")
            await tab.page.goto(house.link)  # somebody is signed in, so it asks again
            await expect(tab.page.locator("h1")).to_have_text("Become owner?")
            await tab.page.goto(house.url)
            await expect(tab.page.locator("#whoami")).to_contain_text("ada")
            await converses(tab)
            assert tab.complaints == []
            await signs_in_at_a_provider(Tab(await another.new_page()), house.url)


async def from_another_site(tab: Tab, url: str, link: str) -> None:
    """The same machine under another name is another site."""
    await tab.page.goto(url.replace("127.0.0.1", "localhost") + "/healthz")
    await tab.page.evaluate("link => { location.href = link }", link)
    await expect(tab.page.locator("h1")).to_have_text("Become ada?")


async def signs_in_at_a_provider(tab: Tab, url: str) -> None:
    """To the provider and back to where somebody wanted to go, in a browser whose strict cookies don't follow redirects."""
    await tab.page.goto(f"{url}/#somewhere")
    await tab.at("onward").click()
    await expect(tab.page.locator("#whoami")).to_contain_text("Grace")
    assert tab.page.url.startswith(f"{url}/")
    assert "code=" not in tab.page.url
    await tab.at("who").click()
    await tab.page.get_by_role("menuitem", name="Sign out").click()
    await expect(tab.page.locator("h1")).to_have_text("Sign in")


async def becomes(tab: Tab, name: str) -> None:
    await tab.at("become").click()
    await expect(tab.page.locator("#whoami")).to_contain_text(name)


async def converses(tab: Tab) -> None:
    """A user's first conversation, also after a reload in the middle; its room is nobody's before it has a message."""
    await expect(tab.at("composer")).to_be_visible()
    await tab.at("new-room").click()
    await tab.page.reload()
    await expect(tab.page.locator("#whoami")).to_contain_text("ada")
    await tab.page.locator("#toggle-files").click()
    await tab.say("help")
    await tab.reply("list the files")
    await tab.page.reload()
    await tab.reply("list the files")
