"""`/compact` and `/context`: a conversation is condensed when somebody asks, once, and how full it is can be read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.chat.views import context as context_views
from runtime.context.sizes import of_tool, of_turns
from runtime.contract import Call, Effect
from tests.contract.runtime.stage import Crash, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.windowed import Windowed, chatter, kept, life, said

WIDE = 100_000


async def talked(stage: Stage, model: Windowed, count: int = 40) -> Process:
    process = await life(stage, model, window=WIDE)
    await said(process, *chatter(count))
    return process


async def compacted(process: Process) -> None:
    """Give the command, and let what it leads to happen."""
    async with process.running():
        await process.say("/compact")
        await process.compactor.look()
        await process.rest()


async def test_a_person_has_a_conversation_condensed(any_stage: Stage) -> None:
    model = Windowed(window=WIDE)
    process = await talked(any_stage, model)
    await compacted(process)
    assert await kept(any_stage) == [("model", 0, 70)]
    assert len(model.summaries) == 1
    words = (await any_stage.screen())[-1]
    assert words.startswith("Condensed: 70 turns, about ")
    assert await any_stage.audit("condensed")
    await said(process, "go on")
    assert "Record 1" in model.requests[-1].turns[0].text
    assert len(model.requests[-1].turns) == 11  # the record with the first of ten, and the new one


async def test_its_cost_is_put_down_once(any_stage: Stage) -> None:
    process = await talked(any_stage, Windowed(window=WIDE))
    before = (await any_stage.rows("SELECT count(*) FROM usage"))[0][0]
    await compacted(process)
    assert (await any_stage.rows("SELECT count(*) FROM usage"))[0][0] == before + 1


async def test_there_may_be_nothing_to_condense(any_stage: Stage) -> None:
    model = Windowed(window=WIDE)
    process = await talked(any_stage, model, 5)
    await compacted(process)
    assert (await any_stage.screen())[-1] == context_views.NOTHING
    assert model.summaries == []


async def test_twice_in_a_row_it_is_done_once(any_stage: Stage) -> None:
    model = Windowed(window=WIDE)
    process = await talked(any_stage, model)
    async with process.running():
        await process.say("/compact")
        await process.say("/compact")
        await process.rest()
        assert (await any_stage.screen())[-1] == context_views.AT_IT
        await process.compactor.look()
        await process.compactor.look()
        await process.say("/compact")
        await process.rest()
    assert (await any_stage.screen())[-1] == context_views.NOTHING
    assert len(model.summaries) == 1


async def test_it_waits_for_the_work_at_hand(any_stage: Stage) -> None:
    process: Process
    seen: list[str] = []

    async def while_at_work(_: object) -> str:
        await process.say("/compact")
        await process.compactor.look()
        seen.append(f"{len(model.summaries)} summaries")
        return "done"

    model = Windowed(
        lambda request: Call("c1", "work", "{}") if request.turns[-1].text == "work" else "Yes.", window=WIDE
    )
    process = await life(any_stage, model, fake_tool("work", Effect.READ, while_at_work), window=WIDE)
    await said(process, *chatter(40), "work")
    assert seen == ["0 summaries"]
    assert context_views.AFTERWARDS in await any_stage.screen()
    async with process.running():
        await process.compactor.look()
        await process.rest()
    assert len(model.summaries) == 1
    assert (await any_stage.screen())[-1].startswith("Condensed: ")


@pytest.mark.parametrize("point", ["compacting-begun", "compacted"])
async def test_a_kill_pays_for_no_summary_that_is_there(any_stage: Stage, point: str) -> None:
    model = Windowed(window=WIDE)
    await talked(any_stage, model)
    process = await life(any_stage, model, window=WIDE, probe=crash_at(point))
    with pytest.raises((Crash, BaseExceptionGroup)):
        await compacted(process)
    any_stage.clock.advance(timedelta(minutes=1))
    process = await life(any_stage, model, window=WIDE)
    async with process.running():
        await process.compactor.look()
        await process.rest()
    assert len(model.summaries) == 1
    assert len(await kept(any_stage)) == 1
    told = [words for words in await any_stage.screen() if words.startswith("Condensed")]
    assert len(told) == 1


async def test_a_model_that_fails_leaves_an_extract_and_says_so(stage: Stage) -> None:
    process = await talked(stage, Windowed(condenses=lambda _: "", window=WIDE))
    await compacted(process)
    assert "each turn became one line" in (await stage.screen())[-1]
    assert [kind for kind, *_ in await kept(stage)] == ["extract"]


async def test_context_tells_how_full_the_window_is(any_stage: Stage) -> None:
    model = Windowed(window=WIDE)
    tool = fake_tool("look", Effect.READ)
    process = await life(any_stage, model, tool, window=WIDE)
    await said(process, *chatter(40), "/context")
    words = (await any_stage.screen())[-1]
    history = of_turns(model.requests[-1].turns) + 4 + 1 + len("Yes.") // 4
    assert f"- history: {history:,} tokens" in words
    assert f"- tools: {of_tool(tool.spec)} tokens" in words
    assert "- memory: nothing" in words
    assert "of its window of 100,000" in words
    assert "There's no summary here yet." in words
    assert "`/compact` condenses 70 older turns now." in words
    await compacted(process)
    await said(process, "/context")
    words = (await any_stage.screen())[-1]
    assert "Last condensed just now, in a summary by the model: 70 turns" in words
    assert "The only summary here." in words
