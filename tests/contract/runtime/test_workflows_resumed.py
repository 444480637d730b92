"""A workflow that is resumed makes a call whose outcome nobody knows again under the same key, and no other."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from runtime.contract import Call, CallKey, Effect, RunId, SessionKey
from runtime.domain.runs import RunState
from runtime.domain.transcript import NOT_FINISHED
from runtime.domain.workflows.record import CUT_CALLS, cut_in, key_in
from runtime.errors import UNSURE, ToolFailed
from tests.contract.runtime.stage import FakeTool, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.test_workflows import ALLOWED, OPERATOR, command, operations, process_with

SEND: Final = """
name = "send"
[[steps]]
name = "send"
tool = "send"
arguments = { to = "ada" }
retries = 1
on_error = "retry"
"""
A, SESSION = RunId("run-a"), SessionKey("s")


def sender(*faults: str) -> FakeTool:
    left = list(faults)

    async def sends(_: Any) -> str:
        if left and (fault := left.pop(0)):
            raise ToolFailed(fault)
        return "sent"

    return fake_tool("send", Effect.WRITE, sends, idempotent=True)


async def first_run(process: Process, state: str) -> dict[str, Any]:
    async with process.running():
        await command(process, "workflow", "send")
        await process.rest()
    [first] = await operations(process).begun("send", state)
    return first


async def resumed(process: Process, one: dict[str, Any]) -> None:
    async with process.running():
        await operations(process).resume(one["id"], OPERATOR)
        await process.rest()


@pytest.mark.parametrize(
    ("faults", "kept"),
    [
        (("the disk is full", f"{UNSURE}carried out: the line was cut."), True),
        ((f"{UNSURE}carried out: the line was cut.", "it is refused"), False),
        (("it is refused", "it is refused"), False),
    ],
    ids=["nobody knows", "refused after all", "refused"],
)
async def test_only_a_call_whose_outcome_nobody_knows_keeps_its_key(
    any_stage: Stage, faults: tuple[str, ...], kept: bool
) -> None:
    process = await process_with(any_stage, SEND, tool := sender(*faults), rules=ALLOWED)
    await resumed(process, await first_run(process, "failed"))
    assert [key.call for key in tool.keys[:2]] == ["step-send-1", "step-send-1-again-1"]
    assert (tool.keys[2] == tool.keys[1]) is kept
    assert kept or tool.keys[2].run != tool.keys[1].run
    assert sorted(await any_stage.states()) == [RunState.DONE, RunState.FAILED]


async def test_the_key_stays_over_a_kill_and_over_one_resumption_after_another(any_stage: Stage) -> None:
    cut = f"{UNSURE}carried out: the line was cut."
    process = await process_with(any_stage, SEND, tool := sender("refused", cut, "", cut), rules=ALLOWED)
    first = await first_run(process, "failed")
    process = await process_with(any_stage, SEND, tool, rules=ALLOWED, probe=crash_at("tool-finished", 2))
    await operations(process).resume(first["id"], OPERATOR)
    await process.until_crash()
    second = tool.keys[1]
    process = await process_with(any_stage, SEND, tool, rules=ALLOWED)
    await process.answer_all()
    assert tool.keys[2:4] == [second, second]
    assert len(tool.keys) == 5, "its second try is a call of its own"


async def test_a_call_that_a_stop_left_open_keeps_its_key(any_stage: Stage) -> None:
    process = await process_with(any_stage, SEND, tool := sender(), rules=ALLOWED, probe=crash_at("tool-marked", 2))
    await command(process, "workflow", "send")
    await process.until_crash()
    process = await process_with(any_stage, SEND, tool, rules=ALLOWED)
    [begun] = await operations(process).begun("send", "")
    await operations(process).cancel(begun["id"], OPERATOR)
    await process.answer_all()
    assert tool.keys == []
    await resumed(process, begun)
    assert tool.keys == [CallKey(RunId(begun["run"]), SessionKey(f"report|{begun['id']}|1"), "step-send-1")]


def test_the_last_try_of_each_piece_counts_and_names_the_first_run() -> None:
    def call(name: str) -> Call:
        return Call(name, "send", json.dumps({}))

    calls = [
        (call("begin"), "frozen"),
        (call("step-a-1"), f"error: {UNSURE}sent: cut"),
        (call("step-a-1-again-1"), "error: refused"),
        (call("step-a-2"), None),
        (call("step-b-1"), "error: refused"),
        (call("step-b-1-again-1"), f"{NOT_FINISHED}the run was stopped."),
        (call("step-c-1"), "sent"),
    ]
    assert cut_in(calls, {"step-a-2": ["run-0", "s0", "step-a-2-again-1"]}, A, SESSION) == {
        "step-a-2": ["run-0", "s0", "step-a-2-again-1"],
        "step-b-1": ["run-a", "s", "step-b-1-again-1"],
    }


@pytest.mark.parametrize("kept", [None, {}, ["a", "b"], "abc", [1, 2, 3]])
def test_what_is_no_key_is_none(kept: Any) -> None:
    assert key_in(kept) is None
    assert key_in(["r", "s", "c"]) == CallKey(RunId("r"), SessionKey("s"), "c")
    assert CUT_CALLS == "cut"
