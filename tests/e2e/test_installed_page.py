"""The page as an installed app, in a real browser: its manifest, its worker, and a person who writes while Signalbox is away."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.browser import tab_of
from tests.e2e.house import open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

AT_WORK: Final = "async () => (await navigator.serviceWorker.ready).active.state === 'activated'"
KEPT: Final = """async () => {
  const names = await caches.keys();
  const kept = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)));
  return { names, paths: kept.flat() };
}"""

LEFT: Final = """async () => {
  const registrations = await navigator.serviceWorker.getRegistrations();
  return [localStorage.length, (await caches.keys()).length, registrations.length];
}"""
"""What of a person is in the browser once they signed out."""


async def kept(page: Any) -> tuple[list[str], list[str]]:
    found = await page.evaluate(KEPT)
    return found["names"], found["paths"]


async def test_who_writes_while_signalbox_is_away_is_answered_once_it_is_back(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        async with tab_of(browser, house.link) as tab:
            page = tab.page
            await page.evaluate("() => caches.open('signalbox-shell-of-an-older-version')")
            manifest = json.loads(await page.evaluate("async () => (await fetch('/static/app.webmanifest')).text()"))
            shortcuts = [one["url"] for one in manifest["shortcuts"]]
            assert shortcuts == ["/#new", "/#/approvals"]
            session = await page.context.new_cdp_session(page)
            found = await session.send("Page.getInstallabilityErrors")
            faults = [one["errorId"] for one in found["installabilityErrors"]]
            assert faults == ["in-incognito"]  # as all windows of tests are
            await page.wait_for_function(AT_WORK)
            await tab.say("remember the tea")
            await tab.reply("remember the tea")
            names, paths = await kept(page)
            assert len(names) == 1
            assert paths
            assert all(path.startswith("/static/") for path in paths)

            tab.may_be_away = True
            house.leave()
            await page.reload()
            await expect(tab.at("offline")).to_be_visible()
            await tab.at("composer").fill("a draft that stays")
            await page.reload()
            await expect(tab.at("composer")).to_have_value("a draft that stays")
            await tab.say("are you there?")
            await page.reload()
            await expect(page.get_by_text("are you there?")).to_be_visible()
            await page.goto(f"{house.url}/console")
            await expect(page.get_by_role("heading", name="Not connected")).to_be_visible()
            await page.goto(f"{house.url}/#new")
            await expect(page.get_by_role("heading", name="What can I do for you?")).to_be_visible()

            await asyncio.to_thread(house.start)
            await page.goto(f"{house.url}/")
            await tab.reply("are you there?")
            assert await page.evaluate("() => caches.keys()") == names
            await page.evaluate("async () => (await import('/static/installed.js')).forgetHere()")
            assert await page.evaluate(LEFT) == [0, 0, 0]
