"""The time that Slack's answers tell."""

from __future__ import annotations

from datetime import timedelta

from aiohttp import web

from adapters.slack.settings import SlackSettings
from adapters.slack.web import Web
from bot.testing.clocks import Clock
from bot.testing.serve import serving


async def test_an_answer_whose_date_is_none_is_an_answer() -> None:
    """What was posted is shown, whatever a proxy on the way made of the header."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"ok": True}, headers={"Date": "soon"})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with serving(app) as url:
        slack = Web(SlackSettings("work", "xoxb-1", api_base_url=f"{url}/api/"), Clock())
        assert (await slack.call("chat.postMessage", channel="C1", text="hello"))["ok"]
    assert slack.clock.lead == timedelta()
