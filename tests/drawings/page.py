"""Every card as the page shows it: the real page in a browser, whose server tells it of these cards as of a conversation."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, Route, expect

from adapters.web.render import entry, render
from runtime.contract import Address, Author, Content, Delivery, DeliveryId, Entry, Kind
from tests.drawings.situations import ASKED
from tests.e2e.browser import Tab, chromium, tab_of
from tests.e2e.house import open_house

HEIGHT: Final = 3000
"""More than the longest card has: no picture is of a part."""
WIDE: Final[Mapping[str, Any]] = {"viewport": {"width": 1040, "height": HEIGHT}}
PHONE: Final[Mapping[str, Any]] = {"viewport": {"width": 390, "height": HEIGHT}}
LOOKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "light": {**WIDE, "color_scheme": "light"},
    "dark": {**WIDE, "color_scheme": "dark"},
    "phone": {**PHONE, "color_scheme": "light"},
    "phone-dark": {**PHONE, "color_scheme": "dark"},
}
COLUMNS: Final = {"light": 2, "dark": 2, "phone": 3, "phone-dark": 3}
ON_A_SHEET: Final = 9
SHEET_WIDTH: Final = 1480
SAID: Final = '[data-testid="card"], [data-testid="message"][data-author="agent"]'
BARS: Final = """() => {
  for (const one of document.querySelectorAll("body *"))
    if (["sticky", "fixed"].includes(getComputedStyle(one).position)) one.style.visibility = "hidden";
}"""
"""They would lie over a card that is scrolled to."""
OUTSIDE: Final = """(card) => {
  const wall = card.getBoundingClientRect();
  const lost = [...card.querySelectorAll("*")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && !one.closest("pre *") && (box.right > wall.right + 1 || box.left < wall.left - 1);
  });
  return lost.map((one) => `${one.tagName} ${one.className}`).slice(0, 3);
}"""


def timeline(shown: Mapping[str, Content]) -> str:
    """What the server tells of a room with these cards."""
    told = []
    for number, content in enumerate(shown.values()):
        there = Address("web", "main", "cards")
        body = render(Delivery(DeliveryId(f"d{number}"), f"o{number}", 0, Kind.APPROVAL, there, content)).body
        at = ASKED + timedelta(minutes=number)
        told.append(entry(Entry(f"e{number:04}", Author.AGENT, "Signalbox", at, body)))
    return json.dumps({"entries": told, "busy": False, "mode": None})


async def sheets(shown: Mapping[str, Content], into: Path, program: str) -> None:
    """Pictures in the folder `into`, several cards on each, in each look."""
    with tempfile.TemporaryDirectory() as data, open_house(Path(data)) as house:
        async with chromium(program) as browser:
            async with tab_of(
                browser, house.link
            ) as tab:  # a conversation must be there, of which the cards can be told
                await tab.say("hello")
                await expect(tab.said("agent")).to_have_count(1)
            for look, context in LOOKS.items():
                async with tab_of(browser, house.link, reduced_motion="reduce", **context) as tab:
                    cards = await _cards(tab, shown)
                names = list(cards)
                for number, first in enumerate(range(0, len(names), ON_A_SHEET), 1):
                    some = {name: cards[name] for name in names[first : first + ON_A_SHEET]}
                    await _sheet(browser, into / f"{look}-{number}.png", some, COLUMNS[look])


async def _cards(tab: Tab, shown: Mapping[str, Content]) -> Mapping[str, bytes]:
    """A picture of each. Errors: AssertionError names what hangs out of its card, or makes the page move sideways."""
    page, told = tab.page, timeline(shown)

    async def tell(route: Route) -> None:
        await route.fulfill(body=f"retry: 600000\nevent: changed\ndata: {told}\n\n", content_type="text/event-stream")

    await page.route("**/rooms/*/events*", tell)
    await page.reload()
    said = page.locator(SAID)
    await said.nth(len(shown) - 1).wait_for()
    await page.evaluate(BARS)
    pictures, outside = dict[str, bytes](), dict[str, Sequence[str]]()
    for name, card in zip(shown, await said.all(), strict=True):
        await card.scroll_into_view_if_needed()
        if lost := await card.evaluate(OUTSIDE):
            outside[name] = lost
        pictures[name] = await card.screenshot(animations="disabled")
    assert outside == {}
    return pictures


async def _sheet(browser: Browser, path: Path, pictures: Mapping[str, bytes], columns: int) -> None:
    drawn = "".join(
        f"<figure><figcaption>{name}</figcaption>"
        f"<img src='data:image/png;base64,{base64.b64encode(picture).decode()}'></figure>"
        for name, picture in pictures.items()
    )
    style = (
        f"body {{ margin: 8px; columns: {columns}; column-gap: 8px; background: #888 }}"
        "figure { margin: 0 0 12px; break-inside: avoid } figcaption { font: 13px sans-serif } img { max-width: 100% }"
    )
    page = await browser.new_page(viewport={"width": SHEET_WIDTH, "height": 100})
    await page.set_content(f"<!doctype html><meta charset=utf-8><style>{style}</style>{drawn}")
    await page.screenshot(path=path, full_page=True)
    await page.close()
