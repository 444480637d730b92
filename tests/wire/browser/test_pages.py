"""Pages that are opened, read and used, and what the model is told where something stands in the way."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from bot.testing.serve import serving
from runtime.contract import Caller, CardContext, CardNote, CardText, CardValue, FileRef, SessionKey
from runtime.egress import Refused
from runtime.errors import ToolFailed, ToolRetry
from tests.wire.browser.house import NEEDS_CHROMIUM, ROOM, browsers, context, open_to, posting
from tools.browser.browsers import GONE, NOTHING_OPEN
from tools.browser.terms import BrowserTerms
from tools.browser.tools import browser_tools

pytestmark = NEEDS_CHROMIUM

FORM = """<title>Sign up</title><h1>Sign up</h1><p>For <b>everybody</b>.</p>
<p style="display:none">Hidden words</p><a href="/next">What next?</a>
<form method="post" action="/sent"><label>Name <input name="who"></label>
<label>Colour <select name="colour"><option>red<option>blue</select></label>
<input type="password" name="p" aria-label="Password"><button>Send it</button></form>"""
NOISY = """<h1>Noisy</h1><script>
alert('Hello'); window.open('/next'); navigator.geolocation.getCurrentPosition(() => {}, () => document.title = 'denied');
const a = document.createElement('a'); a.href = '/file'; a.download = 'f.bin'; document.body.append(a); a.click();
</script>"""


def site() -> web.Application:
    async def page(request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/sent":
                fields = await request.post()
                text = f"<h1>Thank you, {fields['who']!s} ({fields['colour']!s})</h1>"
            case "/never":
                await asyncio.sleep(60)
                text = ""
            case "/half":
                answer = web.StreamResponse(headers={"Content-Type": "text/html"})
                await answer.prepare(request)
                await answer.write(b"<h1>The first half</h1><script src='/never'></script><h1>The second</h1>")
                await asyncio.sleep(60)
                return answer
            case "/file":
                return web.Response(body=b"x", headers={"Content-Disposition": "attachment; filename=f.bin"})
            case path:
                text = {"/": FORM, "/noisy": NOISY}.get(path, f"<h1>Page {path}</h1>")
        return web.Response(text=text, content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", page)
    return app


async def test_a_form_is_read_filled_in_and_sent_and_cards_show_what_is_used(tmp_path: Path) -> None:
    async with serving(site()) as url, browsers(open_to(url, posting(url))) as made:
        tools = {tool.spec.name: tool for tool in browser_tools(made)}
        here, attached = context(tmp_path), list[FileRef]()

        async def say(tool: str, **arguments: str) -> str:
            return await tools[tool].call(arguments, here)

        read = await say("browser_open", url=f"{url}/")
        assert "# Sign up" in read
        assert "Hidden words" not in read
        name, colour, password, send = (
            re.findall(rf"\[(\w+-\d+)\] {what}", read)[0]
            for what in ("textbox Name", "combobox", "textbox P", "button")
        )
        assert "Name = Ada" in await say("browser_fill", target=name, text="Ada")
        await say("browser_fill", target=colour, text="blue")
        with pytest.raises(ToolFailed, match="people do that themselves"):
            await say("browser_fill", target=password, text="x")

        card = tools["browser_fill"].spec.card
        assert card is not None
        assert card({"target": name, "text": "Ada"}, CardContext(tmp_path)) == [
            CardValue("target", also="textbox “Name”"),
            CardText("text"),
            CardNote(f"on {url}/"),
        ]
        await tools["browser_screenshot"].call(
            {"path": "screenshots/form.png", "full": True}, context(tmp_path, attached=attached)
        )
        assert (tmp_path / attached[0].path).read_bytes()[:4] == b"\x89PNG"
        with pytest.raises(ToolRetry, match="Give a path"):
            await say("browser_screenshot", path="notes.png")
        refusal = tools["browser_click"].spec.refusal
        assert refusal is not None
        asked_in = {place: Caller("main", None, session=SessionKey(place)) for place in (ROOM, "another room")}
        told = {place: await refusal({"target": send}, caller) for place, caller in asked_in.items()}
        assert told[ROOM] == ""
        assert "of another conversation's browser" in told["another room"]
        with pytest.raises(ToolFailed, match="another conversation"):
            await tools["browser_click"].call({"target": send}, context(tmp_path, "another room"))
        with pytest.raises(ToolFailed, match="No page is open"):
            await tools["browser_read"].call({}, context(tmp_path, "another room"))
        assert "# Thank you, Ada (blue)" in await say("browser_click", target=send)
        with pytest.raises(ToolRetry, match="has changed since it was read"):
            await say("browser_click", target=send)
        await say("browser_close")
        with pytest.raises(ToolFailed, match=f"it was closed. {NOTHING_OPEN}"):
            await say("browser_read")


async def test_whatever_a_page_does_beside_is_stopped_and_told(tmp_path: Path) -> None:
    async with serving(site()) as url, browsers(open_to(url), BrowserTerms(load=timedelta(seconds=2))) as made:
        session = await made.opened("room")
        told = await session.open(f"{url}/noisy")
        told += await session.read(1)
        assert "a dialog (alert), which was dismissed: Hello" in told
        assert "A pop-up was closed." in told
        assert "offered a file, which was refused" in told
        assert "denied" in told
        with pytest.raises(ToolFailed, match="did not answer within 2 s"):
            await session.open(f"{url}/never")
        half = await session.open(f"{url}/half")
        assert "It was not done after 2 s" in half
        assert "# The first half" in half
        for refused in ("file:///etc/passwd", "chrome://version", "view-source:http://example.org", "data:text/html,x"):
            with pytest.raises(Refused):
                await session.open(refused)


async def test_a_target_of_an_ended_node_is_told_as_such_before_anybody_is_asked(tmp_path: Path) -> None:
    async with serving(site()) as url, browsers(open_to(url)) as made:
        tools = {tool.spec.name: tool for tool in browser_tools(made)}
        refusal = tools["browser_click"].spec.refusal
        assert refusal is not None
        assert await refusal({"target": "zzzz1-3"}, Caller("main", None)) == GONE
        with pytest.raises(ToolFailed, match=GONE):
            await tools["browser_click"].call({"target": "zzzz1-3"}, context(tmp_path))
