"""A model that works on a project: a repository, its tests and a program, each call through policy, card and sandbox."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from bot.testing.scripted import USAGE, Answer
from runtime.contract import Call, ModelReply, ModelRequest, ToolTurn
from tests.unit.bot.notebook import Running, running
from tests.unit.tools.processes import gone, started

TEST: Final = "import unittest\nclass T(unittest.TestCase):\n    def test_sum(self): self.assertEqual(3, 4)\n"
RULES: Final = [{"tool": name, "result": "allow"} for name in ("shell", "write_file", "run_tests")]


def call(number: int, tool: str, **arguments: object) -> Call:
    return Call(f"c{number}", tool, json.dumps(arguments))


def read_it(request: ModelRequest) -> ModelReply:
    """Asks for the output of the process that was started last."""
    told = next(turn.text for turn in reversed(request.turns) if isinstance(turn, ToolTurn))
    found = re.search(r"\[Process (\w{6}) has run", told)
    assert found, told
    return ModelReply("", (call(6, "process_read", process=found[1], wait_seconds=20),), USAGE)


async def test_a_project_is_tested_committed_and_run(tmp_path: Path) -> None:
    answers: list[Answer] = [
        call(1, "shell", command="git init -q . && ls"),
        call(2, "write_file", path="test_sum.py", content=TEST),
        call(3, "run_tests"),
        call(4, "git_commit", message="Add up"),
        call(5, "process_start", command="echo begun; sleep 1; echo served; sleep 4281"),
        read_it,
        "All is built.",
    ]
    async with running(tmp_path, answers, policy=RULES) as people:
        await people.say("build it")
        card = await people.notebook.until("git_commit")
        assert "Add up" in card.body
        assert "all that changed" in card.body
        await people.approve()
        card = await people.notebook.until("process_start")
        assert "sleep 4281" in card.body
        assert "runs on for up to 60 minutes" in card.body
        await people.approve()
        await people.notebook.until("All is built.")
        await started("4281")
        told = await results(people)
    await gone("4281")
    assert "unittest: 0 passed, 1 failed, 0 skipped" in told["run_tests"]
    assert "(test_sum.py:3): AssertionError: 3 != 4" in told["run_tests"]
    assert "owner: Add up" in told["git_commit"]
    assert "1 file changed" in told["git_commit"]
    assert "served" in told["process_read"]


async def results(people: Running) -> dict[str, str]:
    [run] = await people.app.store.operations.runs()
    found = await people.app.store.operations.run(run.id)
    assert found is not None
    return {step.tool: step.result for step in found[1]}
