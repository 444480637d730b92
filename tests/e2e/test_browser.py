"""The page in a real browser, against the real process: what the README promises a newcomer, and what a person expects."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import Browser, BrowserContext, Locator, Route, expect

from tests.e2e.axe import SETTLED, violations
from tests.e2e.browser import Tab, tab_in, tab_of, window_of
from tests.e2e.every_page import fill, found, full_house
from tests.e2e.house import House, open_house
from tests.sample import sample

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def tab(window: BrowserContext, house: House) -> AsyncIterator[Tab]:
    """The owner's page, in a conversation of its own."""
    async with tab_in(window, house.url) as tab:
        await tab.at("new-room").click()
        yield tab


def in_a_new_room(browser: Browser, house: House, **context: object) -> AbstractAsyncContextManager[Tab]:
    return tab_of(browser, house.link, **context)


# ------------------------------------------------------------------------------------------------------ the main job


@pytest.mark.usefixtures("sandbox")
async def test_the_first_conversation_from_the_printed_link_to_the_reload(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        async with tab_of(browser, house.link) as tab:
            await expect(tab.page.locator("#banner")).to_contain_text("demo model")
            await tab.say("list the files")
            await tab.reply("Files in")
            await tab.say("run: uname -a")
            card = await tab.open_card()
            await expect(card).to_contain_text("May I run shell?")
            await expect(card).to_contain_text("uname -a")
            await expect(tab.said("agent")).to_have_count(1)  # nothing ran yet
            await card.get_by_test_id("approve").click()
            assert re.search(r"Linux sandbox \d", await (await tab.reply("Output of")).inner_text())
            await tab.closed_card("Approved by owner")
            await tab.say("run: id")
            await _deny(tab, "not needed")
            assert "not needed" in await (await tab.reply("I wasn't allowed to run")).inner_text()
            await expect(await tab.closed_card("Denied by owner")).to_contain_text("not needed")
            await tab.say("thank you all the same")
            await tab.reply("thank you all the same")
            before = await tab.everything()
            assert len(before) == 4 + 4 + 2
            await tab.page.reload()
            await tab.reply("thank you all the same")
            assert await tab.everything() == before


async def _deny(tab: Tab, reason: str) -> None:
    card = await tab.open_card()
    await card.get_by_test_id("deny-reason").click()
    await card.get_by_test_id("deny-reason-text").fill(reason)
    await card.get_by_test_id("deny-reason-send").click()


async def test_a_message_typed_while_the_program_is_dead_is_answered_once(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        async with tab_of(browser, house.link) as tab:
            tab.may_be_away = True
            await tab.say("before the end")
            await tab.reply("before the end")
            house.kill()
            await expect(tab.at("connection")).to_have_text("Reconnecting…")
            await tab.say("typed in the dark")
            await expect(tab.page.locator('[data-state="waiting"]')).to_contain_text("still trying")
            house.start()
            await tab.reply("typed in the dark")
            await expect(tab.at("connection")).to_have_text("")
            await tab.say("and on we go")
            await tab.reply("and on we go")
            await expect(tab.said("person")).to_have_count(3)
            await expect(tab.said("agent")).to_have_count(3)


@asynccontextmanager
async def before_the_conversations_are_there(tab: Tab) -> AsyncIterator[None]:
    """The page, loaded anew; its conversations come at the end of the block."""
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await tab.page.route("**/api/v1/rooms", hold)
    await tab.page.reload()
    await expect(tab.page.locator("#whoami")).not_to_be_empty()
    yield
    async with tab.page.expect_response("**/api/v1/rooms"):
        held.set()


async def test_whoever_signs_in_again_in_another_tab_goes_on_in_this_one(browser: Browser, house: House) -> None:
    async with window_of(browser) as window, tab_in(window, house.link) as tab:
        await tab.say("hello there")
        await tab.reply("hello there")
        tab.may_be_away = True
        await window.set_offline(True)
        await window.clear_cookies()
        await window.set_offline(False)
        await expect(tab.at("connection")).to_have_text("Not connected")
        await expect(tab.page.locator("#notice code")).to_have_text("signalbox people link NAME")
        async with tab_in(window, house.link):
            pass
        await tab.page.evaluate("dispatchEvent(new Event('focus'))")
        await expect(tab.at("connection")).to_be_empty()
        await expect(tab.page.locator("#notice")).to_be_hidden()
        tab.complaints.clear()  # of what was refused meanwhile


async def test_what_is_said_where_an_address_leads_goes_out_before_the_conversations_are_there(tab: Tab) -> None:
    async with before_the_conversations_are_there(tab):
        await tab.say("typed in haste")
        await tab.reply("typed in haste")
    await expect(tab.said("person")).to_have_count(1)


async def test_what_is_typed_before_the_conversations_are_there_is_kept_and_sent_then(tab: Tab) -> None:
    await tab.page.evaluate("history.replaceState(null, '', location.pathname)")
    async with before_the_conversations_are_there(tab):
        await tab.at("composer").fill("typed sooner")
        await tab.at("composer").press("Enter")
        await expect(tab.at("send")).to_be_disabled()
    await tab.at("send").click()
    await tab.reply("typed sooner")
    await expect(tab.said("person").filter(has_text="typed sooner")).to_have_count(1)


async def test_where_one_goes_before_the_conversations_are_there_one_stays(tab: Tab) -> None:
    await tab.page.evaluate("history.replaceState(null, '', location.pathname)")
    async with before_the_conversations_are_there(tab):
        await tab.page.evaluate("location.hash = '#/approvals'")
    await expect(tab.page).to_have_title(re.compile("Approvals"))
    await expect(tab.page.locator("#stage")).to_be_hidden()


async def test_a_list_that_is_opened_before_the_conversations_are_there_stays_open(
    browser: Browser, house: House
) -> None:
    async with in_a_new_room(browser, house, viewport={"width": 360, "height": 740}) as tab:
        await tab.say("hello")
        await tab.reply("hello")
        async with before_the_conversations_are_there(tab):
            await tab.page.get_by_role("button", name="Show conversations").click()
        await expect(tab.said("agent").last).to_be_visible()
        await tab.at("new-room").click()
        await expect(tab.page.get_by_role("button", name="Show conversations")).to_be_visible()


async def test_a_page_that_is_closed_in_the_dark_sends_its_message_later(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        async with tab_of(browser, house.link) as tab:
            tab.may_be_away = True
            house.kill()
            await tab.say("do not forget me")
            await expect(tab.page.locator('[data-state="waiting"]')).to_be_visible()
            await tab.page.goto("about:blank")
            house.start()
            await tab.page.goto(house.url)
            await tab.reply("do not forget me")
            await expect(tab.said("person")).to_have_count(1)
            await expect(tab.said("agent")).to_have_count(1)


@pytest.mark.usefixtures("sandbox")
async def test_stop_lets_a_running_command_end_and_says_so(tab: Tab) -> None:
    await tab.say("run: sleep 3; echo slept well")
    await expect(tab.at("stop")).to_be_hidden()  # it waits for a person, so nothing works
    await (await tab.open_card()).get_by_test_id("approve").click()
    await expect(tab.at("progress")).to_contain_text("Running shell")
    async with tab.page.expect_response("**/stop"):
        await tab.at("stop").click()
    await expect(tab.at("progress")).to_contain_text("Stopping…")
    await tab.reply("Stopped here.")
    await expect(tab.at("stop")).to_be_hidden()
    await expect(tab.at("progress")).to_be_hidden()
    await tab.say("are you there?")
    await tab.reply("are you there?")


async def test_a_conversation_shows_its_mode_while_it_is_not_normal(tab: Tab) -> None:
    mode = tab.at("mode")
    await expect(mode).to_be_hidden()
    await tab.say("/mode read-only")
    await expect(mode).to_have_text("Read-only: I can read here, but not change anything.")
    await tab.page.reload()
    await expect(mode).to_be_visible()
    await tab.say("/mode trusted 2h")
    await expect(mode).to_contain_text(re.compile(r"^Trusted until .*: owner's changes don't need approval"))
    await tab.at("new-room").click()
    await expect(mode).to_be_hidden()
    await tab.page.go_back()
    await tab.say("/mode normal")
    await expect(mode).to_be_hidden()


async def test_conversations_stand_side_by_side(tab: Tab) -> None:
    await tab.say("the first topic")
    await tab.reply("the first topic")
    await tab.at("new-room").click()
    await expect(tab.at("message")).to_have_count(0)
    await tab.say("the second topic")
    await tab.reply("the second topic")
    await tab.at("room-item").filter(has_text="the first topic").click()
    await tab.reply("the first topic")
    await expect(tab.at("message")).to_have_count(2)
    await tab.page.go_back()
    await tab.reply("the second topic")


async def test_a_tab_that_slept_over_midnight_connects_again_and_calls_the_day_by_its_name(tab: Tab) -> None:
    await tab.page.clock.install(time=datetime.now(UTC).astimezone().replace(hour=23, minute=58, second=0))
    await tab.page.reload()
    await tab.say("good night")
    await tab.reply("good night")
    day = tab.page.locator(".day")
    await expect(day).to_have_text(["Today"])
    async with tab.page.expect_request("**/events?*"):
        await tab.page.clock.fast_forward("10:00")  # minutes without a tick: the connection may be dead by now
    await expect(day).to_have_text(["Yesterday"])
    await tab.say("good morning")
    await tab.reply("good morning")


async def test_a_file_goes_up_is_read_and_comes_down(tab: Tab, tmp_path: Path) -> None:
    source = tmp_path / "shopping list.txt"
    source.write_text("milk\nbread\n")
    await tab.page.locator("#file-input").set_input_files(source)
    await expect(tab.page.locator("#chips .ready")).to_contain_text("shopping list.txt")
    await tab.say("read uploads/shopping list.txt")
    assert "bread" in await (await tab.reply("Contents of")).inner_text()
    await tab.at("files").click()
    await expect(tab.at("file")).to_have_count(1)
    for link in (tab.at("file").first, tab.said("person").get_by_role("link")):
        async with tab.page.expect_download() as download:
            await link.click()
        assert (await download.value).suggested_filename == "shopping list.txt"
        assert (await (await download.value).path()).read_text() == "milk\nbread\n"


async def test_a_file_that_did_not_arrive_is_still_named_after_a_reload(tab: Tab, tmp_path: Path) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("hello")
    await tab.page.route(
        "**/api/rooms/*/files", lambda route: route.abort() if route.request.method == "POST" else route.continue_()
    )
    await tab.page.locator("#file-input").set_input_files(source)
    await expect(tab.page.locator("#chips .failed")).to_contain_text("notes.txt")
    await tab.page.reload()
    await expect(tab.page.locator("#chips .failed")).to_contain_text("notes.txt")
    await tab.page.unroute_all()
    async with tab.page.expect_file_chooser() as choosing:
        await tab.page.locator("#chips").get_by_role("button", name="Try again").click()
    await (await choosing.value).set_files(source)
    await expect(tab.page.locator("#chips .ready")).to_contain_text("notes.txt")
    tab.complaints.clear()  # of the upload that was cut


async def test_files_without_words_are_answered_sensibly_and_arrows_lead_through_pictures(
    tab: Tab, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    for name in ("red.png", "blue.png"):
        Image.new("RGB", (8, 8), name.removesuffix(".png")).save(tmp_path / name)
    sources = [tmp_path / name for name in ("notes.txt", "red.png", "blue.png")]
    await tab.page.locator("#file-input").set_input_files(sources)
    await expect(tab.page.locator("#chips .ready")).to_have_count(len(sources))
    await tab.at("send").click()
    await expect(await tab.reply("read uploads/notes.txt")).not_to_contain_text("[attached")
    await tab.at("picture").first.click()
    for key, told in (
        ("ArrowRight", "blue.png (2 of 2)"),
        ("ArrowRight", "red.png (1 of 2)"),
        ("ArrowLeft", "blue.png"),
    ):
        await tab.page.keyboard.press(key)
        await expect(tab.at("lightbox")).to_contain_text(told)
    await tab.page.keyboard.press("Escape")
    await expect(tab.at("lightbox")).to_have_count(0)
    await expect(tab.at("picture").last).to_be_focused()


# ------------------------------------------------------------------------------------------------------- the console


async def test_the_owner_finds_and_decides_everything_in_the_console(tab: Tab) -> None:
    await tab.say("write from the console to decided.txt")
    await tab.open_card()
    console = await tab.page.context.new_page()
    watched = Tab(console)
    watched.watch()
    await console.goto(tab.page.url.partition("#")[0])
    await console.get_by_role("link", name="Console", exact=True).click()
    for place in ("Outbox", "Runs", "Approvals"):
        await console.get_by_role("navigation", name="Console").get_by_role("link", name=place).click()
        await expect(console.get_by_role("heading", level=1)).to_have_text(place)
    question = console.locator(".card").filter(has_text="decided.txt")
    await question.get_by_role("button", name="Approve").click()
    await expect(console.locator("#said")).to_contain_text("Done")
    await expect(question).to_have_count(0)
    await tab.reply("Written to decided.txt")  # in the other window, by itself
    await tab.closed_card("Approved by owner")
    await console.get_by_role("link", name="Runs").click()
    await console.locator("tbody tr").filter(has_text="decided.txt").get_by_role("link").click()
    await expect(console.locator(".steps")).to_contain_text("write_file")
    await console.get_by_role("link", name="Outbox").click()
    await console.locator("tbody tr").filter(has_text="Written to").first.get_by_role("link").click()
    await expect(console.get_by_role("heading", level=1)).to_have_text("Delivery")
    assert watched.complaints == []


async def test_the_owner_reads_what_happened_to_a_message(tab: Tab) -> None:
    await tab.say("write traced to traced.txt")
    await (await tab.open_card()).get_by_test_id("approve").click()
    await tab.reply("Written to traced.txt")
    console = await tab.page.context.new_page()
    watched = Tab(console)
    watched.watch()
    await console.goto(f"{tab.page.url.partition('#')[0]}console")
    await console.get_by_role("navigation", name="Console").get_by_role("link", name="Trace").click()
    row = console.locator("tbody tr").filter(has_text="write traced to traced.txt")
    await expect(row).to_contain_text("answered")
    await row.get_by_role("link").click()
    story = console.locator(".story li")
    told = [" ".join(text.split()) for text in await story.all_inner_texts()]
    inside = [told.index(next(line for line in told if words in line)) for words in STORY]
    assert inside == sorted(inside)
    await expect(console.get_by_role("note")).to_contain_text("after it was sent")
    # The field finds the same story by the beginning of its id, and says what may be given when nothing begins so.
    trace = await console.locator("main code").inner_text()
    await console.get_by_role("textbox").fill(trace[:14])
    await console.get_by_role("button", name="Show").click()
    await expect(console.locator("main code")).to_have_text(trace)
    await console.get_by_role("textbox").fill("nothing")
    await console.get_by_role("textbox").press("Enter")
    await expect(console.locator(".nothing")).to_contain_text("the id of a message")
    for place, words in (("approvals", "traced.txt"), ("runs", "write traced"), ("outbox", "Written to traced.txt")):
        await console.goto(f"{tab.page.url.partition('#')[0]}console/{place}")
        await console.locator("tbody tr").filter(has_text=words).first.get_by_role("link").first.click()
        if place != "approvals":
            await console.get_by_role("link", name="View timeline").click()
        await expect(console.locator("main code")).to_have_text(trace)
    assert watched.complaints == []


STORY = (
    "wrote “write traced to traced.txt”",
    "accepted after",
    "picked up",
    "it called write_file",
    "asked whether write_file (write) may run",
    "parked",
    "chose “Approve” for write_file",
    "resumed",
    "write_file started (write)",
    "write_file finished in",
    "it replied",
    "the reply was queued",
    "the reply appeared",
    "answered, ",
)


# ------------------------------------------------------------------------------------ keyboard, narrow, dark, viewers


async def test_the_whole_way_by_keyboard_alone(browser: Browser, house: House) -> None:
    async with in_a_new_room(browser, house) as tab:
        keys = tab.page.keyboard
        await _tab_to(tab, tab.at("new-room"))
        await keys.press("Enter")
        await expect(tab.at("composer")).to_be_focused()
        await keys.type("write by hand to keys.txt")
        await keys.press("Enter")
        card = await tab.open_card()
        await _tab_to(tab, card.get_by_test_id("approve"), back=True)
        await keys.press("Enter")
        await tab.reply("Written to keys.txt")
        await _tab_to(tab, tab.at("composer"))
        await keys.type("write more to keys.txt")
        await keys.press("Enter")
        card = await tab.open_card()
        await _tab_to(tab, card.get_by_test_id("deny-reason"), back=True)
        await keys.press("Enter")
        await expect(card.get_by_test_id("deny-reason-text")).to_be_focused()
        await keys.type("once is enough")
        await keys.press("Enter")
        await expect(await tab.reply("I wasn't allowed to write")).to_contain_text("once is enough")


async def _tab_to(tab: Tab, target: Locator, *, back: bool = False) -> None:
    """Press Tab until the target has the focus, and can be seen to have it."""
    for _ in range(40):
        if await target.evaluate("element => element === document.activeElement"):
            await _be_outlined(target)
            return
        await tab.page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError("the keyboard does not get there")


async def _be_outlined(target: Locator) -> None:
    """The outline may come in over some frames."""
    outline = "element => getComputedStyle(element.closest('.composer-box') ?? element)"
    shown = f"element => (({outline})(element)).outlineStyle + (({outline})(element)).boxShadow"
    for _ in range(400):
        if await target.evaluate(shown) != "nonenone":
            return
        await asyncio.sleep(0.025)
    raise AssertionError("the focus cannot be seen")


@pytest.mark.parametrize("scheme", sample(["light", "dark"], 1))
async def test_at_360_pixels_nothing_goes_sideways(browser: Browser, house: House, scheme: str) -> None:
    narrow = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme, "has_touch": True}
    async with in_a_new_room(browser, house, **narrow) as tab:
        await tab.page.get_by_role("button", name="Show conversations").click()
        await tab.at("new-room").click()
        await tab.say(f"write {'long ' * 30} {'x' * 200} to {'a-long-name-' * 12}.txt")
        card = await tab.open_card()
        for choice in ("approve", "deny", "deny-reason"):
            box = await card.get_by_test_id(choice).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
            assert box["height"] >= 36  # a thumb finds it
        assert await tab.page.evaluate(SIDEWAYS) == 0
        await card.get_by_test_id("approve").click()
        await tab.reply("Written to")
        assert await tab.page.evaluate(SIDEWAYS) == 0
        await tab.at("files").click()
        await expect(tab.at("file")).to_have_count(1)
        assert await tab.page.evaluate(SIDEWAYS) == 0
        for place in ("", "/approvals", "/runs", "/outbox", "/trace"):
            await tab.page.goto(f"{house.url}/console{place}")
            assert await tab.page.evaluate(SIDEWAYS) == 0, place
        await tab.page.locator("tbody").get_by_role("link").first.click()
        await expect(tab.page.locator(".story")).to_be_visible()
        assert await tab.page.evaluate(SIDEWAYS) == 0


FAINT = """() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    const unit = text.startsWith("color(") ? 1 : 255;
    return [r / unit, g / unit, b / unit, a];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const under = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [1, 1, 1, 1];
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.matches(":disabled, .visually-hidden, .visually-hidden *, .skip")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(under(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)} ${element.textContent.trim().slice(0, 30)}`);
  }
  return faint;
}"""


@pytest.mark.parametrize("scheme", sample(["dark", "light"], 1))
async def test_text_stands_out_from_its_ground(browser: Browser, house: House, scheme: str) -> None:
    async with in_a_new_room(browser, house, color_scheme=scheme) as tab:
        await tab.at("new-room").click()
        await tab.say("write a to a.txt")
        await (await tab.open_card()).get_by_test_id("deny").click()
        await tab.closed_card("Denied")
        await tab.say("write b to b.txt\nlist the files")
        await tab.open_card()
        ground = await tab.page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (sum(ground) < 200) is (scheme == "dark")
        assert await tab.page.evaluate(FAINT) == []
        for place in ("", "/approvals", "/runs", "/outbox", "/trace"):
            await tab.page.goto(f"{house.url}/console{place}")
            assert await tab.page.evaluate(FAINT) == [], place
        await tab.page.locator("tbody").get_by_role("link").first.click()
        await expect(tab.page.locator(".story")).to_be_visible()
        assert await tab.page.evaluate(FAINT) == []


async def test_no_page_breaks_a_rule_of_accessibility(tab: Tab, house: House) -> None:
    await tab.say("write a to a.txt")
    await (await tab.open_card()).get_by_test_id("approve").click()
    await tab.reply("Written to a.txt")
    await tab.at("work").first.locator("summary").first.click()
    await tab.at("ran").first.locator("summary").click()
    await expect(tab.at("ran").locator("pre").first).to_be_visible()
    await tab.say("write b to b.txt\nlist the files")
    await tab.open_card()
    broken = await violations(tab.page)
    await tab.page.evaluate("() => { location.hash = '#/approvals'; }")
    await expect(tab.at("inbox-card").first).to_be_visible()
    broken += await violations(tab.page)
    broken += await broken_on_console(tab, house, ("/console", "/console/approvals"))
    await tab.page.goto(f"{house.url}/console/runs")
    await tab.page.locator('tbody a[href^="/console/runs/"]').first.click()
    await tab.page.evaluate(UNFOLD)
    assert broken + await violations(tab.page) == []


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_no_page_of_the_console_breaks_a_rule_of_accessibility_or_stands_out_when_enlarged(
    browser: Browser, tmp_path: Path
) -> None:
    with full_house(tmp_path) as house:
        async with tab_of(browser, house.link) as tab:
            await fill(tab)
            broken: list[str] = []
            for page in (await found(tab, house)).values():
                await tab.page.set_viewport_size({"width": 1280, "height": 900})
                await tab.page.goto(f"{house.url}{page}")
                await tab.page.evaluate(UNFOLD)
                broken += await violations(tab.page)
                for width in ENLARGED:
                    await tab.page.set_viewport_size({"width": width, "height": 512})
                    await tab.page.evaluate(SETTLED)
                    if wide := await tab.page.evaluate(SIDEWAYS):
                        broken.append(f"{page}: {wide} pixels stand out at {width}")
            assert broken == []


async def broken_on_console(tab: Tab, house: House, places: Sequence[str]) -> list[str]:
    """Rules that these pages break, and the first page that each of them leads to."""
    broken = []
    for place in places:
        await tab.page.goto(f"{house.url}{place}")
        broken += await violations(tab.page)
        link = tab.page.locator(f'tbody a[href^="{place}/"]').first
        if await link.count():
            await link.click()
            await tab.page.evaluate(UNFOLD)
            broken += await violations(tab.page)
    return broken


ENLARGED = (640, 320)
"""CSS pixels that are left of 1,280 at 200 and at 400 percent."""
UNFOLD = "() => document.querySelectorAll('main details').forEach((one) => { one.open = true; })"


async def test_a_viewer_sees_that_they_only_read(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        assert house.command("people", "add", "vic", "--role", "viewer").returncode == 0
        link = house.command("people", "link", "vic").stdout.strip()
        async with tab_of(browser, link) as tab:
            await expect(tab.page.locator("#read-only")).to_be_visible()
            await expect(tab.at("composer")).to_be_hidden()
            await expect(tab.page.get_by_role("link", name="Console")).to_have_count(0)


async def test_a_wrong_link_says_how_to_get_a_right_one(browser: Browser, house: House) -> None:
    window = await browser.new_context()
    try:
        page = await window.new_page()
        answer = await page.goto(f"{house.url}/link/wrong")
        assert answer is not None
        assert answer.status == 401
        await expect(page.get_by_role("main")).to_contain_text("signalbox people link")
    finally:
        await window.close()
