"""Cards, stopping and the console's lists in a real browser: what people see of a decision, and of what others wrote."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from tests.e2e.browser import Tab, tab_in, tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

TURNED = "\u202e"
LONG_NAME = "Maximilian Featherstonehaugh-Cholmondeley"
LONG_IDENTITIES = ("slack:T0123456789/U0123456789ABCDEF", "discord:123456789012345678901234567890")
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
BROKEN = """cells => cells.filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1;
}).length"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        identities = [word for one in LONG_IDENTITIES for word in ("--identity", one)]
        house.command("people", "add", LONG_NAME, "--role", "operator", *identities)
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def tab(window: BrowserContext, house: House) -> AsyncIterator[Tab]:
    """The owner's page, in a conversation of its own."""
    async with tab_in(window, house.url) as tab:
        await tab.at("new-room").click()
        yield tab


async def typed(card: Locator, reason: str) -> None:
    await card.get_by_test_id("deny-reason").click()
    await card.get_by_test_id("deny-reason-text").fill(reason)


def decided_card(tab: Tab) -> Locator:
    """The newest card that was approved; it may offer to undo."""
    return tab.page.locator('[data-testid="card"][data-state="closed"]').filter(has_text="Approved by").last


async def test_a_typed_reason_goes_along_with_whichever_button_denies(tab: Tab) -> None:
    await tab.say("write hello to denied.txt")
    card = await tab.open_card()
    await typed(card, "not on a Friday")
    await card.get_by_test_id("deny").click()
    await expect(await tab.reply("I wasn't allowed to write")).to_contain_text("not on a Friday")
    await expect(await tab.closed_card("Denied by owner")).to_contain_text("not on a Friday")


async def test_a_question_of_the_agents_is_answered_by_its_buttons(tab: Tab) -> None:
    await tab.say("ask me which colour? red or green")
    card = await tab.open_card()
    await expect(card).to_contain_text("which colour?")
    await card.get_by_test_id("second").click()
    await expect(await tab.closed_card("Answered by owner")).to_contain_text("“green”")
    await tab.reply('owner answered: "green"')


async def test_a_yes_for_the_conversation_lets_the_same_call_run_again(tab: Tab) -> None:
    await tab.say("write hello to again.txt")
    await (await tab.open_card()).get_by_test_id("conversation").click()
    await expect(tab.at("card").filter(has_text="Approved for this conversation by owner")).to_have_count(1)
    await tab.reply("Written to again.txt")
    await tab.say("write hello to again.txt")
    await expect(tab.said("agent").filter(has_text="Written to again.txt")).to_have_count(2)
    await tab.say("write hello to other.txt")
    await (await tab.open_card()).get_by_test_id("deny").click()


async def test_always_opens_a_form_that_says_what_is_wrong_and_then_holds(tab: Tab, house: House) -> None:
    await tab.say("write hello to always.txt")
    card = await tab.open_card()
    await card.get_by_test_id("always").click()
    pattern = card.get_by_test_id("always-pattern-text")
    await expect(pattern).to_have_value("content = hello\npath = always.txt")
    await pattern.fill("content = *\npath = always*")
    await card.get_by_test_id("always-uses-text").fill("none")
    await card.get_by_role("button", name="Allow").click()
    await expect(card.get_by_role("status")).to_contain_text("give a whole number from 1")
    await card.get_by_test_id("always-uses-text").fill("1")
    await card.get_by_role("button", name="Allow").click()
    settled = tab.at("card").filter(has_text="Approved from now on by owner")
    await expect(settled).to_contain_text("content = *; path = always*")
    await expect(settled).not_to_contain_text("give a whole number")
    await tab.reply("Written to always.txt")
    await tab.say("write bye to always-2.txt")
    await tab.reply("Written to always-2.txt")
    told = house.command("grants", "list", "--all").stdout
    assert "used up" in told
    await tab.say("write bye to always-3.txt")
    await (await tab.open_card()).get_by_test_id("deny").click()


async def test_a_question_of_the_agents_is_answered_in_words(tab: Tab) -> None:
    await tab.say("ask me what shall it be called?")
    card = await tab.open_card()
    await card.get_by_test_id("text").click()
    await card.get_by_role("textbox").fill("The Rose")
    await card.get_by_role("button", name="Send").click()
    await expect(await tab.closed_card("Answered by owner")).to_contain_text("“The Rose”")
    await tab.reply('owner answered: "The Rose"')


async def test_a_call_is_changed_in_a_form_on_its_card(tab: Tab) -> None:
    await tab.say("write hello to changed.txt")
    card = await tab.open_card()
    await card.get_by_test_id("edit").click()
    text = card.get_by_test_id("edit-arguments-text")
    await expect(text).to_have_value('{\n  "content": "hello",\n  "path": "changed.txt"\n}')
    await text.fill('{"content": "goodbye"')
    await card.get_by_test_id("edit-arguments-send").click()
    await expect(card.get_by_role("status")).to_contain_text("This isn't valid JSON")
    await text.fill('{"content": "goodbye", "path": "changed.txt"}')
    await card.get_by_test_id("edit-arguments-send").click()
    closed = decided_card(tab)
    await expect(closed).to_contain_text("Asked:")
    await expect(closed).to_contain_text("goodbye")
    await tab.reply("The call was changed: owner had it run with")
    await tab.say("read changed.txt")
    await tab.reply("goodbye")


async def test_the_agent_is_asked_back_in_the_card_and_answers_beneath_it(tab: Tab, house: House) -> None:
    await tab.say("write hello to asked.txt")
    card = await tab.open_card()
    await card.get_by_test_id("why").click()
    await expect(card).to_contain_text("The agent answers beneath the card, and the call waits.")
    await card.get_by_test_id("why-question-send").click()  # empty: the plain question
    await expect(card).to_contain_text("owner asked: “Why do you want to do this?” The agent answered:")
    await expect(card.locator("blockquote")).to_contain_text("You asked me “write hello to asked.txt”.")
    await card.get_by_test_id("why").click()
    await card.get_by_test_id("why-question-text").fill("Is it <b>new</b>?")
    await card.get_by_test_id("why-question-send").click()
    await expect(card).to_contain_text("“Is it <b>new</b>?” The agent answered:")
    await expect(card.locator("blockquote")).to_have_count(2)
    asked = house.command("approvals", "ask", await newest(house), "Is it big?")
    assert asked.returncode == 0, asked.stderr
    await expect(card).to_contain_text("1 earlier answer is in a message of its own.")
    await expect(card).to_contain_text("“Is it big?” The agent answered:")
    shown = house.command("approvals", "show", "--last").stdout
    assert shown.count("You asked me “write hello to asked.txt”.") == 3
    assert "asked: Is it big?" in shown
    await card.get_by_test_id("deny").click()
    await expect(await tab.closed_card("Denied by owner")).to_contain_text("“Is it big?” The agent answered:")


async def newest(house: House) -> str:
    return str(json.loads(house.command("approvals", "list", "--json").stdout)[-1]["id"])


async def test_a_command_line_changes_a_call_too(tab: Tab, house: House) -> None:
    await tab.say("write hello to by-command.txt")
    await tab.open_card()
    wrong = house.command("approvals", "edit", "--last", "--arguments", "[]")
    assert (wrong.returncode, "must be a JSON object" in wrong.stderr) == (1, True)
    arguments = '{"content": "from afar", "path": "by-command.txt"}'
    assert house.command("approvals", "edit", "--last", "--arguments", arguments).stdout == "write_file: approved.\n"
    await expect(decided_card(tab)).to_contain_text("from afar")


async def test_calls_of_a_list_are_changed_on_the_page_on_the_console_and_by_a_command(tab: Tab, house: House) -> None:
    await tab.say("\n".join(f"write hello to listed-{number}.txt" for number in range(9)))
    card = tab.at("card").filter(has_text="May I run these 5 calls?")
    await card.get_by_test_id("edit").click()
    await card.get_by_test_id("edit-call-text").select_option("2. write_file")
    await card.get_by_test_id("edit-call-send").click()
    await expect(tab.at("card").filter(has_text="May I run these 4 calls?")).to_have_count(1)
    rows = json.loads(house.command("approvals", "list", "--json").stdout)
    listed = {json.loads(row["arguments"]).get("path"): row["id"] for row in rows}
    changed = ("approvals", "edit", listed["listed-6.txt"], "--arguments")
    assert house.command(*changed, '{"content": "by command", "path": "listed-6.txt"}').returncode == 0
    await expect(tab.at("card").filter(has_text="May I run these 3 calls?")).to_have_count(1)
    room = tab.page.url
    page = await console(tab, "/approvals")
    form = page.locator(f"#edit-of-{listed['listed-7.txt']}")
    await form.locator("summary").click()
    await form.locator("textarea").fill('{"content": "by console", "path": "listed-7.txt"}')
    await form.get_by_role("button", name="Approve this").click()
    await tab.page.goto(room)
    await expect(tab.at("card").filter(has_text="May I run these 2 calls?")).to_have_count(1)
    for words in ("by command", "by console"):
        await expect(decided_card(tab).or_(tab.at("card")).filter(has_text=words).first).to_contain_text("Approved by")
    for one in json.loads(house.command("approvals", "list", "--json").stdout):
        house.command("approvals", "deny", one["id"])
    await tab.reply("Written to listed-7.txt")


async def test_an_approved_write_is_undone_on_its_card(tab: Tab) -> None:
    await tab.say("write hello to undone.txt")
    await (await tab.open_card()).get_by_test_id("approve").click()
    card = await tab.closed_card("Approved by owner")
    await card.get_by_test_id("undo").click()
    await expect((await tab.closed_card("Undone by owner")).get_by_test_id("undo")).to_have_count(0)
    await tab.say("read undone.txt")
    await tab.reply("There is no 'undone.txt' in the workspace.")


DEAF = """() => {
  const Real = EventSource;
  window.streams = [];
  window.EventSource = class extends Real { constructor(url) { super(url); window.streams.push(this); } };
}"""


async def test_an_answer_that_came_too_late_is_told_on_the_settled_card(tab: Tab, house: House) -> None:
    await tab.page.add_init_script(f"({DEAF})()")
    await tab.page.reload()
    await tab.say("write hello to late.txt")
    card = await tab.open_card()
    await tab.page.evaluate("() => window.streams.forEach((one) => one.close())")  # this window falls behind
    assert house.command("approvals", "deny", "--last", "--reason", "no time").returncode == 0
    await card.get_by_test_id("approve").click()
    settled = await tab.closed_card("Denied by owner")
    await expect(settled).to_contain_text("no time")
    await expect(settled.get_by_role("status")).to_contain_text("already settled: denied by owner (no time), just now")


@pytest.mark.usefixtures("sandbox")
async def test_another_window_sees_it_stop_too(tab: Tab, browser: Browser, house: House) -> None:
    await tab.say("run: sleep 3; echo slept well")
    await (await tab.open_card()).get_by_test_id("approve").click()
    async with tab_of(browser, house.link) as other:
        await other.page.goto(tab.page.url)
        await expect(other.at("progress")).to_contain_text("Running shell")
        await other.say("stop")
        await expect(tab.at("progress")).to_contain_text("Stopping…")
        await expect(tab.page.locator("#live-status")).to_have_text("Stopping")
        await expect(tab.at("stop")).to_be_disabled()
        await tab.reply("Stopped here.")


async def test_what_turns_text_round_is_seen_in_the_agents_sentences(tab: Tab) -> None:
    await tab.say(f"say saved as {TURNED}fdp.exe and more")
    await expect(tab.said("agent").last).to_contain_text("⟨U+202E⟩fdp.exe")
    assert TURNED not in await tab.said("agent").last.inner_text()


async def console(tab: Tab, place: str) -> Page:
    await tab.page.goto(f"{tab.page.url.partition('#')[0].rstrip('/').partition('/console')[0]}/console{place}")
    return tab.page


async def test_lists_name_conversations_hide_nothing_and_break_no_name(tab: Tab) -> None:
    await tab.say(f"write {TURNED}hello to listed.txt")
    await (await tab.open_card()).get_by_test_id("approve").click()
    await tab.reply("Written to listed.txt")
    await tab.page.set_viewport_size({"width": 1280, "height": 900})
    for place in ("/runs", "/outbox", "/trace"):
        page = await console(tab, place)
        row = page.locator("tbody tr").filter(has_text="listed.txt").first
        await expect(row.locator('[data-head="Room"]')).to_have_text("write ⟨U+202E⟩hello to listed.txt (page)")
        assert TURNED not in await page.locator("main").inner_text()
        assert await page.locator('[data-head="Who"]').evaluate_all(BROKEN) == 0


async def test_people_fit_a_phone(browser: Browser, house: House) -> None:
    async with tab_of(browser, house.link, viewport={"width": 390, "height": 800}) as tab:
        page = await console(tab, "/people")
        for change in await page.locator("main details").all():
            await change.locator("summary").click()
        assert await page.evaluate(SIDEWAYS) == 0


async def test_a_name_that_is_none_is_refused_in_words(tab: Tab) -> None:
    page = await console(tab, "/people")
    await page.get_by_role("link", name=LONG_NAME).click()
    for name, words in (
        ("  ", "Write a name."),
        (f"Eve{TURNED}", '"Eve⟨U+202E⟩": it must not contain invisible characters'),
    ):
        field = page.get_by_label("New name").first
        await field.fill(name)
        await field.press("Enter")
        await expect(page.locator("#said")).to_contain_text(words)
    tab.complaints.clear()  # a browser complains of each refusal


async def test_who_waits_with_a_pairing_code_is_told_on_the_overview(tab: Tab, house: House) -> None:
    now = int(time.time() * 1e6)
    with sqlite3.connect(house.data / "signalbox.db") as database:
        row = ("telegram:1001", f"Sam{TURNED}", "telegram:77/1001", "x", now, now + 3_600_000_000)
        database.execute("INSERT INTO pairings VALUES (?, ?, ?, ?, ?, ?)", row)
    page = await console(tab, "")
    waiting = page.locator(".card").filter(has_text="Sam⟨U+202E⟩ would like to be let in")
    await expect(waiting).to_contain_text("telegram:1001")
    await expect(page.get_by_text("Nothing is waiting for you.")).to_have_count(0)
    await waiting.get_by_role("link", name="People").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("People")
