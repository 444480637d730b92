"""What a conversation begins with when somebody comes back to it after a day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from runtime.agent.registry import Limits
from runtime.context.resting import Rest, Restore
from runtime.contract import Call, Choice, Effect, ModelRequest
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import SHELL, Crash, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.windowed import Windowed, chatter, heard, life, said

DAY = timedelta(hours=24)
OLD = [f"old {number}" for number in range(20)]
WRITE = Call("w1", "write", '{"path": "a.txt"}')


async def rested(stage: Stage, model: Windowed, restore: Restore, silence: timedelta = DAY, **more: Any) -> Process:
    """Twenty messages with a write and an open question among them, a silence, and the process of afterwards."""
    write, shell = fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)
    limits = Limits(rest=Rest(DAY, restore), approval_time=timedelta(days=30))
    given: dict[str, Any] = {"limits": limits, "window": 100_000, "rules": [Rule(Ruling.ALLOW, "write")]}
    process = await life(stage, model, write, shell, **given)
    await said(process, *OLD, "write it", "run it")
    stage.clock.advance(silence)
    return await life(stage, model, write, shell, **{**given, **more})


def works(request: ModelRequest) -> str | Call:
    match request.turns[-1].text:
        case "write it":
            return WRITE
        case "run it":
            return SHELL
        case _:
            return "Yes."


@pytest.mark.parametrize(
    ("restore", "known"),
    [(Restore.TRANSCRIPT, 20), (Restore.WINDOW, 1), (Restore.SUMMARY, 0), (Restore.NONE, 0)],
)
async def test_after_a_day_is_known_what_the_settings_say_and_always_what_was_done_and_what_waits(
    any_stage: Stage, restore: Restore, known: int
) -> None:
    model = Windowed(works, window=100_000)
    process = await rested(any_stage, model, restore)
    await said(process, "and now?")
    text, turns = heard(model.requests[-1]), model.requests[-1].turns
    assert sum(f"old {number}" in [turn.text for turn in turns] for number in range(20)) == known
    assert len(model.summaries) == (restore is Restore.SUMMARY)
    assert ("Record 1: much was said" in text) == (restore is Restore.SUMMARY)
    assert "a.txt" in text + str(turns), "what was done is known"
    assert "uname -a" in text + str(turns), "what waits is known"
    assert turns[-1].text.endswith("and now?")


@pytest.mark.parametrize("restore", [Restore.WINDOW, Restore.SUMMARY, Restore.NONE])
async def test_before_a_day_is_over_nothing_is_left_out(stage: Stage, restore: Restore) -> None:
    model = Windowed(works, window=100_000)
    process = await rested(stage, model, restore, DAY - timedelta(minutes=1))
    await said(process, "and now?")
    assert all(f"old {number}" in heard(model.requests[-1]) for number in range(20))


@pytest.mark.parametrize("restore", list(Restore))
async def test_a_kill_after_a_rest_changes_nothing(stage: Stage, restore: Restore) -> None:
    model = Windowed(works, window=100_000)
    process = await rested(stage, model, restore, probe=crash_at("model-answered"))
    with pytest.raises(BaseExceptionGroup) as died:
        await said(process, "and now?")
    assert died.group_contains(Crash)
    stage.clock.advance(timedelta(minutes=1))
    limits = Limits(rest=Rest(DAY, restore), approval_time=timedelta(days=30))
    tools = fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)
    process = await life(stage, model, *tools, limits=limits, window=100_000)
    async with process.running():
        await process.rest()
    before, after = model.requests[-2:]
    assert before == after or (before.system, before.turns) == (after.system, after.turns)


async def test_an_answer_that_came_after_a_rest_goes_on_with_the_whole_request(any_stage: Stage) -> None:
    """The run that waited knows all it knew, and its own words are never behind the rest."""
    model = Windowed(works, window=100_000)
    process = await rested(any_stage, model, Restore.NONE)
    [question] = await any_stage.pending()
    async with process.running():
        await process.say("and now?")
        await process.rest()
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
    last = model.requests[-1]
    assert "run it" in heard(last)
    assert "shell did it" in heard(last)


async def test_a_talk_goes_on_from_its_rest(stage: Stage) -> None:
    model = Windowed(window=100_000)
    limits = Limits(rest=Rest(DAY, Restore.NONE))
    process = await life(stage, model, limits=limits, window=100_000)
    await said(process, *OLD)
    stage.clock.advance(DAY)
    await said(process, *chatter(5, 50), "the last")
    texts = [turn.text for turn in model.requests[-1].turns]
    assert len(texts) == 11
    assert texts[-1] == "the last"
