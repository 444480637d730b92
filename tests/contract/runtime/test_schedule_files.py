"""Files of scheduled work reach its rooms."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.contract import (
    Effect,
    FileRef,
    ToolContext,
)
from runtime.store.protocol import Stock
from tests.contract.runtime.planning import ELSEWHERE, HOME, HOUR, contents, desk
from tests.contract.runtime.stage import (
    Stage,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Strict


class Painter:
    """A tool that puts a file onto the reply."""

    def __init__(self) -> None:
        self.inner = fake_tool("look", Effect.READ)
        self.spec = self.inner.spec

    async def call(self, arguments: object, context: ToolContext) -> str:
        (context.workspace / "chart.png").write_bytes(b"PNG")
        context.attach(FileRef("chart.png", "chart.png", 3, mime="image/png"))
        return "drawn"

    def caution(self) -> str:
        return ""


@pytest.mark.parametrize("point", ["", "model-answered"])
async def test_what_a_tool_puts_onto_the_reply_is_on_it_also_after_a_kill(any_stage: Stage, point: str) -> None:
    from tests.contract.runtime.stage import READ

    probe = crash_at(point, 2) if point else crash_at("never")
    process = await any_stage.process(Strict([READ, "here it is"]), [Painter()], probe=probe)  # type: ignore[list-item]
    await process.say("draw")
    if point:
        await process.until_crash()
        process = await any_stage.process(Strict(["here it is"]), [Painter()])  # type: ignore[list-item]
    await process.answer_all()
    [content] = await contents(any_stage)
    assert [(file.name, file.path) for file in content.files] == [("chart.png", "chart.png")]


async def test_a_file_reaches_every_destination(stage: Stage) -> None:
    from tests.contract.runtime.stage import READ

    at = await desk(stage, Strict([READ, "here it is"]), Painter())
    await at.plan(to=[HOME, ELSEWHERE])
    await at.fire()
    assert [len(content.files) for content in await contents(stage)] == [1, 1]
    for room in (HOME, ELSEWHERE):
        with stage.workspaces.open(room, "chart.png") as file:
            assert file.read() == b"PNG"


async def test_old_instants_go_and_the_last_that_was_done_stays(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["one", "two", "three"]))
    planned = await at.plan("every hour")
    for _ in range(3):
        await at.fire()
    await at.process.booking.pause(planned.id, await at.asker())
    any_stage.clock.advance(300 * HOUR)
    duty = await any_stage.store.cluster.take(at.process.lease, "retention")
    assert duty
    for stock in (Stock.OCCURRENCES, Stock.EVENTS):
        await any_stage.store.retention.sweep(duty, stock, None, any_stage.clock() - 100 * HOUR)
    assert [one.result for one in await at.history(planned) if one.result] == ["three"]
    assert await any_stage.rows("SELECT count(*) FROM signals WHERE kind = 'due'") == [(0,)]


async def test_one_that_is_over_gives_its_name_back_and_goes_with_its_last_instant(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["reminded"] * 2))
    for _ in range(2):
        await at.plan("in 20 minutes", name="stretch")
        await at.fire(timedelta(minutes=20))
    duty = await any_stage.store.cluster.take(at.process.lease, "retention")
    assert duty
    any_stage.clock.advance(300 * HOUR)
    for stock in (Stock.OCCURRENCES, Stock.SCHEDULES):
        await any_stage.store.retention.sweep(duty, stock, None, any_stage.clock() - 100 * HOUR)
    assert await any_stage.store.schedules.schedules() == []
