"""Takes the pictures of the page: `python -m tests.e2e.picture` starts the program, talks with it and keeps what is seen.

The conversation is the one that the README tells of: a question answered from a tool, an approved command with its
output, a denied one, and the conversation goes on. `--only tree` takes the pictures of one kind.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.async_api import expect

from tests.e2e.browser import Tab, chromium, executable, tab_of
from tests.e2e.house import ROOT, House, open_house
from tests.e2e.watched import FLOW_SETTINGS, WINDOW, settings_of, watched_flow, watched_goal

FOLDER: Final = ROOT / "docs" / "pictures"
WIDE: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 1940}, "color_scheme": "light"}
NARROW: Final[dict[str, Any]] = {
    "viewport": {"width": 360, "height": 780},
    "color_scheme": "dark",
    "device_scale_factor": 2,
}
TALL: Final[dict[str, Any]] = {"viewport": {"width": 900, "height": 1500}, "color_scheme": "light"}
PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 900},
    "color_scheme": "light",
    "device_scale_factor": 1.5,
}
COLOURS: Final = 256
"""Of a picture that is kept: a page has few, and it takes a third of the bytes."""
GAP_PIXELS: Final = 24
SETTLED_MS: Final = 1_000
"""After a page is connected again: it reads what it missed, and draws that."""
Watch = Callable[[Tab, Tab, House, Path], Awaitable[None]]
GOAL: Final = "/goal write tea to tea.txt\nverify: it mentions notes.txt\nturns: 4"
TREE: Final = (
    "delegate to research: delegate each: list the files; run: date > stamp.txt; delegate to ops: list the files"
)
TREE_SETTINGS: Final = """
[[agents]]
name = "main"
delegates_to = ["research"]
[[agents]]
name = "research"
prompt = "You look things up."
delegates_to = ["research", "ops"]
[[agents]]
name = "ops"
prompt = "You look after the servers."
"""


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


async def seen(tab: Tab) -> Image.Image:
    await tab.page.mouse.move(0, 0)  # what shows under a mouse isn't what people see first
    return Image.open(io.BytesIO(await tab.page.screenshot(animations="disabled")))


async def keep(tab: Tab, path: Path) -> None:
    kept(await seen(tab), path)


def kept(picture: Image.Image, path: Path) -> None:
    few_colours(picture.convert("RGB")).save(path, optimize=True)
    sys.stdout.write(f"{path}: {path.stat().st_size // 1000} kB\n")


def few_colours(picture: Image.Image) -> Image.Image:
    """Half of the colours are the commonest, exactly; the others cover what is small, such as a light."""
    every = picture.getcolors(picture.width * picture.height) or []
    common: list[Any] = [colour for _, colour in sorted(every, reverse=True)[: COLOURS // 2]]
    rest = picture.quantize(COLOURS // 2, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*chain.from_iterable(common), *rest])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def side_by_side(pictures: Sequence[Image.Image]) -> Image.Image:
    wide, high = pictures[0].size
    sheet = Image.new("RGB", ((wide + GAP_PIXELS) * len(pictures) - GAP_PIXELS, high), "white")
    for place, picture in enumerate(pictures):
        sheet.paste(picture, ((wide + GAP_PIXELS) * place, 0))
    return sheet


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


async def take_inbox(program: str, house: House, folder: Path) -> None:
    link = house.link
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


async def take(program: str, house: House, folder: Path) -> None:
    link = house.link
    async with chromium(program) as browser:
        async with tab_of(browser, link, **WIDE) as tab:
            await converse(tab)
            await keep(tab, folder / "conversation.png")
        async with tab_of(browser, link, **NARROW) as tab:
            await tab.closed_card("Denied")
            await ask_on(tab)
            await keep(tab, folder / "narrow.png")


async def take_operators(program: str, house: House, folder: Path) -> None:
    """Pages of the console with something in them, and the page in German."""
    look = WIDE | {"viewport": {"width": 1280, "height": 860}}
    async with chromium(program) as browser, tab_of(browser, house.link, **look) as tab:
        page = tab.page
        await converse(tab)
        await page.goto(f"{house.url}/console/runs")
        await page.locator("tbody tr").filter(has_text="uname").get_by_role("link").first.click()
        await expect(page.locator(".timeline")).to_be_visible()
        await keep(tab, folder / "run.png")
        await page.goto(f"{house.url}/console/schedules/new")
        await page.get_by_role("button", name="first Monday of the month").click()
        await expect(page.locator("#coming li")).to_have_count(5)
        await keep(tab, folder / "schedule-form.png")
        await page.goto(f"{house.url}/console/settings/budgets")
        await page.get_by_label("warn_at").fill("0.5")
        await page.get_by_label("warn_at").press("Enter")
        await expect(page.locator(".diff")).to_contain_text("+warn_at = 0.5")
        await keep(tab, folder / "settings-diff.png")
        await page.goto(f"{house.url}/console/people")
        await page.get_by_role("button", name="Make an invitation").click()
        await expect(page.get_by_role("img", name="The link as a QR code")).to_be_visible()
        await keep(tab, folder / "invitation.png")
        async with tab_of(browser, house.link, **PHONE, locale="de-DE") as german:
            await ask_on(german)
            await keep(german, folder / "german.png")


async def take_flow(program: str, house: House, folder: Path) -> None:
    """A workflow's graph, after two kills."""
    await take_work(program, house, folder, watched_flow, "workflow")


async def take_goal_page(program: str, house: House, folder: Path) -> None:
    """A goal on the console, after two kills."""
    await take_work(program, house, folder, watched_goal, "goal-met")


async def take_work(program: str, house: House, folder: Path, watch: Watch, name: str) -> None:
    with tempfile.TemporaryDirectory() as taken:
        async with (
            chromium(program) as browser,
            tab_of(browser, house.link, **WINDOW) as chat,
            tab_of(browser, house.link, **WINDOW) as tab,
        ):
            await watch(chat, tab, house, Path(taken))
        with Image.open(Path(taken) / f"{name}.png") as picture:
            kept(picture, folder / f"{name}.png")


async def take_goal(program: str, house: House, folder: Path) -> None:
    """A goal as its room sees it, with a kill in its first turn."""
    async with chromium(program) as browser, tab_of(browser, house.link, **TALL) as tab:
        await tab.say("write the kettle is on to notes.txt")
        await (await tab.open_card()).get_by_test_id("approve").click()
        await tab.reply("Written to")
        await tab.say(GOAL)
        await (await tab.open_card()).get_by_role("button", name="Begin", exact=True).click()
        await expect(await tab.open_card()).to_contain_text("May I run write_file?")
        await restarted(tab, house)
        await (await tab.open_card()).get_by_test_id("approve").click()
        await expect(await tab.open_card()).to_contain_text("already says exactly this")
        await tab.say("/goal")
        await tab.reply("ends it.")
        await (await tab.open_card()).get_by_test_id("approve").click()
        await tab.reply("Goal met after 2 turns")
        await keep(tab, folder / "goal.png")


async def take_tree(program: str, house: House, folder: Path) -> None:
    """Work that was handed on: it waits, the same after a kill, and all done."""
    async with chromium(program) as browser, tab_of(browser, house.link, **PHONE) as tab:
        await tab.say(TREE)
        await tab.open_card()
        pictures = [await seen_tree(tab)]
        await restarted(tab, house)
        pictures.append(await seen_tree(tab))
        await (await tab.open_card()).get_by_test_id("approve").click()
        await tab.reply("research answered")
        await tab.closed_card("Approved")
        kept(side_by_side([*pictures, await seen_tree(tab)]), folder / "handed-on.png")


async def seen_tree(tab: Tab) -> Image.Image:
    """The page from the tree on."""
    await tab.said("agent").first.evaluate("node => node.scrollIntoView()")
    return await seen(tab)


async def restarted(tab: Tab, house: House) -> None:
    """kill -9, another start, and a page that goes on."""
    tab.may_be_away = True
    house.kill()
    await expect(tab.at("connection")).not_to_be_empty()
    house.start()
    await expect(tab.at("connection")).to_be_empty()
    await tab.page.wait_for_timeout(SETTLED_MS)


Take = Callable[[str, House, Path], Awaitable[None]]
TAKES: Final[dict[str, tuple[Take, str]]] = {
    "page": (take, ""),
    "inbox": (take_inbox, ""),
    "operators": (take_operators, ""),
    "workflow": (take_flow, FLOW_SETTINGS),
    "goal-page": (take_goal_page, ""),
    "goal": (take_goal, ""),
    "tree": (take_tree, TREE_SETTINGS),
}
"""Pictures of a kind, and the settings of the house in which they are taken."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="picture", description="Takes the pictures of the page.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--only", choices=TAKES)
    given = parser.parse_args()
    program = executable()
    if program is None:
        sys.stderr.write("There is no Chromium here; tests/setup.sh chromium installs one.\n")
        return 1
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, (taking, settings) in TAKES.items():
        if given.only not in (None, name):
            continue
        with ExitStack() as stack:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if taking is take_flow:
                settings_of(data)
            house = stack.enter_context(open_house(data, settings))
            asyncio.run(run(taking, program, house, given.folder))
    return 0


async def run(taking: Take, program: str, house: House, folder: Path) -> None:
    await taking(program, house, folder)


if __name__ == "__main__":
    sys.exit(main())
