"""Agents that owners have made in a chat: checked before anybody is asked, written as a file, and at work at once."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text

from bot.testing.scripted import Scripted
from runtime.contract import Address, ApprovalId, Call, Choice, Clicked, Identity, Role, Said, Signal, ToolTurn
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.domain.approvals import ApprovalState
from runtime.domain.ids import new_id
from runtime.models.demo import Demo
from runtime.store.sql.driver import Op
from tests.unit.bot.accounts.test_agents_at_work import AGENTS, Speaking, running
from tests.unit.bot.notebook import ADA

ROOM = Address("notebook", "notebook-1", "hall")
UMA = Identity("notebook:uma")
NOWHERE = "http://127.0.0.1:9"


async def say(people: Speaking, words: str, who: Identity = ADA, at: Address = ROOM) -> None:
    name = who.partition(":")[2].title()
    await people.app.sink(Signal("notebook-1", new_id(), who, name, at, Said(words), datetime.now(UTC)))


def spawned() -> Op[list[tuple[str, str]]]:
    rows = yield text("SELECT actor, subject FROM audit WHERE kind = 'agent.spawned'"), {}
    return [(actor, subject) for actor, subject in rows]


async def press(people: Speaking, question: ApprovalId) -> None:
    click = Clicked(question, Choice.APPROVE)
    await people.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", ROOM, click, datetime.now(UTC)))


async def pending(people: Speaking) -> list[Any]:
    return list(await people.app.store.approvals.approvals(state=ApprovalState.PENDING))


def create(**settings: Any) -> Call:
    return Call(f"c-{new_id()}", "agent_create", json.dumps({"prompt": "You find news.\nBriefly.", **settings}))


PAGE: Final = Path(__file__).parents[4] / "docs" / "agents.md"


async def test_the_demo_makes_the_agent_of_the_page_and_that_one_answers_at_once(tmp_path: Path) -> None:
    [phrase] = re.findall(r"```text demo\n(create agent .+)\n", PAGE.read_text(encoding="utf-8"))
    async with running(tmp_path, NOWHERE, AGENTS, Demo()) as people:
        await say(people, phrase)
        card = await people.notebook.until("agent_create")
        for words in ("news", "read", "http_get", "the usual model", "no budget of its own", "You find news."):
            assert words in card.body
        [question] = await pending(people)
        assert not (tmp_path / "agents").exists()
        await press(people, question.id)
        await people.notebook.until("The agent news is there now (agents/news.toml).")
        await say(people, "news: hello")
        await people.notebook.until("*news* ·")
        facts = await people.app.store.driver.read(spawned)
    assert facts == [("owner", "news")]
    written = tomllib.loads((tmp_path / "agents" / "news.toml").read_text(encoding="utf-8"))
    assert written == {
        "prompt": "You find news. Name your sources.",
        "tools": ["http_get", "read_file"],
        "effects": "read",
    }


async def answered(people: Speaking, model: Scripted) -> str:
    """The result of the one call that the model made."""
    await people.notebook.until("done")
    return next(turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn))


async def test_all_faults_are_told_at_once_and_nobody_is_asked(tmp_path: Path) -> None:
    model = Scripted([create(name="No Name", tools=["no_such"], model="nobody", delegates_to=["x"]), "done"])
    async with running(tmp_path, NOWHERE, AGENTS, model) as people:
        await say(people, "make one")
        told = await answered(people, model)
        assert await pending(people) == []
    for fault in (
        "expected up to 40 small letters",
        '"no_such" fits no tool',
        '"nobody" names no model',
        '"x" names no agent',
    ):
        assert fault in told
    assert not (tmp_path / "agents").exists()


async def test_only_owners_have_agents_made(tmp_path: Path) -> None:
    model = Scripted([create(name="news"), "done"])
    async with running(tmp_path, NOWHERE, AGENTS, model) as people:
        await people.app.store.people.add_person("Uma", Role.USER, [UMA], actor="test")
        await say(people, "make one", UMA)
        assert await answered(people, model) == "error: Only owners have agents made. Ask one of them."
        assert await pending(people) == []


async def test_an_agent_makes_none_that_may_more_than_itself(tmp_path: Path) -> None:
    bounded = AGENTS.replace('effects = "write"\n', 'effects = "danger"\n').replace('"shell"]', '"agent_create"]')
    model = Scripted([create(name="news", tools=["chart"], effects="write"), "done"])
    async with running(tmp_path, NOWHERE, bounded, model) as people:
        await say(people, "make one", at=Address("notebook", "notebook-1", "ops-1"))
        assert await answered(people, model) == "error: news may use chart, which ops may not."
        assert await pending(people) == []


async def test_the_main_agent_is_not_made_anew(tmp_path: Path) -> None:
    """A file of that name, without a prompt, would set bounds of the agent that made it."""
    model = Scripted([create(name="main", prompt=""), "done"])
    async with running(tmp_path, NOWHERE, AGENTS, model) as people:
        await say(people, "make one")
        assert "Choose another name." in await answered(people, model)
        assert await pending(people) == []


async def test_no_agent_is_called_as_one_that_has_ended(tmp_path: Path) -> None:
    model = Scripted([create(name="news"), "done"])
    async with running(tmp_path, NOWHERE, AGENTS, model) as people:
        await people.app.store.lives.turn_agent("news", AgentEvent.TERMINATE, "drill", "Ada")
        await say(people, "make one")
        assert "an agent 'news' was ended for good" in await answered(people, model)
        assert await pending(people) == []


async def test_a_file_that_somebody_wrote_meanwhile_is_left_alone(tmp_path: Path) -> None:
    model = Scripted([create(name="news"), "done"])
    async with running(tmp_path, NOWHERE, AGENTS, model) as people:
        await say(people, "make one")
        await people.notebook.until("agent_create")
        (tmp_path / "agents").mkdir()
        (tmp_path / "agents" / "news.toml").write_text('prompt = "Mine."\n', encoding="utf-8")
        [question] = await pending(people)
        await press(people, question.id)
        told = await answered(people, model)
    assert told.startswith("error: ")
    assert (tmp_path / "agents" / "news.toml").read_text(encoding="utf-8") == 'prompt = "Mine."\n'


@pytest.mark.parametrize("prompt", ["one\ntwo", 'say "yes" \\ """no"""\n\x07', "\x7f", "tab\there\r\n"])
def test_a_prompt_is_read_as_it_was_written(prompt: str) -> None:
    from bot.settings.agents.writing import toml_of

    assert tomllib.loads(toml_of({"name": "a", "prompt": prompt, "budget_day": 0.5}, "By\nAda")) == {
        "prompt": prompt,
        "budget_day": 0.5,
    }
