"""Two agents in the same rooms, in any order of what people ask: neither reads a word, a file or a name of the other's."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from bot.testing.scripted import USAGE
from runtime.agent.registry import Agent
from runtime.context.prompt.prompts import Prompted
from runtime.contract import Call, ModelReply, ModelRequest, OnText, ToolTurn, UserTurn
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import Process, Stage, address
from tools.files.files import list_files, read_file, write_file

AGENTS: Final = ("main", "ops")
ROOMS: Final = ("r1", "r2", "r3")
NAMES: Final = ("notes.txt", "plan.md", "a/b.txt")
OPERATIONS: Final = 10_000
FILE_TOOLS: Final[tuple[Any, ...]] = (list_files, read_file, write_file)
AGE_OF_ROOMS: Final = 300
"""Operations after which other rooms are used: what is looked at are whole conversations, not summaries of them."""


@dataclass
class Doing:
    """A model that does what it is told, and looks for words of the other agent in all that it reads."""

    name: str
    other: str
    seen: list[str] = field(default_factory=list)
    read: int = 0

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        texts = [request.system, request.working, *(f"{turn}" for turn in request.turns)]
        self.seen += [text for text in texts if f"{self.other}-" in text]
        self.read += sum(f"{self.name}-" in text for text in texts)
        last = request.turns[-1]
        if isinstance(last, ToolTurn):
            return ModelReply(f"{self.name}-done", (), USAGE)
        assert isinstance(last, UserTurn)
        verb, *words = last.text.split()
        arguments = {
            "write": {"path": words[0], "content": words[-1]},
            "read": {"path": words[0]},
            "list": {},
        }.get(verb)
        if arguments is None:
            return ModelReply(f"{self.name}-heard", (), USAGE)
        tool = "list_files" if verb == "list" else f"{verb}_file"
        return ModelReply("", (Call(f"c{len(request.turns)}", tool, json.dumps(arguments)),), USAGE)


@dataclass
class Both:
    process: Process
    models: dict[str, Doing]

    async def ask(self, agent: str, room: str, words: str) -> None:
        self.process.gate = replace(self.process.gate, agent=agent)
        await self.process.say(words, room=room)
        await self.process.answer_all()


async def both(stage: Stage) -> Both:
    models = {"main": Doing("main", "ops"), "ops": Doing("ops", "main")}
    second = Agent(
        name="ops",
        prompt=lambda _: Prompted("You watch."),
        model=models["ops"],
        tools={tool.spec.name: tool for tool in FILE_TOOLS},
        scope="ops",
        workspaces=stage.workspaces.of("ops"),
    )
    process = await stage.process(
        models["main"], FILE_TOOLS, others=[second], rules=[Rule(Ruling.ALLOW)], prompt=lambda _: Prompted("You help.")
    )
    return Both(process, models)


def asked(rng: random.Random, agent: str, number: int) -> str:
    """Something for an agent to do. All that is written is marked as its own; files are looked for by either's names."""
    name = rng.choice(NAMES)
    wishes = [f"write {name} {agent}-{number}", f"read {name}", "list .", f"say {agent}-{number}"]
    return rng.choices(wishes, weights=[3, 3, 1, 3])[0]


@pytest.mark.parametrize(
    ("operations", "seed"),
    [(150, 1), pytest.param(OPERATIONS, 18, marks=[pytest.mark.soak, pytest.mark.timeout(1_200)])],
)
async def test_neither_agent_sees_anything_of_the_other(stage: Stage, operations: int, seed: int) -> None:
    rng, at = random.Random(seed), await both(stage)
    for number in range(operations):
        agent, room = rng.choice(AGENTS), f"{rng.choice(ROOMS)}-{number // AGE_OF_ROOMS}"
        await at.ask(agent, room, asked(rng, agent, number))
    for model in at.models.values():
        assert model.seen == []
        assert model.read > operations / 2, "each reads what is its own"
    for room in [f"{room}-{age}" for room in ROOMS for age in range(-(-operations // AGE_OF_ROOMS))]:
        for agent, other in (AGENTS, AGENTS[::-1]):
            texts = [path.read_text() for path in stage.workspaces.of(agent).folder(address(room)).rglob("*.*")]
            assert texts
            assert [text for text in texts if f"{other}-" in text] == []
