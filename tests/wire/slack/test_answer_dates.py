"""The time that Slack's answers tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
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


@pytest.mark.parametrize("off", [timedelta(days=-400), timedelta(hours=1), timedelta(days=400)])
async def test_what_is_read_back_begins_at_the_earlier_of_the_two_clocks(off: timedelta) -> None:
    """A date of a proxy that is ahead must not hide what we sent: it would be sent once more."""
    ours = Clock()

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"ok": True}, headers={"Date": format_datetime(ours() + off, usegmt=True)})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with serving(app) as url:
        slack = Web(SlackSettings("work", "xoxb-1", api_base_url=f"{url}/api/"), ours)
        await slack.call("auth.test")
        at = ours()
        since = datetime.fromtimestamp(float(slack.slack_since(at)), UTC)
    assert abs(since - min(at, at + off)) < timedelta(seconds=2)
