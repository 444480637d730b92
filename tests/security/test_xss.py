"""Texts of others in a real browser: none of them runs, asks another host, or becomes an element of its own.

Each payload stands in each place with a number of its own, so that whatever happens is known by it. A policy of the page
forbids scripts in it; that one of them was stopped by it alone counts as broken too.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.async_api import Browser
from playwright.async_api import TimeoutError as NotInTime

from runtime.contract import Address, Speaking, Working
from tests.security.ground import Ground, ground_of
from tests.security.markup_attacks import PAYLOADS
from tests.security.planting import PLACES, Place
from tests.security.running import TEXT, Running, running
from tests.security.tally import Tallied, Tally
from tests.security.watching import Watched, watched

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

SEED: Final = 31
FIRST: Final = 10_000
APART: Final = 1_000
"""Numbers of two places lie so far apart."""
LIVE: Final = 60
PREVIEWS: Final = 80
CONTROL: Final = 85
"""Numbers of what has no rows of its own to be written."""
ROOM: Final = "live000001"
DATABASE: Final = "house.db"
NOTICED_LEAST: Final = 45
"""Texts that do something if they are read as markup; the others would if they were read as Markdown, or in attributes."""
AS_MARKUP: Final = """texts => {
  for (const text of texts) {
    const box = document.createElement("div");
    box.innerHTML = text;
    document.body.append(box);
  }
}"""
REFLECTED: Final = {
    "a search for a trace": "/console/trace?of=%T",
    "a filter": "/console/approvals?room=%T&person=%T",
    "a state that is none": "/console/runs?state=%T",
    "a run that is none": "/console/runs/%T",
    "a trace that is none": "/console/trace/%T",
    "a link that is none": "/link/%T",
    "a conversation that is none": "/#%T",
    "a room of the API": "/api/rooms/%T",
}
SAID_BACK: Final = frozenset(("a search for a trace", "a filter"))
SHOWN_WITHIN: Final = 30_000  # milliseconds
ALL_SHOWN: Final = "numbers => { const seen = new Set(window.__read()); return numbers.every((one) => seen.has(one)); }"


def numbered(place: int, lines: bool, chosen: Sequence[str]) -> list[tuple[int, str]]:
    """The payloads, each with its number and a word that shows that it is there."""
    found = []
    for at, payload in enumerate(chosen):
        number = FIRST + place * APART + at
        text = payload.replace("%N", str(number))
        found.append((number, f"{text}\n\nn{number}n" if lines else f"n{number}n {text}"))
    return found


@dataclass(frozen=True)
class Visit:
    """A page, and the numbered texts that must be there. With `must_show` False it may leave them out."""

    name: str
    path: str
    texts: Sequence[tuple[int, str]]
    must_show: bool = True
    press: str = ""
    plant: Callable[[], None] = lambda: None  # writes the texts where the page reads them


async def visited(tally: Tally, tab: Watched, visit: Visit) -> None:
    """A case for each text: it is shown, and nothing came of it."""
    numbers, before = [number for number, _ in visit.texts], len(tab.told)
    tab.seen.clear()
    visit.plant()
    await tab.open(visit.path, visit.press)
    if visit.must_show:
        with suppress(NotInTime):  # which of them are missing is told below
            await tab.page.wait_for_function(ALL_SHOWN, arg=numbers, timeout=SHOWN_WITHIN)
    await tab.take()
    _count(tally, tab, visit, before)


def _count(tally: Tally, tab: Watched, visit: Visit, before: int) -> None:
    told = tab.told[before:]
    for number, text in visit.texts:
        about = [words for words in told if str(number) in words]
        is_there = number in tab.seen or not visit.must_show
        tally.case(not about and is_there, f"{visit.name}, {text[:90]!r}: {about[:1] or 'not shown'}")
    known = {str(number) for number, _ in visit.texts}
    strange = [words for words in told if not any(number in words for number in known)]
    if strange:
        tally.case(False, f"{visit.name}: {strange[:2]}")


# ----------------------------------------------------------------------------------------------------------- the visits


def planted(ground: Ground, places: Sequence[Place], chosen: Sequence[str]) -> Iterator[Visit]:
    """Visits to the places whose rows are written for them, just before, as lists have only the newest."""
    for place in places:
        texts = numbered(PLACES.index(place), place.lines, chosen)
        path = place.path.replace("%F", f"{texts[0][0]:021}")
        yield Visit(place.name, path, texts, press=place.press, plant=partial(_plant, ground, place, texts))


def _plant(ground: Ground, place: Place, texts: Sequence[tuple[int, str]]) -> None:
    with ground.raw:
        place.plant(ground, texts)


async def asked(house: Running, chosen: Sequence[str]) -> list[Visit]:
    """Calls that the demo model asks about: the cards of a conversation, of the inbox and of the console."""
    texts = [(number, " ".join(text.split())) for number, text in numbered(LIVE, False, chosen)]
    for _, text in texts:
        assert (await house.say(ROOM, "owner", f"run: {text}")).status == 202
    async with asyncio.timeout(60):
        while len(await house.api.approvals("pending")) < len(texts):  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.05)
    paths = {"a card": f"/#{ROOM}", "the inbox": "/#/approvals", "an open question": "/console/approvals"}
    return [Visit(name, path, texts) for name, path in paths.items()]


def reflected(kinds: Sequence[str], chosen: Sequence[str]) -> list[Visit]:
    """Addresses that say a text back, or refuse it."""
    visits = []
    for at, (name, path) in enumerate(REFLECTED.items()):
        tried = () if name not in kinds else chosen if name in SAID_BACK else chosen[::3]
        for number, text in numbered(LIVE + 1 + at, False, tried):
            visits.append(
                Visit(name, path.replace("%T", quote(text, safe="")), [(number, text)], must_show=name in SAID_BACK)
            )
    return visits


async def previewed(tally: Tally, house: Running, tab: Watched, chosen: Sequence[str]) -> None:
    """Answers and calls under way, as an open page hears of them."""
    (account,) = house.app.at.accounts
    progress, address = account.features().progress, Address("web", account.identity, ROOM)
    assert progress is not None
    await tab.open(f"/#{ROOM}")
    await tab.page.wait_for_selector("[data-testid=message]")
    for name, place, event in (
        ("a preview", PREVIEWS, Speaking),
        ("a call under way", PREVIEWS + 1, lambda text: Working("shell", json.dumps({"command": text}))),
    ):
        before, texts = len(tab.told), numbered(place, False, chosen)
        for number, text in texts:
            progress(address, event(text))
            with suppress(NotInTime):
                await tab.page.wait_for_function(ALL_SHOWN, arg=[number], timeout=SHOWN_WITHIN)
        await tab.take()
        _count(tally, tab, Visit(name, "", texts), before)


async def noticed(tally: Tally, tab: Watched) -> None:
    """The watch itself: texts that are put into a page as markup are seen to do something."""
    texts = numbered(CONTROL, False, PAYLOADS)
    before = len(tab.told)
    await tab.open("/")
    await tab.page.evaluate(AS_MARKUP, [text for _, text in texts])
    await tab.take()
    named = {number for number, _ in texts} & tab.named
    del tab.told[before:]
    tally.case(len(named) >= NOTICED_LEAST, f"of texts as markup only {len(named)} were noticed")


# ------------------------------------------------------------------------------------------------------------ the suite


@asynccontextmanager
async def stage(folder: Path, browser: Browser) -> AsyncIterator[tuple[Running, Watched]]:
    text = TEXT.replace("sqlite:///:memory:", f"sqlite:///{folder / DATABASE}")
    async with (
        running(folder, text) as house,
        watched(browser, house.url, house.ways["owner"]["Cookie"]) as tab,
    ):
        yield house, tab


@dataclass(frozen=True)
class Plan:
    """Tries of a run. `singly` are the texts that are tried where each needs a page, or a change of it, for itself."""

    places: Sequence[Place] = PLACES
    chosen: Sequence[str] = PAYLOADS
    kinds: Sequence[str] = tuple(REFLECTED)
    singly: Sequence[str] = PAYLOADS


async def whole(tally: Tally, folder: Path, browser: Browser, plan: Plan) -> None:
    async with stage(folder, browser) as (house, tab):
        ground = ground_of(folder / DATABASE, house.app.engine.agents["main"].workspaces)
        visits = [
            *await asked(house, plan.chosen),
            *planted(ground, plan.places, plan.chosen),
            *reflected(plan.kinds, plan.singly),
        ]
        for visit in visits:
            await visited(tally, tab, visit)
        await previewed(tally, house, tab, plan.singly)
        await noticed(tally, tab)
        ground.raw.close()
    tally.close()


async def test_a_tenth_of_all_texts_stay_texts_in_a_browser(browser: Browser, tmp_path: Path, tallied: Tallied) -> None:
    """Some places with half of the texts."""
    chance = random.Random(SEED)
    chosen = chance.sample(PAYLOADS, len(PAYLOADS) // 2)
    plan = Plan(chance.sample(PLACES, 4), chosen, chance.sample(sorted(REFLECTED), 2), chosen[:2])
    await whole(tallied("XSS in a browser, a tenth", 300), tmp_path, browser, plan)


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_no_text_is_more_than_a_text_in_a_browser(browser: Browser, tmp_path: Path, tallied: Tallied) -> None:
    await whole(tallied("XSS in a browser", 3_000), tmp_path, browser, Plan())
