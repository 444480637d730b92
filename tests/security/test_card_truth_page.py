"""The page and the console in a real browser: every character of a call has its box in sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Locator

from runtime.text.glyphs import meant
from tests.e2e.browser import Tab, tab_of
from tests.e2e.house import House, open_house
from tests.security import hidden
from tests.security.tally import Tallied, Tally

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

NAMES: Final = ("blanks", "override", "tags", "our own code")
COMMANDS: Final = (
    *(f"echo start{hidden.HIDDEN[name]}&& rm -rf ~/important" for name in NAMES),
    f"echo {'x' * 900}&& rm -rf ~/important",
    f"echo {'one two ' * 200}&& rm -rf ~/important",
)
WIDTHS: Final = (1440, 390)
HEIGHT: Final = 2400  # so that no bar covers a card that is scrolled to
SETTLED: Final = """async () => {
  const moving = () => document.getAnimations().filter((one) => one instanceof CSSTransition);
  do {  // one that another takes the place of ends with an error
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(moving().map((one) => one.finished));
  } while (moving().length);
}"""
OUT_OF_SIGHT: Final = """(element, within) => {
  const box = element.closest(within), lost = [];
  for (const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT); walker.nextNode();) {
    const text = walker.currentNode;
    for (let at = 0; at < text.length; at += 1) {
      if (" \\n".includes(text.data[at])) continue;
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
      const letter = range.getClientRects()[0];
      if (!letter || letter.width < 1) { lost.push([at, text.data[at], "no box"]); continue; }
      for (let around = element; around && around !== box.parentElement; around = around.parentElement) {
        const wall = around.getBoundingClientRect();
        if (letter.left < wall.left - 1 || letter.right > wall.right + 1) { lost.push([at, text.data[at], around.className]); break; }
      }
      const top = document.elementFromPoint((letter.left + letter.right) / 2, (letter.top + letter.bottom) / 2);
      if (top && !element.contains(top) && !top.contains(element)) lost.push([at, text.data[at], `below ${top.className}`]);
    }
  }
  return lost.slice(0, 3);
}"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


async def test_every_character_of_a_call_is_in_sight(
    browser: Browser, house: House, tmp_path: Path, tallied: Tallied
) -> None:
    """Scenario 44, on the page and in the console, on a desk and on a phone."""
    tally = tallied("card truth in a browser", len(WIDTHS) * 2 * len(COMMANDS))
    async with tab_of(browser, house.link, reduced_motion="reduce") as tab:
        for number, command in enumerate(COMMANDS):
            await tab.at("new-room").click()
            await tab.say(f"run: {command}")
            card = await tab.open_card()
            await _look(tally, tab, card.locator("pre code"), '[data-testid="card"]', command)
            await card.screenshot(path=tmp_path / f"card{number}.png")
        await tab.page.goto(f"{house.link.partition('/link/')[0]}/console/approvals")
        for place, command in enumerate(COMMANDS):  # oldest first
            await _look(tally, tab, tab.page.locator("article.card pre").nth(place), "article", command)
        await tab.page.screenshot(path=tmp_path / "console.png", full_page=True)
    tally.close()


async def _look(tally: Tally, tab: Tab, shown: Locator, within: str, command: str) -> None:
    for width in WIDTHS:
        await tab.page.set_viewport_size({"width": width, "height": HEIGHT})
        await tab.page.evaluate(SETTLED)  # the drawer is out of the way
        lost: list[Any] = await shown.evaluate(OUT_OF_SIGHT, within)
        text = (await shown.text_content() or "").removesuffix("\n")
        held = not lost and meant(text) == command and not hidden.hides(text)
        tally.case(held, f"{command[:80]!r} {width} wide: {lost}, {text[:200]!r}")
    await tab.page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
