"""Rules of accessibility by others, held against a page as it is shown: axe-core, pinned in `vendor/vendored.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

AXE: Final = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
COLOURS_ALONE: Final = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""Rules of a second look in other colours: the others told the same in the first."""
SETTLED: Final = """async () => {
  const turning = () => document.getAnimations().filter((one) => one instanceof CSSTransition);
  do {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    await Promise.allSettled(turning().map((one) => one.finished));
  } while (turning().length > 0);
}"""
"""Colours that turn into others are none yet, and what inherits them turns after them."""
FOUND: Final = """async (options) => (await axe.run(document, { preload: false, resultTypes: ["violations"], ...options }))
  .violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`)"""


async def violations(page: Page) -> list[str]:
    """Rules that the page breaks, light and dark, each with the elements that do."""
    await page.evaluate(AXE)
    found = []
    options: dict[str, Any] = {}
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
        await page.evaluate(SETTLED)
        found += [f"{page.url}, {scheme}: {told}" for told in await page.evaluate(FOUND, options)]
        options = COLOURS_ALONE
    return found
