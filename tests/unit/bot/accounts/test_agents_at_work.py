"""Two agents in one process, whose models speak over the wire: each has its own prompt, tools, model and files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.server.app import App, build
from bot.server.process import serving as served
from bot.settings.settings import Settings, load
from bot.testing.openai.server import Json, OpenAI, Reply, ToolCall
from bot.testing.scripted import Scripted, held
from bot.testing.serve import serving
from runtime.contract import Address, Choice, Clicked, FileRef, Model, Said, Signal, ToolTurn
from runtime.domain.approvals import ApprovalState
from runtime.domain.ids import new_id
from tests.unit.bot.notebook import ADA, LIST, WRITE, Notebook

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

OPS, LAB = Address("notebook", "notebook-1", "ops-1"), Address("notebook", "notebook-1", "lab-1")
ROOM_OF = {"ops": OPS, "lab": LAB}
AGENTS = """
[access]
owners = ["notebook:ada"]
[[agents]]
name = "ops"
prompt = "You keep things running."
tools = ["write_file", "read_file", "list_files", "shell"]
effects = "write"
rooms = ["notebook:main/ops-*"]
[[agents]]
name = "lab"
prompt = "You look things up."
model = "small"
tools = ["read_file", "list_files"]
rooms = ["notebook:main/lab-*"]
[[policy]]
tool = "write_file"
agent = "ops"
result = "allow"
"""
CHART = '{"kind": "bar", "title": "Load", "labels": ["a", "b"], "series": [{"name": "x", "values": [1, 2]}]}'
ALLOW_CHARTS = '[[policy]]\ntool = "chart"\nresult = "allow"\n'


class Speaking:
    """A process with a notebook in which each agent has a room."""

    def __init__(self, app: App, notebook: Notebook, file: Path) -> None:
        self.app = app
        self.notebook = notebook
        self.file = file

    async def say(self, agent: str, words: str, *files: FileRef) -> None:
        """Say something where `agent` answers."""
        rules = self.app.at.live.rules
        self.app.at.live.rules = replace(rules, gate=replace(rules.gate, agent=agent, agents=(), bindings=()))
        said = Said(words, files)
        await self.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", ROOM_OF[agent], said, datetime.now(UTC)))


@asynccontextmanager
async def running(
    folder: Path, url: str, agents: str = AGENTS, model_instead: Model | None = None
) -> AsyncIterator[Speaking]:
    model = f'api_base = "{url}/v1"\napi_key = "a-key"\n'
    models = (
        f'[model]\nname = "openai/gpt-4o"\n{model}[[models]]\nname = "small"\nmodel = "openai/gpt-4o-mini"\n{model}'
    )
    file = folder / "signalbox.toml"
    file.write_text(models + agents, encoding="utf-8")
    given = {"web.port": 0, "data_dir": str(folder), "nodes.lease_seconds": 30}
    settings = load(file, overrides=given, environ={}, folder=folder)
    notebook, made = Notebook(), list[App]()

    async def make(settings: Settings) -> App:
        made.append(await build(settings, adapters=lambda _: [notebook], model=model_instead))
        return made[0]

    async with served(settings, make=make, with_link=False):
        yield Speaking(made[0], notebook, file)


def system(body: Json) -> str:
    return str(body["messages"][0]["content"])


def tools(body: Json) -> list[str]:
    return sorted(tool["function"]["name"] for tool in body.get("tools", ()))


def model(body: Json) -> Reply:
    """Each agent says what it sees of a file that it was asked to write; asked for a secret, ops writes one first."""
    asked = [one for one in body["messages"] if one["role"] == "user"][-1]["content"]
    done = [one for one in body["messages"] if one["role"] == "tool"]
    if "write" in asked and not done:
        return Reply("", (ToolCall("write_file", '{"path": "secret.txt", "content": "of ops"}'),))
    if "list" in asked and not done:
        return Reply("", (ToolCall("list_files", "{}"),))
    told = done[-1]["content"] if done else "nothing"
    return Reply(f"{body['model']} as {system(body).splitlines()[0]} {told}")


async def test_each_agent_answers_with_its_own_prompt_tools_and_model(tmp_path: Path) -> None:
    server = OpenAI(model)
    async with serving(server.app()) as url, running(tmp_path, url) as people:
        await people.say("ops", "hello")
        await people.notebook.until("as You keep things running.")
        await people.say("lab", "hello")
        await people.notebook.until("as You look things up.")
    first, second = server.requests
    assert (first["model"], tools(first)) == ("gpt-4o", ["list_files", "read_file", "write_file"])  # no shell: danger
    assert (second["model"], tools(second)) == ("gpt-4o-mini", ["list_files", "read_file"])


async def test_no_agent_sees_the_files_or_the_turns_of_another(tmp_path: Path) -> None:
    server = OpenAI(model)
    async with serving(server.app()) as url, running(tmp_path, url) as people:
        await people.say("ops", "write it")
        await people.notebook.until("gpt-4o as")
        ROOM_OF["lab"], before = OPS, LAB  # the same room, where both answer
        try:
            await people.say("lab", "list them")
            shown = await people.notebook.until("gpt-4o-mini as")
        finally:
            ROOM_OF["lab"] = before
        await people.say("ops", "list them")
        own = await people.notebook.until("secret.txt")
    assert "secret.txt" not in shown.body
    assert own.body.startswith("*ops* · gpt-4o as You keep things running.")
    lab = [body for body in server.requests if body["model"] == "gpt-4o-mini"]
    assert not [body for body in lab if "write it" in str(body["messages"]) or "of ops" in str(body["messages"])]


async def test_a_file_that_an_agent_posts_is_where_the_room_reads_it(tmp_path: Path) -> None:
    def draws(body: Json) -> Reply:
        if [one for one in body["messages"] if one["role"] == "tool"]:
            return Reply("Here it is.")
        return Reply("", (ToolCall("chart", CHART),))

    server = OpenAI(draws)
    drawing = AGENTS.replace('tools = ["write_file"', 'tools = ["chart", "write_file"') + ALLOW_CHARTS
    async with serving(server.app()) as url, running(tmp_path, url, drawing) as people:
        await people.say("ops", "draw it")
        await people.notebook.until("Here it is.")
        [row] = await people.app.store.operations.deliveries(state=None, room=OPS, limit=1)
        [file] = row.content.files
        with people.app.base.workspaces.open(OPS, file.path) as opened:
            assert opened.read(4) == b"\x89PNG"
    assert file.path.startswith("from-ops/")


async def test_a_file_that_is_gone_by_then_is_told_to_the_reader(tmp_path: Path) -> None:
    def draws_in_vain(body: Json) -> Reply:
        if not [one for one in body["messages"] if one["role"] == "tool"]:
            return Reply("", (ToolCall("chart", CHART),))
        for drawn in tmp_path.rglob("charts/*.png"):
            drawn.unlink()
        return Reply("Here it is.")

    drawing = AGENTS.replace('tools = ["write_file"', 'tools = ["chart", "write_file"') + ALLOW_CHARTS
    async with serving(OpenAI(draws_in_vain).app()) as url, running(tmp_path, url, drawing) as people:
        await people.say("ops", "draw it")
        shown = await people.notebook.until("Here it is.")
    assert shown.body.endswith("Here it is.\n\nload.png couldn't be attached.")


async def test_an_upload_of_the_room_reaches_its_agent(tmp_path: Path) -> None:
    server = OpenAI(model)
    async with serving(server.app()) as url, running(tmp_path, url) as people:
        folder = people.app.base.workspaces.folder(LAB) / "uploads"
        folder.mkdir()
        (folder / "plan.txt").write_text("the plan")
        await people.say("lab", "list them", FileRef("plan.txt", "uploads/plan.txt", 8))
        shown = await people.notebook.until("gpt-4o-mini as")
    assert "uploads" in shown.body


async def test_a_call_that_an_agent_was_never_offered_does_not_run(tmp_path: Path) -> None:
    def sly(body: Json) -> Reply:
        done: list[Any] = [one for one in body["messages"] if one["role"] == "tool"]
        if not done:
            return Reply("", (ToolCall("write_file", '{"path": "x.txt", "content": "x"}'),))
        return Reply(f"told: {done[-1]['content']}")

    server = OpenAI(sly)
    async with serving(server.app()) as url, running(tmp_path, url) as people:
        await people.say("lab", "hello")
        shown = await people.notebook.until("told:")
    assert "there is no tool" in shown.body
    assert list((tmp_path / "workspaces").glob("*/x.txt")) == []


async def test_the_next_run_has_the_agent_that_a_reload_brought(tmp_path: Path) -> None:
    server = OpenAI(model)
    async with serving(server.app()) as url, running(tmp_path, url) as people:
        await people.say("ops", "hello")
        await people.notebook.until("as You keep things running.")
        text = people.file.read_text(encoding="utf-8")
        people.file.write_text(text.replace("You keep things running.", "You are another."), encoding="utf-8")
        told = await people.app.reload("ada")
        assert told["changed"] == ["the agent ops"]
        await people.say("ops", "hello")
        await people.notebook.until("as You are another.")
        gone = people.file.read_text(encoding="utf-8").replace('name = "ops"', 'name = "other"')
        people.file.write_text(gone, encoding="utf-8")
        await people.app.reload("ada")
        await people.say("ops", "hello")
        await people.notebook.until("There is no longer an agent called ops here.")


async def test_a_run_at_work_keeps_the_agent_that_it_began_with(tmp_path: Path) -> None:
    first = held(LIST)
    scripted = Scripted([first, "Done.", "Anew."])
    async with running(tmp_path, "http://127.0.0.1:9", model_instead=scripted) as people:
        await people.say("ops", "hello")
        await first.begun.wait()
        text = people.file.read_text(encoding="utf-8")
        narrowed = text.replace("You keep things running.", "You are another.").replace(
            '"list_files", "shell"', '"shell"'
        )
        people.file.write_text(narrowed, encoding="utf-8")
        assert (await people.app.reload("ada"))["changed"] == ["the agent ops"]
        first.until.set()
        await people.notebook.until("Done.")
        await people.say("ops", "hello again")
        await people.notebook.until("Anew.")
    begun, kept, anew = scripted.requests
    assert begun.system.startswith("You keep things running.")
    assert (kept.system, [tool.name for tool in kept.tools]) == (begun.system, [tool.name for tool in begun.tools])
    assert isinstance(kept.turns[-1], ToolTurn)
    assert "there is no tool" not in kept.turns[-1].text
    assert anew.system.startswith("You are another.")
    assert [tool.name for tool in anew.tools] == ["read_file", "write_file"]


async def test_a_run_that_waited_for_people_goes_on_with_the_agent_as_it_is_by_then(tmp_path: Path) -> None:
    asking = AGENTS.replace('result = "allow"', 'result = "ask"')
    scripted = Scripted([WRITE, "Done."])
    async with running(tmp_path, "http://127.0.0.1:9", asking, scripted) as people:
        await people.say("ops", "write it")
        await people.notebook.until("write_file")
        text = people.file.read_text(encoding="utf-8")
        people.file.write_text(text.replace('tools = ["write_file", ', "tools = ["), encoding="utf-8")
        await people.app.reload("ada")
        [question] = await people.app.store.approvals.approvals(state=ApprovalState.PENDING)
        click = Clicked(question.id, Choice.APPROVE)
        await people.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", OPS, click, datetime.now(UTC)))
        await people.notebook.until("Done.")
    assert "there is no tool 'write_file' any more" in scripted.requests[-1].turns[-1].text
    assert list((tmp_path / "workspaces").glob("*/secret.txt")) == []


async def test_an_agent_makes_no_more_calls_in_a_minute_than_it_may(tmp_path: Path) -> None:
    def eager(body: Json) -> Reply:
        done: list[Any] = [one for one in body["messages"] if one["role"] == "tool"]
        if len(done) < 3:
            return Reply("", (ToolCall("list_files", f'{{"path": "{"abc"[len(done)]}"}}', f"c{len(done)}"),))
        return Reply(f"{body['model']} told: {done[-1]['content']}")

    bounded = AGENTS.replace('model = "small"\n', 'model = "small"\ntool_calls_per_minute = 2\n')
    server = OpenAI(eager)
    async with serving(server.app()) as url, running(tmp_path, url, bounded) as people:
        await people.say("lab", "hello")
        shown = await people.notebook.until("gpt-4o-mini told:")
        await people.say("ops", "hello")
        free = await people.notebook.until("gpt-4o told:")
    assert "denied: the agent lab makes at most 2 calls a minute. There is room again in " in shown.body
    assert "denied" not in free.body
