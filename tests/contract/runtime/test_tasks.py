"""Work in the background: begun at once, done beside the room's lane, and its end told exactly once."""

from __future__ import annotations

import pytest

from runtime.contract import Effect, ModelReply, ModelRequest, OnText, Said, TaskState
from runtime.errors import ModelFailed
from tests.contract.runtime.stage import ADA, LEASE, READ, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Planned, Strict

POINTS = ["accepted", "claimed", "model-answered", "step-recorded", "tool-marked", "tool-finished", "delivery-stored"]
TOLD = "**Task done: compare the offers**\n\nTake the second."


class Failing(Strict):
    """A model whose vendor never answers."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked = 0

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.asked += 1
        raise ModelFailed("The model is away.")


@pytest.mark.parametrize("point", POINTS)
async def test_a_task_that_is_cut_at_any_point_is_done_and_told_once(point: str, any_stage: Stage) -> None:
    model, tool = Planned(READ, end="Take the second."), fake_tool("look", Effect.READ)
    before = await any_stage.process(model, [tool], probe=crash_at(point))
    said = any_stage.signal(Said("/task compare the offers"), ADA, "r1", "t-1")
    try:
        await before.reception.sink(said)
        await before.until_crash()
    except BaseException as error:
        if type(error).__name__ != "Crash":
            raise
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(model, [tool])
    await after.reception.sink(said)
    await after.answer_all()
    told = await any_stage.answers()
    assert [text.partition(" (")[0] for text in told] == ["I'm on it: task **compare the offers**", TOLD]
    [task] = await any_stage.store.tasks.tasks()
    assert (task.state, task.result, task.attempts) == (TaskState.DONE, "Take the second.", 1)
