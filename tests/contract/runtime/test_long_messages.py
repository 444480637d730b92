"""Messages and results larger than the window: both ends are sent, and all of it lies in a file of the conversation."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from datetime import timedelta

import pytest

from runtime.contract import Call, Effect, Json, ModelRequest, ToolTurn, UserTurn
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import Crash, Stage, address, crash_at, fake_tool
from tests.contract.runtime.windowed import Windowed, chatter, heard, life, said

LOOK = Call("c1", "look", "{}")


@pytest.mark.parametrize("letters", [40_000, 5_000_000])
async def test_a_message_larger_than_the_window_is_taken_head_and_tail(stage: Stage, letters: int) -> None:
    model = Windowed()
    process = await life(stage, model)
    message = f"BEGIN {'x' * letters} END"
    await said(process, message, "thanks")
    first, second = await stage.answers()
    assert first.startswith("Yes.\n\nYour message has ")
    assert "inbox/long/message-1.txt" in first
    assert second == "Yes.", "the person is told once"
    [turn] = model.requests[0].turns
    assert isinstance(turn, UserTurn)
    assert turn.text.startswith("BEGIN")
    assert " END\n" in turn.text
    assert "left out here" in turn.text
    assert "inbox/long/message-1.txt" in turn.text
    folder = stage.workspaces.folder(address("r1"))
    assert (folder / "inbox/long/message-1.txt").read_text() == message


async def test_a_kill_between_the_file_and_the_answer_tells_the_person_once(any_stage: Stage) -> None:
    model = Windowed()
    process = await life(any_stage, model, probe=crash_at("model-answered"))
    with pytest.raises(BaseExceptionGroup) as died:
        await said(process, "x" * 40_000)
    assert died.group_contains(Crash)
    any_stage.clock.advance(timedelta(minutes=1))
    process = await life(any_stage, model)
    async with process.running():
        await process.rest()
    [answer] = await any_stage.answers()
    assert answer.count("inbox/long/message-1.txt") == 1
    assert model.requests[0].turns == model.requests[1].turns


async def test_a_file_that_a_tool_stands_in_the_way_of_costs_nobody_their_answer(stage: Stage) -> None:
    folder = stage.workspaces.folder(address("r1"))
    (folder / "inbox").symlink_to("/etc")
    process = await life(stage, Windowed())
    await said(process, "x" * 40_000)
    [answer] = await stage.answers()
    assert answer.startswith("Yes.")


async def test_a_result_beyond_its_bound_lies_whole_in_a_file(any_stage: Stage) -> None:
    async def look(_: Mapping[str, Json]) -> str:
        return "first\n" + "y" * 60_000 + "\nlast"

    def works(request: ModelRequest) -> str | Call:
        return "Seen." if isinstance(request.turns[-1], ToolTurn) else LOOK

    model = Windowed(works, window=100_000)
    process = await life(any_stage, model, fake_tool("look", Effect.READ, look), window=100_000)
    await said(process, "look")
    result = model.requests[-1].turns[-1]
    assert len(result.text) <= 50_000
    assert result.text.startswith("first")
    assert "last" in result.text
    [file] = (any_stage.workspaces.folder(address("r1")) / "inbox/long").iterdir()
    assert f"inbox/long/{file.name}" in result.text
    assert file.read_text() == "first\n" + "y" * 60_000 + "\nlast"


async def test_a_result_of_fifty_megabytes_takes_no_more_memory_than_itself(stage: Stage) -> None:
    whole = "z" * 50_000_000

    async def look(_: Mapping[str, Json]) -> str:
        return whole

    def works(request: ModelRequest) -> str | Call:
        return "Seen." if isinstance(request.turns[-1], ToolTurn) else LOOK

    process = await life(stage, Windowed(works), fake_tool("look", Effect.READ, look))
    tracemalloc.start()
    try:
        await said(process, "look")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert await stage.answers() == ["Seen."]
    assert peak < 20_000_000
    [file] = (stage.workspaces.folder(address("r1")) / "inbox/long").glob("result-0*")
    assert file.stat().st_size == len(whole)


async def test_ten_thousand_long_lines_are_no_reason_to_fail(stage: Stage) -> None:
    """A result larger than the window, in a loop that goes on."""
    calls: list[int] = []

    async def look(_: Mapping[str, Json]) -> str:
        calls.append(1)
        return f"{len(calls)} " + "日" * 6_000

    def works(request: ModelRequest) -> str | Call:
        return "Seen." if len(calls) == 12 else Call(f"c{len(calls)}", "look", f'{{"n": {len(calls)}}}')

    model = Windowed(works)
    rules = [Rule(Ruling.ALLOW, "look")]
    process = await life(stage, model, fake_tool("look", Effect.READ, look), rules=rules)
    await said(process, "look twelve times", *chatter(2))
    assert (await stage.answers())[0] == "Seen."
    assert model.refused == 0
    assert "look twelve times" in heard(model.requests[11])
