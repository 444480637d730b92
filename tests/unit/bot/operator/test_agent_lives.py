"""Agents suspended, resumed and ended by operators: through the API, on the console's page, and by owners alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import House
from tests.unit.bot.settings.test_settings import read

TEXT = '[web]\nport = 0\n[[agents]]\nname = "ops"\nprompt = "You keep things running."\n'


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, TEXT), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def test_an_agent_is_suspended_resumed_and_ended(house: House) -> None:
    api = house.api
    told = await api.suspend_agent("ops", "the cluster  moves")
    assert told["told"] == "ops is suspended. Messages for it wait, and what it works on goes on to its end."
    row = await api.agent("ops")
    assert (row["state"], row["reason"]) == ("suspended", "the cluster moves")
    assert (await api.resume_agent("ops"))["told"] == "ops is at work again, on what waited first."
    ended = await api.terminate_agent("ops", "no longer needed")
    assert (ended["state"], ended["told"]) == (
        "terminated",
        "ops has ended. Its rooms are answered by the usual agent.",
    )


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        (["resume_agent ops"], "ops is at work already"),
        (["suspend_agent ops", "suspend_agent ops"], "ops is suspended already"),
        (["terminate_agent ops", "resume_agent ops"], "ops has ended, for good"),
        (["terminate_agent main"], "The main agent answers where no other does"),
        (["suspend_agent dev"], "There is no agent dev. There are: main, ops."),
    ],
)
async def test_what_cannot_be_done_is_refused_with_the_reason(house: House, moves: list[str], why: str) -> None:
    *before, last = (move.split() for move in moves)
    for name, agent in before:
        await getattr(house.api, name)(agent)
    with pytest.raises(Refusal, match=why):
        await getattr(house.api, last[0])(last[1])


async def test_the_page_offers_the_moves_that_a_state_allows(house: House) -> None:
    await house.api.suspend_agent("ops", "<b>drill")
    page = await house.page("/console/agents")
    assert [page.count(f">{verb}</button>") for verb in ("Suspend", "Resume", "End")] == [1, 1, 1]
    assert "/console/api/agents/ops/resume" in page
    assert "/console/api/agents/main/suspend" in page
    assert "<b>drill" not in page
