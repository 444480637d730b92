"""What people do with messages in a real browser: read them as they are written, copy, quote and link them, go places."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from tests.e2e.browser import Tab, tab_of
from tests.e2e.house import House, open_house

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("e2e-browser"),
    pytest.mark.timeout(180),
]

ANSWER: Final = """### Three *kinds*

1. one
2. **two**, `three`

| name | count |
| :--- | ---: |
| cog | 3 |

```python
def half(number: int) -> float:
    return number / 2  # of it
```

See [the list](https://example.org/list), and <b onclick="alert(1)">this</b> ![x](https://example.org/x.png)."""
SHAPE: Final = """(element) => [...element.querySelectorAll("h3, ol > li, td, th, pre, strong, em, code, p")].map(
    (one) => [one.tagName, one.textContent.trim().replace(/\\s+/g, " "), one.className.replace(/hljs.*/, "")])"""
COPIED: Final = "window.copied"
LISTEN: Final = "navigator.clipboard.writeText = async (text) => { window.copied = text; };"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def model() -> AsyncIterator[OpenAI]:
    yield OpenAI(lambda _: Reply(ANSWER))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(model: OpenAI, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with serving(model.app()) as url:
        settings = f'[model]\nname = "openai/mock"\napi_base = "{url}/v1"\napi_key = "none"\n'
        with open_house(tmp_path_factory.mktemp("house"), settings) as house:
            yield house


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tab(browser: Browser, house: House) -> AsyncIterator[Tab]:
    async with tab_of(browser, house.link) as tab:
        await tab.page.evaluate(LISTEN)
        yield tab


async def test_an_answer_looks_the_same_while_it_is_written_and_after(tab: Tab) -> None:
    await tab.page.evaluate(
        "import('/static/preview.js').then((one) => one.formatted('x'))"
    )  # else its library comes first
    await tab.say("which kinds are there?")
    lasting = (await tab.reply("Three kinds")).locator(".prose")
    await expect(lasting.locator(".hljs-keyword").first).to_have_text("def")
    assert "alert(1)" in await lasting.inner_text(), "a tag was not shown as the text that it is"
    made = f"""async () => {{
        const {{ formatted }} = await import("/static/preview.js");
        const {{ prose }} = await import("/static/log.js");
        return ({SHAPE})(prose({{ html: formatted({json.dumps(ANSWER)}) }}));
    }}"""
    assert await tab.page.evaluate(made) == await lasting.evaluate(SHAPE)


async def test_a_message_is_copied_quoted_and_found_by_its_link(tab: Tab, browser: Browser, house: House) -> None:
    await tab.say("once more?")
    answer = await tab.reply("Three kinds")
    await answer.hover()
    await answer.get_by_test_id("message-copy").click()
    assert await tab.page.evaluate(COPIED) == ANSWER
    mine = tab.said("person").last
    await mine.hover()
    await mine.get_by_test_id("message-quote").click()
    await expect(tab.at("composer")).to_have_value("> once more?\n\n")
    await tab.at("composer").fill("")
    await answer.get_by_test_id("message-link").click()
    link = await tab.page.evaluate(COPIED)
    await tab.page.goto(f"{link}-of-nobody")
    await tab.page.reload()
    await expect(tab.page.locator("#notice")).to_contain_text("That message can't be shown")
    tab.complaints.clear()  # the browser tells of an answer that was a refusal
    await tab.page.goto(link)
    await expect(tab.page.locator(".pointed")).to_contain_text("Three kinds")


async def test_one_goes_anywhere_by_the_keyboard(tab: Tab) -> None:
    thumb = tab.at("rate-down").last
    await thumb.press("Enter")
    await expect(tab.page.locator(".rating-words input")).to_be_focused()
    await tab.page.keyboard.type("not in my words")  # with an n, which begins a conversation elsewhere
    await tab.page.keyboard.press("Enter")
    await expect(thumb).to_be_focused()
    await tab.page.keyboard.press("n")
    await expect(thumb).to_be_visible()
    await tab.page.locator("#scroll").focus()
    await tab.page.keyboard.press("?")
    await expect(tab.at("keys")).to_contain_text("New conversation")
    await tab.page.keyboard.press("Escape")
    await expect(tab.at("keys")).to_have_count(0)
    await tab.page.keyboard.press("n")
    await expect(tab.page.locator("#welcome")).to_be_visible()
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("WHICH kinds")
    await expect(tab.at("place")).to_have_count(1)
    await tab.page.keyboard.press("Enter")
    await expect(tab.said("person").first).to_contain_text("which kinds are there?")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("nothing is called so")
    await expect(tab.page.locator("#palette-empty")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(tab.at("palette")).to_be_hidden()


async def test_conversations_are_named_put_away_and_searched(tab: Tab) -> None:
    await tab.at("new-room").click()
    await tab.say("where do lighthouses stand?")
    await tab.reply("Three kinds")
    await tab.at("new-room").click()
    await tab.say("a second matter")
    await tab.reply("Three kinds")
    first = tab.at("room-item").filter(has_text="lighthouses")
    row = tab.page.locator(".room-row", has=first)
    await row.hover()
    await row.get_by_test_id("room-more").click()
    await tab.at("menu").get_by_text("Rename").click()
    await tab.at("asked").fill("Towers by the sea")
    await tab.page.keyboard.press("Enter")
    await expect(tab.at("room-item").filter(has_text="Towers by the sea")).to_be_visible()
    row = tab.page.locator(".room-row", has_text="Towers by the sea")
    await row.hover()
    await row.get_by_test_id("room-more").click()
    await tab.at("menu").get_by_text("Archive").click()
    await expect(tab.at("archived")).to_contain_text("Archived (1)")
    await tab.page.reload()
    await expect(tab.at("archived")).to_contain_text("Archived (1)")
    await tab.at("to-search").click()
    await tab.page.keyboard.type("lighthouses stand")
    await expect(tab.at("place")).to_contain_text(["in Towers by the sea"])
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator(".pointed")).to_contain_text("where do lighthouses stand?")


async def test_the_last_message_is_answered_anew_and_edited_and_what_was_before_stays(tab: Tab) -> None:
    await tab.at("new-room").click()
    await tab.say("tell me of lamps")
    await tab.reply("Three kinds")
    await tab.at("retry").click()
    folded = tab.at("branch")
    await expect(folded).to_have_text(["Earlier answer (1 of 2)"], use_inner_text=True)
    await expect(tab.at("said-again")).to_have_text("asked again")
    await tab.reply("Three kinds")
    mine = tab.said("person").last
    await mine.hover()
    await mine.get_by_test_id("message-edit").click()
    await expect(tab.at("composer")).to_have_value("tell me of lamps")
    await tab.page.keyboard.press("Escape")
    await expect(tab.at("composer")).to_have_value("")
    await mine.hover()
    await mine.get_by_test_id("message-edit").click()
    await tab.say("tell me of towers")
    titles = ["Earlier answer (1 of 3)", "Before you edited it (2 of 3)"]
    await expect(folded).to_have_text(titles, use_inner_text=True)
    await expect(tab.at("said-again").locator("visible=true")).to_have_text("edited")
    await folded.last.locator("summary").click()
    await expect(folded.last.locator(".bubble")).to_have_text("tell me of lamps")
    await expect(folded.last.locator(".prose").first).to_be_visible()


async def test_a_deleted_conversation_is_taken_back(tab: Tab) -> None:
    row = tab.page.locator(".room-row", has_text="tell me of towers")  # by its newest words
    for taken_back in (True, False):
        await row.hover()
        await row.get_by_test_id("room-more").click()
        await tab.at("menu").get_by_text("Delete").click()
        await expect(tab.at("undo-line")).to_contain_text('Deleted "')
        await expect(row).to_have_count(0)
        if taken_back:
            await tab.at("undo").click()
            await expect(row).to_be_visible()
            await expect(tab.said("person").last).to_contain_text("tell me of towers")
