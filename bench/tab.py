"""The page in a real browser: when a conversation is there, what comes over the wire, and what a tab keeps of a long one.

The conversations are written into the database as if they had been talked through. Each opening is a tab of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, BrowserContext, Page

from bench.figures import Figure, at_most, high, middle, ratio_at_most
from bench.program import Program, helper, signalbox
from tests.e2e.browser import chromium, executable
from tests.e2e.seeding import ROOM, talk

FEW: Final = 1_000
MANY: Final = 100_000
"""Messages of the conversations that are opened."""
READ: Final = 10_000
"""Messages that are scrolled through."""
OPENINGS: Final = 7
PAINT_GOAL: Final = 300.0  # milliseconds
WIRE_GOAL: Final = 150.0  # KB
DRAWN_GOAL: Final = 300.0  # messages
SETTINGS: Final = "[web]\nport = 0\n"
WINDOW: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 900}}

MARKED: Final = """() => {
  self.onScreen = new Promise((done) => new PerformanceObserver((seen) => done(seen.getEntries()[0].renderTime)).observe({ type: "element", buffered: true }));
  const mark = () => document.querySelectorAll("#log > .message :is(.said, .prose p):not([elementtiming])").forEach((text) => text.setAttribute("elementtiming", "message"));
  new MutationObserver(mark).observe(document, { childList: true, subtree: true });
}"""
"""Has the browser tell when the text of a message came on screen, by its own clock of what it shows (Element Timing)."""
PAINTED: Final = "() => self.onScreen"
"""Milliseconds from the request for the page until a message of it is on screen."""
UP: Final = "() => { document.getElementById('scroll').scrollTop = 0; }"
DRAWN: Final = "() => document.querySelectorAll('#log .message').length"
FIRST: Final = "() => document.querySelector('#log .said')?.textContent ?? ''"


async def tab(short: bool) -> list[Figure]:
    program = executable()
    if program is None:
        return [Figure("page, first paint", 0.0, "ms", note="not measured: there is no Chromium here")]
    few, many, read, openings = (100, 400, 700, 2) if short else (FEW, MANY, READ, OPENINGS)
    with _talked(few) as small, _talked(many) as large, _talked(read) as long:
        async with chromium(program) as browser:
            return [
                *await _openings(browser, small, large, openings, (few, many)),
                *await _scrolled(browser, long, read),
            ]


@contextmanager
def _talked(messages: int) -> Iterator[Program]:
    """A program with a conversation of so many messages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with signalbox(folder, SETTINGS):
            pass
        talk(folder / "var" / "signalbox.db", messages)
        with signalbox(folder, SETTINGS) as program:
            yield program


async def _openings(
    browser: Browser, small: Program, large: Program, times: int, sizes: tuple[int, int]
) -> list[Figure]:
    first, later, beside, wire, floor = [], [], [], [], []
    with tempfile.TemporaryDirectory() as name, helper("bench.bare_page", folder=Path(name)) as bare:
        async with _visit(browser, small) as near, _visit(browser, large) as far:
            for _ in range(times):
                took, size = await _opened(near, small.url, fresh=True)
                first.append(took)
                wire.append(size)
                later.append((await _opened(near, small.url))[0])
                beside.append((await _opened(far, large.url))[0])
                floor.append((await _opened(near, bare.url, fresh=True))[0])
    few, many = sizes
    note = f"p99 {high(first):.0f} ms; {middle(later):.0f} ms with the page's files kept"
    ratio = ratio_at_most(1.2)
    return [
        Figure(f"page, first paint of {few:,} messages", middle(first), "ms", None, at_most(PAINT_GOAL), note),
        Figure("page, first paint of a bare one", middle(floor), "ms", note="one HTML file of a bare handler"),
        Figure(f"page, first paint of {many:,}", middle(beside), "ms", middle(later), ratio, f"beside: of {few:,}"),
        Figure("page, first load", max(wire), "KB", None, at_most(WIRE_GOAL), "over the wire, all of it"),
    ]


@asynccontextmanager
async def _visit(browser: Browser, program: Program) -> AsyncIterator[BrowserContext]:
    """A window of somebody who has been here before."""
    window = await browser.new_context(**WINDOW)
    try:
        await window.add_init_script(f"({MARKED})()")
        # one stays open: the next pages are tabs in its window, and no windows that Chromium has to furnish first
        await window.new_page()
        page = await window.new_page()
        await page.goto(program.link)
        await page.wait_for_selector("#whoami strong")
        await page.close()
        yield window
    finally:
        await window.close()


async def _opened(window: BrowserContext, url: str, *, fresh: bool = False) -> tuple[float, float]:
    """Milliseconds until the conversation is on screen, and kilobytes until the page rests. `fresh`: nothing is kept of it."""
    page = await window.new_page()
    try:
        wire = await window.new_cdp_session(page)
        taken: dict[str, float] = {}
        await wire.send("Network.enable")
        await wire.send("Network.setCacheDisabled", {"cacheDisabled": fresh})
        wire.on("Network.dataReceived", lambda event: _add(taken, event["requestId"], event["encodedDataLength"]))
        wire.on("Network.loadingFinished", lambda event: taken.update({event["requestId"]: event["encodedDataLength"]}))
        await page.goto(f"{url}/#{ROOM}", wait_until="commit")
        took = float(await page.evaluate(PAINTED))
        await page.wait_for_timeout(1_000)
        return took, sum(taken.values()) / 1e3
    finally:
        await page.close()


def _add(taken: dict[str, float], request: str, size: float) -> None:
    """A stream never ends, so what comes of it is added up."""
    taken[request] = taken.get(request, 0.0) + size


async def _scrolled(browser: Browser, program: Program, messages: int) -> list[Figure]:
    """A tab in which somebody scrolls up to the first message."""
    async with _visit(browser, program) as window:
        page = await window.new_page()
        wire = await window.new_cdp_session(page)
        await page.goto(f"{program.url}/#{ROOM}")
        await page.evaluate(PAINTED)
        drawn, begun = 0, 0.0
        for _ in range(messages):
            await page.evaluate(UP)
            await page.wait_for_timeout(30)
            drawn = max(drawn, await page.evaluate(DRAWN))
            first = await page.evaluate(FIRST)
            if not begun and int(first.split()[1]) <= (messages // 2) - min(FEW, messages // 2) // 2:
                begun = await _heap(page, wire)
            if first == "Question 1":
                break
        whole = await _heap(page, wire)
    note = "beside: after 1,000"
    return [
        Figure("page, messages in the document", float(drawn), "", None, at_most(DRAWN_GOAL), f"of {messages:,} read"),
        Figure(f"page, memory after {messages:,} messages", whole, "MB", begun or whole, ratio_at_most(1.2), note),
    ]


async def _heap(page: Page, wire: Any) -> float:
    """Megabytes that the page's script and document hold, with no rubbish among them."""
    await page.wait_for_timeout(200)
    await wire.send("HeapProfiler.collectGarbage")
    used = await wire.send("Runtime.getHeapUsage")
    return float(used["usedSize"] + used.get("embedderHeapUsedSize", 0)) / 1e6
