"""One browser of one conversation: its page, the things on it that can be used, and what happened on the way."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Final

from runtime.egress import Egress
from runtime.errors import ToolFailed, ToolRetry
from runtime.markup.moments import several
from runtime.text.glyphs import clip
from runtime.text.outside import material
from tools.browser.outline import Element, Row, elements_of, rows_of, told

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Download, Locator, Page

    from tools.browser.gateway import Traffic

SETTLE_SECONDS: Final = 5.0
"""For what a page still loads once it is there: at most so long, and until nothing was under way for QUIET_SECONDS."""
QUIET_SECONDS: Final = 0.5
ACT_TIMEOUT: Final = timedelta(seconds=10)
TREE_TIMEOUT: Final = timedelta(seconds=4)
"""To read a page. One of its frames that never gets ready takes all of it."""
STEP_MARGIN: Final = timedelta(seconds=30)
"""Beside the time to load a page: for what is read of it, and what it still loads."""
PART_MAX_CHARS: Final = 20_000
URL_MAX_CHARS: Final = 500
NOTES_MAX: Final = 10
NOTE_MAX_CHARS: Final = 300
PAGES_MAX: Final = 3
"""Pages of one browser: the first one and pop-ups that a click opened."""
ELEMENTS_MAX: Final = 5_000
REFUSED_TOLD: Final = 5
SHOT_MAX_PIXELS: Final = 10_000
"""Height of a picture of a whole page."""
WIDTH, HEIGHT = 1280, 900
OPENING: Final = "browser_open"
A_PAGE: Final = "a web page"
"""In a fault may stand what a script of the page threw."""
PAGE_CHANGED: Final = (
    "The page has changed since it was read, so nothing was done. Call browser_read and use a target from there."
)


@dataclass(frozen=True, slots=True)
class Target:
    """An element as it was read, and the address of the page that it was on."""

    element: Element
    url: str


class Session:
    """Made by `Browsers`, which ends it. One step at a time; each is bounded, and an answer tells what happened beside."""

    def __init__(
        self, name: str, egress: Egress, traffic: Traffic, *, load: timedelta, now: Callable[[], float]
    ) -> None:
        self.name = name
        self.used_at = now()
        self.over = asyncio.Event()
        self.gone = asyncio.Event()
        self.why_over = ""
        self._egress = egress
        self._traffic = traffic
        self._load = load
        self._now = now
        self._lock = asyncio.Lock()
        self._notes: deque[str] = deque(maxlen=NOTES_MAX)
        self._numbers = count(1)
        self._targets: dict[str, Target] = {}
        self._named: dict[Target, str] = {}
        self._pages: list[Page] = []
        self._context: BrowserContext | None = None

    async def begin(self, browser: Browser) -> None:
        """Make its one page. Nothing that it keeps outlives it; permissions are never given, and files never taken."""
        self._context = await browser.new_context(
            accept_downloads=False, service_workers="block", viewport={"width": WIDTH, "height": HEIGHT}
        )
        self._context.on("page", self._opened)
        browser.on("disconnected", lambda _: self.end("the browser ended"))
        await self._context.new_page()

    def end(self, why: str) -> None:
        if not self.over.is_set():
            self.why_over = why
            self.over.set()

    @property
    def at_work(self) -> bool:
        return self._lock.locked()

    @property
    def page(self) -> Page:
        return self._pages[-1]

    def target(self, name: str) -> Target | None:
        return self._targets.get(name)

    # ----------------------------------------------------------------------------------------------------- steps

    async def open(self, url: str) -> str:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as TooLate

        async with self._step(OPENING):
            to = await self._egress.admitted("GET", url, tool=OPENING)
            try:
                answer = await self.page.goto(str(to.place.url), wait_until="domcontentloaded", timeout=self._load)
            except TooLate:
                return await self._unfinished(to.place.shown)
            except Error as error:
                raise ToolFailed(self._fault(error.message, url)) from error
            ours = answer is not None and answer.status in (HTTPStatus.FORBIDDEN, HTTPStatus.BAD_GATEWAY)
            if answer and ours and (why := self._traffic.why.get(answer.url.partition("#")[0])):
                raise ToolFailed(why)
            await self._settled()
            status = "" if answer is None or answer.ok else f"The page answered with status {answer.status}."
            return await self._told(status)

    async def read(self, part: int) -> str:
        async with self._step("browser_read"):
            return await self._told("", part)

    async def click(self, name: str) -> str:
        async with self._step("browser_click"):
            locator = await self._found(name)
            await locator.click(timeout=ACT_TIMEOUT)
            await self._settled()
            return await self._told("Clicked.")

    async def fill(self, name: str, text: str) -> str:
        async with self._step("browser_fill"):
            locator = await self._found(name)
            await _filled(locator, self._targets[name].element.role, text)
            return await self._told("Filled in.")

    async def picture(self, *, full: bool) -> bytes:
        async with self._step("browser_screenshot"):
            page, height = self.page, HEIGHT
            if full:
                height = int(await page.evaluate("Math.ceil(document.documentElement.scrollHeight) || 0"))
            if height > HEIGHT:
                await page.set_viewport_size({"width": WIDTH, "height": min(height, SHOT_MAX_PIXELS)})
            try:
                return await page.screenshot(timeout=ACT_TIMEOUT, animations="disabled")
            finally:
                if height > HEIGHT:
                    await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})

    @asynccontextmanager
    async def _step(self, tool: str) -> AsyncIterator[None]:
        from playwright.async_api import Error

        limit = (self._load + STEP_MARGIN).total_seconds()
        async with self._lock:
            self._traffic.tool = tool
            try:
                async with asyncio.timeout(limit):
                    yield
            except TimeoutError as error:
                raise ToolFailed(f"The page did not answer within {limit:g} s.") from error
            except Error as error:
                raise ToolFailed(self._fault(error.message, "")) from error
            finally:
                self._traffic.tool = OPENING
                self.used_at = self._now()

    async def _settled(self) -> None:
        """Wait until the page asks for nothing any more, or long enough. Playwright's own states wait for each frame of it."""
        began = quiet = time.monotonic()
        while (now := time.monotonic()) - began < SETTLE_SECONDS and now - quiet < QUIET_SECONDS:
            await asyncio.sleep(QUIET_SECONDS / 10)
            quiet = quiet if not self._traffic.active else time.monotonic()

    async def _unfinished(self, shown: str) -> str:
        rows = await self._rows()
        if not rows:
            raise ToolFailed(f"{shown} did not answer within {self._load.total_seconds():g} s.")
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                await self.page.evaluate("window.stop()")
        return await self._told(f"It was not done after {self._load.total_seconds():g} s; this is what was there.")

    def _fault(self, message: str, url: str) -> str:
        if self.over.is_set():
            return f"The browser of this conversation was closed: {self.why_over}. Open the page again."
        if why := self._traffic.why.get(url.partition("#")[0]):
            return why
        first = message.partition("\n")[0].partition(": ")[2] or message.partition("\n")[0]
        return f"The browser could not do it.\n{material(clip(first, NOTE_MAX_CHARS), A_PAGE, markup=False)}"

    # ------------------------------------------------------------------------------------------------- what is there

    async def _rows(self) -> list[Row]:
        from playwright.async_api import Error

        try:
            return rows_of(await self.page.aria_snapshot(mode="ai", timeout=TREE_TIMEOUT))
        except Error:
            return []

    async def _told(self, first: str, part: int = 1) -> str:
        rows, url, title = await self._rows(), self.page.url, await self.page.title()
        lines = list(told(rows, lambda element: self._number(Target(element, url))))
        text = "\n".join(lines)
        parts = max(1, -(-len(text) // PART_MAX_CHARS))
        if not 1 <= part <= parts:
            raise ToolRetry(f"The page has {several(parts, 'part')}; ask for one of them.")
        shown = text[(part - 1) * PART_MAX_CHARS : part * PART_MAX_CHARS]
        more = f"[Part {part} of {parts}: call browser_read with part={part + 1} for more.]" if part < parts else ""
        about = [clip(title, NOTE_MAX_CHARS) or "A page without a title", clip(url, URL_MAX_CHARS)]
        return "\n".join(filter(None, [first, *about, *self._news(), shown or "[It shows no text.]", more]))

    def _number(self, target: Target) -> str:
        if target not in self._named:
            if len(self._targets) >= ELEMENTS_MAX:
                oldest = next(iter(self._targets))
                del self._named[self._targets.pop(oldest)]
            self._named[target] = name = f"{self.name}-{next(self._numbers)}"
            self._targets[name] = target
        return self._named[target]

    async def _found(self, name: str) -> Locator:
        """The element itself, if it is still what was read. Errors: ToolRetry."""
        target = self._targets.get(name)
        if target is None:
            raise ToolRetry(
                f"There is no target {name[:40]!r} on this page. Call browser_read for those that there are."
            )
        rows = await self._rows()
        if self.page.url != target.url or elements_of(rows).get(target.element.ref) != target.element:
            raise ToolRetry(PAGE_CHANGED)
        return self.page.locator(f"aria-ref={target.element.ref}")

    def _news(self) -> list[str]:
        """Sentences about what happened since the last answer."""
        news = [f"[{note}]" for note in self._notes]
        self._notes.clear()
        if refused := self._traffic.refused:
            first = [f"({number}) {words}" for words, number in refused.most_common(REFUSED_TOLD)]
            news.append(f"[Refused: {several(refused.total(), 'request')} of the page. {' '.join(first)}]")
            refused.clear()
        return news

    # ------------------------------------------------------------------------------------------------ what happens

    async def _opened(self, page: Page) -> None:
        page.on("dialog", self._asked)
        page.on("download", self._offered)
        page.on("crash", lambda _: self.end("its page took too much memory or failed"))
        page.on("close", lambda gone: self._pages.remove(gone) if gone in self._pages else None)
        if not self._pages:
            self._pages.append(page)
        elif self._traffic.tool == "browser_click" and len(self._pages) < PAGES_MAX:
            self._pages.append(page)
            self._notes.append("The click opened another page, which is the one you see now.")
        else:
            self._notes.append("A pop-up was closed.")
            await page.close()

    async def _asked(self, dialog: Dialog) -> None:
        words = clip(" ".join(dialog.message.split()), NOTE_MAX_CHARS)
        self._notes.append(f"The page showed a dialog ({dialog.type}), which was dismissed: {words}")
        await dialog.dismiss()

    async def _offered(self, download: Download) -> None:
        self._notes.append(f"The page offered a file, which was refused: {clip(download.url, NOTE_MAX_CHARS)}")


async def _filled(locator: Locator, role: str, text: str) -> None:
    if await locator.get_attribute("type") in ("password", "file"):
        raise ToolFailed("Passwords and files are never filled in here: people do that themselves.")
    if role in ("combobox", "listbox") and await locator.evaluate("one => one.tagName") == "SELECT":
        await locator.select_option(label=text, timeout=ACT_TIMEOUT)
    elif role in ("checkbox", "radio", "switch"):
        await locator.set_checked(text.strip().lower() not in ("", "no", "off", "false", "0"), timeout=ACT_TIMEOUT)
    else:
        await locator.fill(text, timeout=ACT_TIMEOUT)
