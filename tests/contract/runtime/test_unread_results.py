"""A run waits while others speak: its model reads what it waited for, whatever was condensed in between."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from runtime.context import handoff
from runtime.contract import Call, ChildState, Effect, Json, ModelReply, ModelRequest, OnText
from runtime.domain.runs import RunState
from runtime.domain.transcript import OURS
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import UMA, Crash, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.test_delegation import BOTH, children, order
from tests.contract.runtime.windowed import TASKS, Windowed, chatter, heard, kept, life

GOAL: Final = "Count the apples."
APPLES: Final = "There are 7,341 apples."
RESULT: Final = f"{'We counted. ' * 350}{APPLES} {'So we did. ' * 250}"
"""Nearly half of the window, with what matters in its middle: whatever cuts it loses that."""


class Counting(Windowed):
    """Hands on what it is asked first. Its child answers once it is `free`, and a summary names nothing but its number."""

    def __init__(self, **more: Any) -> None:
        super().__init__(self._said, **more)
        self.free = asyncio.Event()
        self.looking = asyncio.Event()

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if is_child(request):
            await self.free.wait()
        return await super().reply(request, on_text)

    def _said(self, request: ModelRequest) -> str | Call:
        newest = request.turns[-1].text
        if is_child(request):
            return RESULT
        if newest.endswith("how many apples?"):
            return order(goal=GOAL)
        if newest.endswith("look around"):
            return Call("look-1", "look", "{}")
        if newest.startswith(OURS):
            return APPLES if APPLES in heard(request) else "I don't know."
        return "Yes."


def is_child(request: ModelRequest) -> bool:
    return GOAL in request.turns[0].text and not request.system.startswith(TASKS)


async def answered(stage: Stage, count: int) -> None:
    async with asyncio.timeout(20):
        while len(await stage.answers()) < count:
            await stage.written()


async def overtaken(process: Process, before: int, spoken: int, letters: int = 400) -> None:
    """After some words somebody asks what takes its time, and others speak meanwhile."""
    texts = chatter(before + spoken, letters)
    for number, text in enumerate(texts[:before], 1):
        await process.say(text)
        await answered(process.stage, number)
    await process.say("how many apples?")
    async with asyncio.timeout(20):
        while not await children(process.stage):
            await process.stage.written()
    for number, text in enumerate(texts[before:], before + 1):
        await process.say(text, who=UMA)
        await answered(process.stage, number)


async def until_answered(process: Process, model: Counting) -> None:
    async with process.running():
        await overtaken(process, 8, 12)
        model.free.set()
        await process.rest()
        raise Crash("nothing was summarised")


@pytest.mark.parametrize(("before", "spoken"), [(0, 10), (0, 20), (8, 12), (8, 40)])
async def test_what_came_while_a_run_waited_is_read_before_it_is_condensed(
    any_stage: Stage, before: int, spoken: int
) -> None:
    """By its place it would be shortened, be a line of an extract, go into a summary; or others did that while it waited."""
    process = await life(any_stage, model := Counting(), *BOTH)
    async with process.running():
        await overtaken(process, before, spoken)
        model.free.set()
        await process.rest()
    assert (await any_stage.answers())[-1] == APPLES
    assert model.refused == 0


async def test_what_came_is_read_after_a_kill_between_the_summary_and_the_answer(any_stage: Stage) -> None:
    process = await life(any_stage, model := Counting(), *BOTH, probe=crash_at("summary-made"))
    with pytest.raises(BaseExceptionGroup) as died:
        await until_answered(process, model)
    assert died.group_contains(Crash)
    assert len(await kept(any_stage)) == 1
    process = await life(any_stage, again := Counting(), *BOTH)
    again.free.set()
    async with process.running():
        await process.rest()
    assert APPLES in await any_stage.answers()
    assert "I don't know." not in await any_stage.answers()


async def test_a_summary_by_anothers_run_made_once_the_result_is_there_carries_it(any_stage: Stage) -> None:
    """The run is ready, and its lane has the run of somebody else, whose model has the conversation condensed."""

    async def looks(_: Mapping[str, Json]) -> str:
        model.looking.set()
        async with asyncio.timeout(20):
            while (await children(any_stage)) != [("main", ChildState.DONE)]:
                await any_stage.written()
        return "It is large here. " * 400

    look = fake_tool("look", Effect.READ, looks)
    process = await life(any_stage, model := Counting(), *BOTH, look)
    async with process.running():
        await overtaken(process, 8, 8)
        assert await kept(any_stage) == []
        await process.say("look around", who=UMA)
        await model.looking.wait()
        model.free.set()
        await process.rest()
    first, *_ = await kept(any_stage)
    call = await any_stage.rows("SELECT number FROM turns WHERE calls LIKE '%delegate%'")
    assert first[-1] > call[0][0], "the summary goes beyond the call"
    assert (await any_stage.answers())[-2:] == ["Yes.", APPLES]


async def test_a_new_beginning_carries_what_came_and_was_not_read(any_stage: Stage) -> None:
    """The vendor's window is a third of what it says: nothing less than a handoff makes room."""
    process = await life(any_stage, model := Counting(window=4_000), *BOTH, window=12_000)
    async with process.running():
        await overtaken(process, 2, 24, 500)
        model.free.set()
        await process.rest()
    assert (await any_stage.answers())[-1] == APPLES
    assert model.refused > 0


async def test_results_that_together_are_larger_than_the_window_are_told_of_and_lie_in_files(any_stage: Stage) -> None:
    calls = tuple(Call(f"c{number}", "dump", f'{{"part": {number}}}') for number in range(4))

    async def dump(_: Mapping[str, Json]) -> str:
        return RESULT

    model = Windowed(lambda request: "Read." if request.turns[-1].text != "dump it" else calls)
    tool = fake_tool("dump", Effect.READ, dump)
    process = await life(any_stage, model, tool, rules=[Rule(Ruling.ALLOW, "dump")])
    await process.say("dump it")
    await process.answer_all()
    assert await any_stage.answers() == ["Read."]
    assert model.refused == 0
    told = heard(model.requests[-1])
    numbers = [number for (number,) in await any_stage.rows("SELECT number FROM turns WHERE role = 'tool'")]
    assert len(numbers) == 4
    for number in numbers:
        assert f"All of it is in inbox/long/result-{number}.txt" in told
        [found] = any_stage.workspaces.of("main").root.rglob(f"result-{number}.txt")
        assert found.read_text() == RESULT
    assert await any_stage.states() == [RunState.DONE]
    assert handoff.TASK not in str(model.requests)
