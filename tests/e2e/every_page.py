"""Takes pictures of every page, light and dark, wide and on a phone: `python -m tests.e2e.every_page FOLDER`, for whoever looks at them.

The pages are those that the table of routes names, so that a new one can't be forgotten; one about a single thing is found by
the first link to it. Each page is measured too: nothing may stand out to the right, and no word of a heading, a
name or a button may be broken in its midst.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, expect

from tests.e2e.browser import Tab, chromium, executable, tab_of
from tests.e2e.house import House, open_house
from tests.e2e.picture import GOAL, TREE, TREE_SETTINGS, converse
from tests.e2e.watched import FLOW, FLOW_SETTINGS, SIDEWAYS, settings_of
from tests.security.routes import TABLE

LOOKS: Final[Mapping[str, dict[str, Any]]] = {
    f"{name}-{scheme}": {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    for name, width in (("wide", 1280), ("narrow", 390))
    for scheme in ("light", "dark")
} | {
    f"{name}-german": {"viewport": {"width": width, "height": 900}, "locale": "de-DE"}
    for name, width in (("wide", 1280), ("narrow", 390))
}
NO_PAGE: Final = re.compile(r"/api/|/static/|\.zip$|/$|/events/stream$")
"""Addresses under `/console` that are no pages: data, files, and the one that only leads to another."""
PLACE: Final = re.compile(r"\{\w+\}")
REST_MS: Final = 400
"""A page has drawn by then."""
BROKEN: Final = """() => {
  const found = [];
  for (const one of document.querySelectorAll("h1, h2, th, button, .badge, nav a, dt")) {
    if (!one.checkVisibility() || one.children.length > 0) continue;
    const word = one.textContent.trim();
    if (/\\s|^$|-/.test(word)) continue;
    const range = document.createRange();
    range.selectNodeContents(one);
    const tops = new Set([...range.getClientRects()].map((part) => Math.round(part.top)));
    if (tops.size > 1) found.push(word);
  }
  return found;
}"""
"""Single words that stand in two lines."""
LINKS: Final = """() => {
  for (const one of document.querySelectorAll("form[method=get] select")) one.selectedIndex = one.options.length - 1;
  return [...document.querySelectorAll("a[href], form[method=get]")].map((one) =>
  one.matches("a") ? one.getAttribute("href") : `${new URL(one.action).pathname}?${new URLSearchParams(new FormData(one))}`);
}"""
"""Where links lead, and forms that only look."""


def console_pages() -> list[str]:
    """Addresses of the console's pages as their routes write them, and of the one in its look."""
    known = (route.removeprefix("GET ") for route in TABLE if route == "GET /me" or route.startswith("GET /console"))
    return sorted(path for path in known if not NO_PAGE.search(path))


async def fill(tab: Tab) -> None:
    """Something for each page to show: answers, questions, a schedule, tasks, a workflow, a goal, work that was handed on."""
    await converse(tab)
    for text in (
        "remember that the kettle is in the kitchen",
        "every weekday at 9 do list the files",
        "task: list the files",
        "write b to b.txt",
    ):
        await tab.say(text)
        await tab.page.wait_for_timeout(REST_MS * 3)
    for text in (TREE, f"/workflow {FLOW}", GOAL, "run: make deploy"):
        await tab.at("new-room").click()
        await tab.say(text)
        await tab.page.wait_for_timeout(REST_MS * 3)
    await expect(tab.page.locator("[data-testid=card]").last).to_be_visible()


async def found(tab: Tab, house: House) -> dict[str, str]:
    """Each page by its name: addresses without a place as they are, the others by the first link that leads there."""
    pages, wanted = {}, []
    for path in console_pages():
        if PLACE.search(path):
            wanted.append(path)
        else:
            pages[path] = path
    links: list[str] = []
    for path in pages.values():
        await tab.page.goto(f"{house.url}{path}")
        links += await tab.page.evaluate(LINKS)
    for path in [one for one in pages.values() if one.count("/") == 2]:
        for link in [one for one in links if one.startswith(f"{path}/") and one not in pages][:1]:
            await tab.page.goto(f"{house.url}{link}")
            links += await tab.page.evaluate(LINKS)
    for path in wanted:
        shape = re.compile(PLACE.sub("[^/?#]+", path) + r"(?:[?#].*)?")
        one = next((link for link in links if shape.fullmatch(link) and link.partition("?")[0] not in pages), None)
        if one:
            pages[path] = one
    return pages


async def take(browser: Browser, house: House, folder: Path) -> list[str]:
    """All pictures; faults that a machine sees, and pages that nothing led to."""
    faults: list[str] = []
    async with tab_of(browser, house.link, **LOOKS["wide-light"]) as tab:
        await taken(tab, "talk-empty", folder, "wide-light", faults)
        await fill(tab)
        pages = await found(tab, house)
    faults += [f"{path}: no link leads to one" for path in console_pages() if path not in pages]
    for look, given in LOOKS.items():
        async with tab_of(browser, house.link, **given) as tab:
            for name, path in {"talk": "/", "talk-approvals": "/#/approvals", **pages}.items():
                await tab.page.goto(f"{house.url}{path}")
                await taken(tab, name, folder, look, faults)
    return faults


async def taken(tab: Tab, name: str, folder: Path, look: str, faults: list[str]) -> None:
    file = name.removeprefix("/").replace("/", "-").replace("{", "").replace("}", "")
    await tab.page.wait_for_timeout(REST_MS)
    await tab.page.screenshot(path=folder / f"{file}.{look}.png", animations="disabled", full_page=True)
    if sideways := await tab.page.evaluate(SIDEWAYS):
        faults.append(f"{name}, {look}: {sideways} pixels stand out to the right")
    faults += [f"{name}, {look}: {word!r} is broken in its midst" for word in await tab.page.evaluate(BROKEN)]


@contextmanager
def full_house(folder: Path) -> Iterator[House]:
    """A house with agents, a workflow and people, for `fill`."""
    settings_of(folder)
    with open_house(folder, TREE_SETTINGS + FLOW_SETTINGS.replace("write_file", "workflow_start")) as house:
        for person in ("Ada", "Grace"):
            assert house.command("people", "add", person).returncode == 0
        yield house


async def run(program: str, house: House, folder: Path) -> list[str]:
    async with chromium(program) as browser:
        return await take(browser, house, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="every_page", description="Takes pictures of every page.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(arguments).folder
    program = executable()
    if program is None:
        sys.stderr.write("There is no Chromium here; tests/setup.sh chromium installs one.\n")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, full_house(Path(name)) as house:
        faults = asyncio.run(run(program, house, folder))
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
