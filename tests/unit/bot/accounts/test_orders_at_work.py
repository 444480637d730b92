"""Work and conversations that one agent hands to another, with models that speak over the wire."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.testing.openai.server import Json, OpenAI, Reply, ToolCall
from bot.testing.serve import serving
from runtime.contract import Address, Said, Signal
from runtime.domain.ids import new_id
from tests.unit.bot.accounts.test_agents_at_work import AGENTS, Speaking, running, system
from tests.unit.bot.notebook import ADA

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

HALL = Address("notebook", "notebook-1", "hall")
SEVERAL = AGENTS + '[[agents]]\nname = "main"\ndelegates_to = ["lab"]\n'


async def say(people: Speaking, words: str) -> None:
    await people.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", HALL, Said(words), datetime.now(UTC)))


def results(body: Json) -> list[str]:
    return [str(one["content"]) for one in body["messages"] if one["role"] == "tool"]


def is_lab(body: Json) -> bool:
    return "You look things up." in system(body)


async def test_an_agent_is_told_to_whom_it_may_hand_over_and_that_one_answers(tmp_path: Path) -> None:
    def model(body: Json) -> Reply:
        if is_lab(body):
            return Reply("I looked it up.")
        told: list[Any] = [tool["function"] for tool in body["tools"] if tool["function"]["name"] == "hand_over"]
        if results(body) or not told[0]["description"].endswith("Agents: lab."):
            return Reply("Lab takes over.")
        return Reply("", (ToolCall("hand_over", '{"agent": "lab", "text": "Look it up."}'),))

    async with serving(OpenAI(model).app()) as url, running(tmp_path, url, SEVERAL) as people:
        await say(people, "look it up")
        await people.notebook.until("Lab takes over.")
        shown = await people.notebook.until("I looked it up.")
    assert shown.body == "*lab* · I looked it up."


async def test_an_order_that_has_spent_its_budget_by_the_prices_of_its_model_fails(tmp_path: Path) -> None:
    def model(body: Json) -> Reply:
        done = results(body)
        if is_lab(body):  # each call costs more than the budget
            return Reply("", (ToolCall("list_files", "{}", f"c{len(done)}"),), usage=(100_000, 10))
        if done:
            return Reply(f"It came back: {done[-1]}")
        return Reply("", (ToolCall("delegate", '{"agent": "lab", "goal": "Look.", "budget": 0.001}'),))

    async with serving(OpenAI(model).app()) as url, running(tmp_path, url, SEVERAL) as people:
        await say(people, "have it looked up")
        shown = await people.notebook.until("It came back:")
    assert "error: lab failed. I stopped here: the budget of $0.0010 for this work is spent ($0.02)." in shown.body
