"""Takes the pictures of the page: `python -m tests.e2e.picture` starts the program, talks with it and keeps what is seen.

The conversation is the one that the README tells of: a question answered from a tool, an approved command with its
output, a denied one, and the conversation goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.async_api import expect

from tests.e2e.browser import Tab, chromium, executable, tab_of
from tests.e2e.house import ROOT, House, open_house
from tests.e2e.watched import FLOW_SETTINGS, WINDOW, settings_of, watched_flow, watched_goal

FOLDER: Final = ROOT / "docs" / "pictures"
WIDE: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 1640}, "color_scheme": "light"}
NARROW: Final[dict[str, Any]] = {
    "viewport": {"width": 360, "height": 780},
    "color_scheme": "dark",
    "device_scale_factor": 2,
}


async def converse(tab: Tab) -> None:
    await tab.say("list the files")
    await tab.reply("Files in")
    await tab.say("run: uname -a")
    await (await tab.open_card()).get_by_test_id("approve").click()
    await tab.reply("Output of")
    await tab.say("run: rm -rf .")
    card = await tab.open_card()
    await card.get_by_test_id("deny-reason").click()
    await card.get_by_test_id("deny-reason-text").fill("nothing to tidy up here")
    await card.get_by_test_id("deny-reason-send").click()
    await tab.reply("I wasn't allowed to run")
    await tab.closed_card("Denied")
    await tab.say("list the files")
    await expect(tab.said("agent")).to_have_count(4)
    await expect(tab.at("progress")).to_be_hidden()


async def keep(tab: Tab, path: Path) -> None:
    picture = await tab.page.screenshot(path=path, animations="disabled")
    sys.stdout.write(f"{path}: {len(picture) // 1000} kB\n")


async def ask_on(tab: Tab) -> None:
    """A card that still waits, for the picture of a narrow page."""
    await tab.say("write the kettle is on to notes.txt")
    await tab.open_card()


async def fill_inbox(tab: Tab) -> None:
    """Two conversations that wait for somebody."""
    for text in ("run: make deploy", "write the kettle is on to notes.txt"):
        await tab.at("new-room").click()
        await tab.say(text)
        await tab.open_card()


async def take_inbox(program: str, link: str, folder: Path) -> None:
    async with chromium(program) as browser:
        for name, look in (
            ("approvals", WIDE | {"viewport": {"width": 1280, "height": 860}}),
            ("approvals-narrow", NARROW),
        ):
            async with tab_of(browser, link, **look) as tab:
                if name == "approvals":
                    await fill_inbox(tab)
                await tab.page.evaluate(
                    "() => document.getElementById('to-inbox').click()"
                )  # behind the menu on a phone
                await expect(tab.at("inbox-card")).to_have_count(2)
                await expect(tab.at("inbox-room").locator("option")).to_have_count(3)
                await keep(tab, folder / f"{name}.png")


async def take(program: str, link: str, folder: Path) -> None:
    async with chromium(program) as browser:
        async with tab_of(browser, link, **WIDE) as tab:
            await converse(tab)
            await keep(tab, folder / "conversation.png")
        async with tab_of(browser, link, **NARROW) as tab:
            await tab.closed_card("Denied")
            await ask_on(tab)
            await keep(tab, folder / "narrow.png")


async def take_work(program: str, flows: House, goals: House, folder: Path) -> None:
    """A workflow's graph and a goal, after two kills each."""
    with tempfile.TemporaryDirectory() as kept:
        async with chromium(program) as browser:
            for house, watch in ((flows, watched_flow), (goals, watched_goal)):
                async with tab_of(browser, house.link, **WINDOW) as chat, tab_of(browser, house.link, **WINDOW) as tab:
                    await watch(chat, tab, house, Path(kept))
        for name in ("workflow.png", "goal-met.png"):
            shutil.copyfile(Path(kept) / name, folder / name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="picture", description="Takes the pictures of the page.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    program = executable()
    if program is None:
        sys.stderr.write("There is no Chromium here; tests/setup_chromium.sh installs one.\n")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, open_house(Path(data)) as house:
        asyncio.run(take(program, house.link, folder))
    with tempfile.TemporaryDirectory() as data, open_house(Path(data)) as house:
        asyncio.run(take_inbox(program, house.link, folder))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        settings_of(Path(one))
        with open_house(Path(one), FLOW_SETTINGS) as flows, open_house(Path(other)) as goals:
            asyncio.run(take_work(program, flows, goals, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
