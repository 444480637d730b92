"""Executors of the settings in a whole process: their calls go by rules and approvals, and each turn is asked for once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from runtime.contract import Effect
from tests.contract.runtime.stage import fake_tool
from tests.unit.bot.notebook import running

PROGRAM: Final = """
import json, sys

for line in sys.stdin:
    turn = json.loads(line)
    with open("asked", "a") as asked:
        print(turn.get("step"), file=asked)
    last = turn["messages"][-1]
    if last["role"] == "user":
        end = {"text": "I look.", "calls": [{"tool": "change", "arguments": {"at": 1}}]}
    else:
        end = {"text": f"It said {last['text']}."}
    print(json.dumps({"id": turn["id"], "type": "end", **end}), flush=True)
"""


AGENT: Final[Mapping[str, Any]] = {
    "name": "main",
    "executor": "subprocess",
    "program": {"command": ["/usr/bin/python3", "-c", PROGRAM], "sandbox": "external"},
}


async def test_a_program_asks_for_a_call_that_waits_for_a_yes_and_each_turn_is_asked_for_once(tmp_path: Path) -> None:
    tool = fake_tool("change", Effect.WRITE)
    async with running(tmp_path / "data", [], tools={"change": tool}, agents=[AGENT]) as at_work:
        await at_work.say("change it")
        await at_work.notebook.until("change")
        assert tool.calls == []
    async with running(tmp_path / "data", [], tools={"change": tool}, agents=[AGENT]) as at_work:
        await at_work.approve()
        assert "change did it" in (await at_work.notebook.until("It said")).body
    assert tool.calls == [{"at": 1}]
    asked = (tmp_path / "data" / "executors" / "main" / "asked").read_text().split()
    assert len(asked) == len(set(asked)) == 2


async def test_a_stub_and_canned_results_try_a_rule_without_anything_happening(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text('[[answers]]\nphrase = "change"\ncalls = [{ tool = "change" }]\n')
    (tmp_path / "canned.toml").write_text('[[results]]\ntool = "change"\nresult = "All is other now."\n')
    tool = fake_tool("change", Effect.WRITE)
    agent = {"name": "main", "executor": "stub", "answers": str(tmp_path / "answers.toml")}
    given: dict[str, Any] = {"tools__mock": str(tmp_path / "canned.toml")}
    async with running(tmp_path / "data", [], tools={"change": tool}, agents=[agent], **given) as at_work:
        await at_work.say("change it")
        await at_work.notebook.until("nothing is done")
        await at_work.approve()
        await at_work.notebook.until("All is other now.")
    assert tool.calls == []


async def test_what_was_only_to_be_tried_is_not_done_by_the_next_process(tmp_path: Path) -> None:
    """The card said so, and a yes to it is no yes to the real thing."""
    (tmp_path / "answers.toml").write_text('[[answers]]\nphrase = "change"\ncalls = [{ tool = "change" }]\n')
    (tmp_path / "canned.toml").write_text('[[results]]\ntool = "change"\nresult = "All is other now."\n')
    tool = fake_tool("change", Effect.WRITE)
    agent = {"name": "main", "executor": "stub", "answers": str(tmp_path / "answers.toml")}
    given: dict[str, Any] = {"tools__mock": str(tmp_path / "canned.toml")}
    async with running(tmp_path / "data", [], tools={"change": tool}, agents=[agent], **given) as at_work:
        await at_work.say("change it")
        await at_work.notebook.until("nothing is done")
    async with running(tmp_path / "data", [], tools={"change": tool}, agents=[agent]) as at_work:
        await at_work.approve()
        await at_work.notebook.until("has changed since people were asked")
    assert tool.calls == []
