"""A whole process in a workspace: work that is handed on is a plan, `!children` shows it, and agents speak by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bot.operator.client import Client, connected
from bot.server.process import serving as served
from bot.testing.serve import serving
from tests.contract.adapters.stage import until
from tests.fakes.slack import Slack
from tests.fakes.slack_driver import Driver, Told, text_of
from tests.unit.bot.settings.test_settings import read

THREAD: Final = "1700000000.000001"
SETTINGS: Final = """
[web]
port = 0
[access]
owners = ["slack:T1/U1"]
[[accounts]]
name = "work"
channel = "slack"
bot_token = "xoxb-T1-token"
app_token = "xapp-T1-token"
api_base_url = "{url}/api/"
[[agents]]
name = "main"
delegates_to = ["research"]
[[agents]]
name = "research"
prompt = "You look things up."
effects = "danger"
mentions = ["research"]
"""


class Room:
    """A thread of the workspace, and the operators' way to the process."""

    def __init__(self, driver: Driver, api: Client) -> None:
        self.driver = driver
        self.api = api

    async def say(self, text: str) -> None:
        await self.driver.say(text, channel="C1", thread_ts=THREAD)

    async def privately(self, command: str) -> str:
        """What the one who gives a command reads of its answer."""
        await self.say(command)

        async def looks() -> bool:
            return bool((await self.driver.screen()).notices)

        await until(looks, "a private answer")
        return text_of((await self.driver.screen()).notices[0])

    async def message(self, holds: Callable[[Told], bool], what: str) -> Told:
        """The first message of ours there of which that is true, once there is one."""
        found: list[Told] = []

        async def looks() -> bool:
            found[:] = [one for one in (await self.driver.screen()).ours("C1") if holds(one)]
            return bool(found)

        await until(looks, what)
        return found[0]


@asynccontextmanager
async def room(folder: Path) -> AsyncIterator[Room]:
    async with serving(Slack().app()) as url:
        settings = read(folder, SETTINGS.format(url=url))
        async with served(settings, with_link=False) as ready, connected(ready.control) as api:
            yield Room(Driver(url), api)


def plan(message: Told) -> dict[str, Any]:
    return next((dict(block) for block in message["blocks"] if block["type"] == "plan"), {})


async def test_work_that_is_handed_on_is_a_plan_until_it_is_over(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.say("<@U0BOT> delegate to research: run: uname -a")
        asks = await here.message(lambda one: "waits for approval of shell" in str(plan(one)), "a card that waits")
        assert [task["status"] for task in plan(asks)["tasks"]] == ["pending"]
        told = await here.privately("!children")
        assert "“delegate to research: run: uname -a”: **main** waits for research." in told
        assert "- ✋ **research**: run: uname -a (waits for approval of `shell`" in told
        [piece] = await here.api.handed_on(room="slack:work/C1")
        await here.api.stop_child(piece["id"])
        over = await here.message(lambda one: "1 of 1 over" in plan(one).get("title", ""), "a plan that is over")
        assert (over["ts"], plan(over)["tasks"][0]["status"]) == (asks["ts"], "error")


async def test_another_agent_answers_by_its_name(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.say("<@U0BOT> research: help")
        named = await here.message(lambda one: one["username"] == "research", "an answer by its name")
        assert named["thread_ts"] == THREAD
        assert not text_of(named).startswith("*research*")
