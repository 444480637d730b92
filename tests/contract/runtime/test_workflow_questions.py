"""A question of a workflow goes up at once, and once, while other steps are at work."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from runtime.contract import Choice, Effect
from runtime.domain.runs import RunState
from tests.contract.runtime.stage import Stage, crash_at, fake_tool
from tests.contract.runtime.test_workflows import ALLOWED, command, process_with
from tests.sample import sample

SIDE_BY_SIDE: Final = """
name = "both"
report = "{{ steps.sure.text }}, {{ steps.last.text }}"
[[steps]]
name = "sure"
ask = "Are you sure?"
options = ["Yes", "No"]
after = []
[[steps]]
name = "slow"
tool = "slow"
after = []
[[steps]]
name = "more"
tool = "more"
after = ["slow"]
[[steps]]
name = "last"
tool = "more"
after = ["more"]
"""


async def test_people_are_asked_before_a_slow_step_is_over_and_their_answer_waits_for_it(any_stage: Stage) -> None:
    free, began = asyncio.Event(), asyncio.Event()

    async def slowly(_: Any) -> str:
        began.set()
        await free.wait()
        return "slow did it"

    slow, more = fake_tool("slow", Effect.WRITE, slowly), fake_tool("more", Effect.WRITE)
    process = await process_with(any_stage, SIDE_BY_SIDE, slow, more, rules=ALLOWED)
    async with process.running():
        await command(process, "workflow", "both")
        async with asyncio.timeout(20):
            await began.wait()
            while not any("Are you sure?" in one for one in await any_stage.screen()):
                await any_stage.written()
        [question] = await any_stage.pending()
        await process.click(question.id, Choice.FIRST)
        free.set()
        await process.rest()
    assert (len(slow.calls), len(more.calls)) == (1, 2)
    assert (await any_stage.screen())[-1] == "Yes, more did it"
    assert await any_stage.rows("SELECT count(*) FROM approvals") == [(1,)]


async def test_one_that_is_stopped_while_a_step_is_at_work_leaves_no_question_open(any_stage: Stage) -> None:
    async def stops(_: Any) -> str:
        while not await any_stage.pending():
            await any_stage.written()
        await process.stop()
        return "slow did it"

    slow, more = fake_tool("slow", Effect.WRITE, stops), fake_tool("more", Effect.WRITE)
    process = await process_with(any_stage, SIDE_BY_SIDE, slow, more, rules=ALLOWED)
    async with process.running(), asyncio.timeout(20):
        await command(process, "workflow", "both")
        await process.rest()
    assert await any_stage.states() == [RunState.STOPPED]
    assert await any_stage.pending() == []


async def test_a_question_goes_up_once_however_often_the_others_go_on(any_stage: Stage) -> None:
    slow, more = fake_tool("slow", Effect.WRITE), fake_tool("more", Effect.WRITE)
    process = await process_with(any_stage, SIDE_BY_SIDE, slow, more, rules=ALLOWED)
    async with process.running():
        await command(process, "workflow", "both")
        await process.rest()
    assert (len(slow.calls), len(more.calls)) == (1, 2)
    assert await any_stage.states() == [RunState.PARKED]
    [question] = await any_stage.pending()
    assert sum("Are you sure?" in one for one in await any_stage.screen()) == 1
    async with process.running():
        await process.click(question.id, Choice.FIRST)
        await process.rest()
    assert await any_stage.states() == [RunState.DONE]


@pytest.mark.parametrize("point", ["step-recorded", "approval-stored", "tool-marked", "tool-finished", "workflow-step"])
@pytest.mark.parametrize("hit", sample([2, 3], 1))
async def test_killed_anywhere_it_is_asked_once_and_each_step_is_done_once(
    any_stage: Stage, point: str, hit: int
) -> None:
    slow = fake_tool("slow", Effect.WRITE, idempotent=True)
    more = fake_tool("more", Effect.WRITE, idempotent=True)
    hit = 1 if point == "approval-stored" else hit
    process = await process_with(any_stage, SIDE_BY_SIDE, slow, more, rules=ALLOWED, probe=crash_at(point, hit))
    await command(process, "workflow", "both")
    await process.until_crash()
    process = await process_with(any_stage, SIDE_BY_SIDE, slow, more, rules=ALLOWED)
    async with process.running():
        await process.rest()
        [question] = await any_stage.pending()
        await process.click(question.id, Choice.FIRST)
        await process.rest()
    assert await any_stage.states() == [RunState.DONE]
    assert await any_stage.rows("SELECT count(*) FROM approvals") == [(1,)]
    assert len(slow.calls) <= 2
