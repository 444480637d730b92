"""Goals, triggers and hands for operators: the API, the commands and the console's pages, of a whole process in this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import EVIL, House
from tests.unit.bot.settings.test_settings import read

ROOM: Final = "reports"
SETTINGS: Final = f"""
[web]
port = 0
[[triggers]]
name = "deploys"
on = "words"
words = ["{EVIL}", "deploy*"]
prompt = "Tell us who {EVIL}."
[[schedules]]
name = "hand watcher"
when = "every hour"
prompt = "Look."
to = ["web:main/{ROOM}"]
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, SETTINGS), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def stands(house: House, **wanted: object) -> dict[str, Any]:
    """The one goal, once it stands so."""
    async with asyncio.timeout(20):
        while True:
            [found] = await house.api.goals()
            goal = await house.api.goal(found["id"])
            if {name: goal[name] for name in wanted} == wanted:
                return goal
            await asyncio.sleep(0.02)  # over HTTP


async def test_goals_triggers_and_hands_are_told_and_turned_off(house: House) -> None:
    """One process for all of them: each has a part below."""
    await goal_is_shown_and_stopped(house)
    await trigger_is_paused_and_resumed(house)
    await hand_is_told(house)


async def goal_is_shown_and_stopped(house: House) -> None:
    await house.api.say(ROOM, f"/goal Say {EVIL}\nverify: it says {EVIL}\nturns: 2", "event-0001")
    goal = await stands(house, state="waiting", waits_for="a person")
    assert (goal["criteria"], goal["address"], goal["turns"]) == ([f"it says {EVIL}"], f"web:main/{ROOM}", [])
    for path in ("/console/goals", f"/console/goals/{goal['id']}"):
        page = await house.page(path)
        assert "Say &lt;script&gt;" in page
        assert EVIL not in page
        assert f'action="/console/api/goals/{goal["id"]}/stop"' in page
    stopped = await house.api.stop_goal(goal["short"])
    assert (stopped["state"], stopped["reason"], stopped["end"]) == ("stopped", "Stopped by owner.", "")
    with pytest.raises(Refusal, match="This goal is over already"):
        await house.api.stop_goal(goal["id"])
    with pytest.raises(Refusal, match="No goal is called 'nothing'"):
        await house.api.goal("nothing")


async def trigger_is_paused_and_resumed(house: House) -> None:
    paused = await house.api.pause_trigger("deploys")
    assert (paused["state"], paused["reason"]) == ("paused", "paused by owner")
    page = await house.page("/console/triggers")
    assert "paused by owner" in page
    assert EVIL not in page
    assert '/resume"' in page
    with pytest.raises(Refusal, match="This trigger is paused, so there is nothing to pause"):
        await house.api.pause_trigger("deploys")
    assert (await house.api.resume_trigger("deploys"))["state"] == "active"


async def hand_is_told(house: House) -> None:
    [hand] = await house.api.hands()
    assert (hand["hand"], hand["state"], hand["last_at"]) == ("watcher", "active", None)
    assert hand["next_at"]
    await house.api.run_schedule(hand["id"])
    [hand] = await house.api.hands()
    assert hand["last_at"]
    assert f'action="/console/api/schedules/{hand["id"]}/pause"' in await house.page("/console/triggers")
