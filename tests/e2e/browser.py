"""A real Chromium that talks to nobody but us, and a person's hands on the page in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    async_playwright,
    expect,
)

from tests.e2e.house import PATIENCE
from tools.browser.starting import WITHOUT_THEM

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--no-sandbox",  # root has no other way, and the only page it sees is ours
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
    WITHOUT_THEM,
)
AWAY: Final = re.compile(
    r"ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK|SOCKET|INTERNET)|error occurred when fetching the script"
)
"""What a browser complains of while the program is down; the second of the worker, which it asks for anew."""

UNTIMED: Final = """elements => elements.map((element) => {
  const times = [...element.querySelectorAll("time.since")];
  for (const time of times) time.hidden = true;
  const text = element.innerText;
  for (const time of times) time.hidden = false;
  return text;
})"""

expect.set_options(timeout=PATIENCE * 1000)


def executable() -> str | None:
    """The machine's own browser."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def chromium(program: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS), timeout=PATIENCE * 1000)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Tab:
    """One page, opened with a person's link. It keeps what the browser complained of and whom it asked."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    may_be_away: bool = False

    def watch(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.context.on("request", self._see)

    def leave(self) -> None:
        self.page.context.remove_listener("request", self._see)

    def _hear(self, message: ConsoleMessage) -> None:
        expected = self.may_be_away and AWAY.search(message.text)
        if message.type in ("error", "warning") and not expected:
            self.complaints.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _see(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).netloc)

    # ------------------------------------------------------------------------------------------------ a person's hands

    def at(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    async def say(self, text: str) -> None:
        await self.at("composer").fill(text)
        await self.at("send").click()

    async def reply(self, text: str) -> Locator:
        """The newest message of the agent with this text, once it is there."""
        found = self.said("agent").filter(has_text=text).last
        await expect(found).to_be_visible()
        return found

    def said(self, author: str) -> Locator:
        return self.page.locator(f'[data-testid="message"][data-author="{author}"]')

    async def open_card(self) -> Locator:
        """The card that waits for a decision."""
        card = self.page.locator('[data-testid="card"][data-state="open"]').last
        await expect(card).to_be_visible()
        return card

    async def closed_card(self, text: str) -> Locator:
        """A decided card with this text, without buttons but for an undo."""
        card = self.page.locator('[data-testid="card"][data-state="closed"]').filter(has_text=text).last
        await expect(card).to_be_visible()
        await expect(card.locator(".choice:not(.undo)")).to_have_count(0)
        return card

    async def everything(self) -> list[str]:
        """All messages and cards as a person reads them, from the top, without how long ago they were."""
        shown = self.page.locator('[data-testid="message"], [data-testid="card"]')
        texts: list[str] = await shown.evaluate_all(UNTIMED)
        return [" ".join(text.split()) for text in texts]


@asynccontextmanager
async def window_of(browser: Browser, **context: Any) -> AsyncIterator[BrowserContext]:
    """A window of a person's own, with nothing in it."""
    window = await browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", **context})
    window.set_default_timeout(PATIENCE * 1000)
    try:
        yield window
    finally:
        await window.close()


@asynccontextmanager
async def tab_in(window: BrowserContext, link: str) -> AsyncIterator[Tab]:
    """A page in that window at `link`. At the end: no complaint, and nobody else was asked.

    The next one in the same window costs half: what was fetched and compiled is there. It remembers what the page kept.
    """
    tab = Tab(await window.new_page())
    tab.watch()
    try:
        await tab.page.goto(link)
        await expect(tab.page.locator("#whoami")).not_to_be_empty()  # its script is at work
        yield tab
        assert tab.complaints == [], tab.complaints
        assert tab.hosts == {urlsplit(link).netloc}
    finally:
        tab.leave()
        await tab.page.close()


@asynccontextmanager
async def tab_of(browser: Browser, link: str, **context: Any) -> AsyncIterator[Tab]:
    """The only page of a window of its own at `link`."""
    async with window_of(browser, **context) as window, tab_in(window, link) as tab:
        yield tab
