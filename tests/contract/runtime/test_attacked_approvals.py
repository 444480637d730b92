"""Attacks on a yes: nothing runs that nobody approved, or otherwise than it was shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runtime.contract import Addressing, Call, Effect, Identity, Said, Verdict
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import SHELL, UMA, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned


def tools() -> list[FakeTool]:
    return [fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)]


async def tell(process: Process, words: str = "please", who: Identity = UMA) -> Verdict:
    signal = replace(process.stage.signal(Said(words), who, "r1"), reach=Addressing.MENTION)
    return await process.reception.sink(signal)


async def asked(stage: Stage, call: Call = SHELL, **more: Any) -> Process:
    """Uma asked for a call, and it waits for a yes where nothing else was set."""
    process = await stage.process(Planned(call), tools(), **more)
    await tell(process)
    await process.answer_all()
    return process


def called(process: Process) -> int:
    return sum(len(tool.calls) for tool in process.tools.values())


# ---------------------------------------------------------------------------------------- between the card and the call


async def test_a_yes_to_a_call_in_a_sandbox_runs_nothing_without_one(any_stage: Stage, monkeypatch: Any) -> None:
    process = await asked(any_stage)
    [question] = await any_stage.pending()
    monkeypatch.setattr(process.tools["shell"], "caution", lambda: "It runs without a sandbox.")
    await process.click(question.id)
    await process.answer_all()
    assert called(process) == 0
    assert "is not what was asked about any more" in (await any_stage.screen())[-2]


@pytest.mark.parametrize("tool", ["shell", "look"])
async def test_what_a_rule_allows_runs_as_it_is(stage: Stage, tool: str, monkeypatch: Any) -> None:
    """With its caution, which no card has told of."""
    process = await stage.process(Planned(Call("c", tool, "{}")), tools(), rules=[Rule(Ruling.ALLOW, "shell")])
    monkeypatch.setattr(process.tools[tool], "caution", lambda: "It runs without a sandbox.")
    await tell(process)
    await process.answer_all()
    assert called(process) == 1
