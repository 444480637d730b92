"""A conversation that uses a page: what is read comes from outside, a click waits for a person, and a new node says what ended."""

from __future__ import annotations

import json
import re
from typing import Any

from aiohttp import web

from bot.testing.scripted import USAGE, Scripted
from bot.testing.serve import serving
from runtime.contract import Call, ModelReply, ModelRequest, ToolTurn
from runtime.policy.rules import SHIPPED
from runtime.text.outside import sources_in
from tests.contract.runtime.stage import Stage
from tests.wire.browser.house import NEEDS_CHROMIUM, browsers, open_to, posting
from tools.browser.browsers import GONE, Browsers
from tools.browser.tools import browser_tools

pytestmark = NEEDS_CHROMIUM


async def page(request: web.Request) -> web.Response:
    words = "<h1>Booked</h1>" if request.method == "POST" else "<form method=post><button>Book it</button></form>"
    return web.Response(text=words, content_type="text/html")


def site() -> web.Application:
    app = web.Application()
    app.router.add_route("*", "/", page)
    return app


def click(request: ModelRequest) -> ModelReply:
    """Click the button that was read last."""
    read = next(turn.text for turn in reversed(request.turns) if isinstance(turn, ToolTurn))
    [target] = re.findall(r"\[([a-z0-9]+-\d+)\] button", read)
    return ModelReply("", (Call("c2", "browser_click", json.dumps({"target": target})),), USAGE)


def tools_of(made: Browsers) -> list[Any]:
    return list(browser_tools(made))


async def test_a_click_is_asked_about_with_its_page_and_done_once_somebody_says_yes(stage: Stage) -> None:
    async with serving(site()) as url, browsers(open_to(url, posting(url))) as made:
        model = Scripted([Call("c1", "browser_open", json.dumps({"url": url})), click, "told"])
        process = await stage.process(model, tools_of(made), rules=SHIPPED)
        await process.say(f"book at {url}")
        await process.answer_all()
        [question] = await stage.pending()
        card = "\n".join(await stage.screen())
        assert "button “Book it”" in card
        assert f"on {url}/" in card
        await process.click(question.id)
        await process.answer_all()
        opened, clicked = [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
        assert sources_in(opened.text) == ("127.0.0.1",)
        assert "# Booked" in clicked.text


async def test_a_click_in_a_browser_of_an_ended_node_asks_nobody_and_says_what_ended(stage: Stage) -> None:
    async with serving(site()) as url, browsers(open_to(url)) as made:
        gone = Call("c1", "browser_click", json.dumps({"target": "zzzz1-4"}))
        process = await stage.process(model := Scripted([gone, "told"]), tools_of(made), rules=SHIPPED)
        await process.say("click it again")
        await process.answer_all()
        assert await stage.pending() == []
        assert any(GONE in turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn))
