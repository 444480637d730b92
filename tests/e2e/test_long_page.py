"""A long conversation in a real browser: what is drawn stays bounded, and a summary is a fold in it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.browser import Tab, tab_in, tab_of
from tests.e2e.house import House
from tests.e2e.seeding import BEGAN, MINUTE, ROOM, talk

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

TURNS: Final = 10_000
SLEPT: Final = 300
"""Turns that came while a tab slept."""
CATCHING_UP: Final = 6
"""Requests by which it comes to the newest."""
MOST_DRAWN: Final = 300
MANY: Final = 100
"""Times that somebody scrolls at most: a handful on a machine at rest."""
PHONE: Final[dict[str, Any]] = {"viewport": {"width": 390, "height": 844}}
SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
UP: Final = "() => { document.getElementById('scroll').scrollTop = 0; }"
PAGE_SCROLLS: Final = (
    "() => { const app = document.getElementById('app'); return app.scrollHeight - app.clientHeight; }"
)
DOWN: Final = "() => { const s = document.getElementById('scroll'); s.scrollTop = s.scrollHeight; }"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """With a conversation of 10,000 turns."""
    house = House(tmp_path_factory.mktemp("house")).start()
    try:
        house.leave()
        talk(house.data / "signalbox.db", TURNS, summarised=TURNS - 40)
        yield house.start()
    finally:
        house.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(window: BrowserContext, house: House) -> AsyncIterator[Tab]:
    async with tab_in(window, house.url) as tab:
        await opened(tab)
        yield tab


async def opened(tab: Tab) -> None:
    await tab.page.evaluate("(room) => { location.hash = room; }", ROOM)
    await expect(tab.page.get_by_text(f"Question {TURNS // 2}", exact=True)).to_be_visible()


async def drawn(tab: Tab) -> list[int]:
    """The numbers of the questions that are in the document."""
    texts = await tab.said("person").locator(".said").all_inner_texts()
    assert await tab.page.locator(".log > .message").count() <= MOST_DRAWN
    return [int(text.removeprefix("Question ")) for text in texts if text.startswith("Question ")]


async def test_operators_read_what_would_be_sent(house: House) -> None:
    shown = house.command("prompt", "show", "--room", ROOM)
    assert shown.returncode == 0
    assert "--- system" in shown.stdout
    assert "Count sheep, one by one." in shown.stdout
    assert "Question 4981" in shown.stdout
    assert "Question 4980" not in shown.stdout
    assert "read_file (read, " in shown.stdout
    told = json.loads(house.command("prompt", "show", "--room", ROOM, "--json").stdout)
    schema = next(tool["schema"] for tool in told["tools"] if tool["name"] == "read_file")
    assert "path" in schema["properties"]
    sizes = {part["name"]: part["tokens"] for part in told["partitions"]}
    assert sizes["tools"] == sum(tool["tokens"] for tool in told["tools"]) > 500
    context = json.loads(house.command("context", ROOM, "--json").stdout)
    assert {part["name"]: part["tokens"] for part in context["partitions"]} == sizes
    assert (context["turns"], len(context["summaries"])) == (TURNS, 1)
    assert house.command("context", "nowhere").returncode == 1
    assert house.command("prompt", "show", "--room", ROOM, "--agent", "nobody").returncode == 1


async def test_scrolling_up_draws_older_messages_and_lets_go_of_newer_ones(tab: Tab) -> None:
    newest = TURNS // 2
    assert (await drawn(tab))[-1] == newest
    reached = newest
    for _ in range(12):
        await tab.page.evaluate(UP)
        await expect(tab.said("person").first).not_to_have_text(f"Question {reached}")
        await tab.page.wait_for_timeout(50)
        now = await drawn(tab)
        assert now == list(range(now[0], now[-1] + 1)), "nothing is missing in between"
        reached = now[0]
    assert reached < newest - 400
    assert newest not in now
    await tab.page.locator("#jump").click()
    await expect(tab.page.get_by_text(f"Question {newest}", exact=True)).to_be_in_viewport()
    assert (await drawn(tab))[-1] == newest


async def test_scrolling_down_leads_back_to_the_newest_and_a_new_message_stands_there(tab: Tab) -> None:
    for _ in range(MANY):
        await tab.page.evaluate(UP)
        await tab.page.wait_for_timeout(100)
        if (await drawn(tab))[-1] < TURNS // 2:
            break
    else:
        raise AssertionError("the newest one is still there")
    for _ in range(MANY):
        await tab.page.evaluate(DOWN)
        await tab.page.wait_for_timeout(50)
        now = await drawn(tab)
        assert now == list(range(now[0], now[-1] + 1)), "nothing is missing in between"
        if now[-1] == TURNS // 2:
            break
    await tab.page.evaluate(DOWN)
    await expect(tab.page.get_by_text(f"Question {TURNS // 2}", exact=True)).to_be_in_viewport()
    await tab.say("hello there")
    await expect(await tab.reply("hello there")).to_be_in_viewport()
    await drawn(tab)
    assert await tab.page.evaluate(PAGE_SCROLLS) == 0, "a link to a message moves the messages, not the page"


async def test_whoever_reads_further_up_stays_there_when_something_new_comes(tab: Tab, house: House) -> None:
    await tab.page.evaluate(UP)
    await tab.page.wait_for_timeout(300)
    middle = "() => document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('li')?.textContent"
    read = await tab.page.evaluate(middle)
    assert house.command("ask", "--room", ROOM, "what else?").returncode == 0
    await expect(tab.page.locator("#jump")).to_be_visible()
    assert await tab.page.evaluate(middle) == read
    await tab.page.locator("#jump").click()
    await expect(tab.page.get_by_text("what else?", exact=True).last).to_be_in_viewport()
    await drawn(tab)


async def test_a_link_to_an_old_message_leads_there_and_on_to_the_newest(tab: Tab) -> None:
    await tab.page.evaluate("(hash) => { location.hash = hash; }", f"{ROOM}/run{10:019}")
    await expect(tab.page.get_by_text("Question 10", exact=True)).to_be_in_viewport()
    now = await drawn(tab)
    for _ in range(MANY):
        await tab.page.evaluate(DOWN)
        await tab.page.wait_for_timeout(100)
        now = await drawn(tab)
        assert now == list(range(now[0], now[-1] + 1)), "nothing is missing in between"
        if now[-1] > 300:
            break
    assert now[-1] > 300
    await tab.page.locator("#jump").click()
    await expect(tab.page.get_by_text(f"Question {TURNS // 2}", exact=True)).to_be_visible()
    assert (await drawn(tab))[-1] == TURNS // 2


@pytest.mark.parametrize(
    "look", [{"color_scheme": "light"}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"]
)
async def test_a_summary_is_a_thin_rule_with_its_text_behind_it(
    browser: Browser, house: House, look: dict[str, Any]
) -> None:
    async with tab_of(browser, house.link, **look) as tab:
        await opened(tab)
        fold = tab.at("summary").first
        await fold.scroll_into_view_if_needed()
        await expect(fold).to_contain_text("Summary of 9,960 turns")
        await expect(fold.get_by_text("Count sheep, one by one.")).to_be_hidden()
        await fold.locator("summary").click()
        await expect(fold.get_by_text("Count sheep, one by one.")).to_be_visible()
        await expect(fold.locator("code")).to_have_text("fence")
        await expect(fold).to_contain_text("about 40,000 tokens before, 300 after")
        above, below = f"Question {(TURNS - 40) // 2}", f"Question {(TURNS - 40) // 2 + 1}"
        order = await tab.page.locator(".log > li").all_inner_texts()
        at = next(place for place, text in enumerate(order) if "Summary of 9,960 turns" in text)
        assert above in order[at - 2]
        assert below in "".join(order[at + 1 : at + 3])
        assert await tab.page.evaluate(SIDEWAYS) == 0


async def test_a_summary_that_is_made_now_appears_at_once(tab: Tab) -> None:
    await expect(tab.at("summary")).to_have_count(1)
    await tab.say("/context")
    told = await tab.reply("Your next message goes to")
    await expect(told).to_contain_text("Last condensed")
    await tab.say("/compact")
    await tab.reply("Condensed:")
    await expect(tab.at("summary")).to_have_count(2)


async def test_a_tab_that_slept_goes_on_at_the_newest_and_has_all_between_above_it(tab: Tab, house: House) -> None:
    """More came meanwhile than the page reads at once. It goes last: what came stands after what the others said."""
    asked: list[str] = []
    tab.may_be_away = True
    await tab.page.context.set_offline(True)
    tab.page.context.on("request", lambda request: asked.append(request.url))
    later = (time.time_ns() // 1_000 - BEGAN) // (TURNS // 2) + MINUTE
    talk(house.data / "signalbox.db", TURNS + SLEPT, since=TURNS, gap=later)
    await tab.page.context.set_offline(False)
    newest = (TURNS + SLEPT) // 2
    await expect(tab.page.get_by_text(f"Question {newest}", exact=True)).to_be_in_viewport()
    await tab.page.wait_for_timeout(1_000)
    assert len([url for url in asked if "/timeline" in url or "/events" in url]) <= CATCHING_UP
    read, all_between = set[int](), set(range(TURNS // 2 - 1, newest + 1))
    for _ in range(MANY):
        now = await drawn(tab)
        assert now == list(range(now[0], now[-1] + 1)), "nothing is missing in between, and nothing is there twice"
        read |= set(now)
        if read >= all_between:
            break
        await tab.page.evaluate(UP)
        await tab.page.wait_for_timeout(200)
    assert read >= all_between
