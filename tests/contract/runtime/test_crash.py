"""Killed at each named point, and gone on by another process: every accepted message is answered once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import count

import pytest

from runtime.contract import ApprovalKind, Call, Choice, Effect, Json, Outcome, Probe, ToolTurn, no_probe
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import (
    LEASE,
    READ,
    SHELL,
    WRITE,
    Crash,
    FakeTool,
    Process,
    Stage,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned, Strict
from tests.sample import sample

POINTS = ["claimed", "model-answered", "step-recorded", "tool-marked", "tool-finished", "delivery-stored"]
FREE = [Rule(Ruling.ALLOW)]
ROOMS = ["r1", "r2", "r3"]


async def next_life(stage: Stage, model: Strict, *tools: FakeTool, rules: list[Rule] | None = None) -> Process:
    """Another process, after the lease of the one before has ended."""
    stage.clock.advance(LEASE)
    return await stage.process(model, tools, rules=rules or [])


async def killed_in(stage: Stage, tool: FakeTool, call: Call) -> None:
    """Someone asked for `call`, and the process was killed while its tool ran."""

    async def die(arguments: Mapping[str, Json]) -> str:
        raise Crash

    deadly = FakeTool(tool.spec, does=die)
    process = await stage.process(Planned(call), [deadly], rules=FREE)
    await process.say("do it")
    await process.until_crash()
    stage.clock.advance(LEASE)


# ----------------------------------------------------------------------------------------------------- at each point


@pytest.mark.parametrize("point", POINTS)
async def test_a_run_cut_at_any_point_is_answered_once(point: str, any_stage: Stage) -> None:
    """Scenario 10; and 14: every request is valid."""
    model, tool = Planned((READ, READ), READ, end="seen"), fake_tool("look", Effect.READ)
    before = await any_stage.process(model, [tool], probe=crash_at(point))
    await before.say("look")
    await before.until_crash()
    after = await next_life(any_stage, model, tool)
    await after.answer_all()
    assert await any_stage.answers() == ["seen"]


@pytest.mark.parametrize("hit", sample(range(1, 5), 2))
@pytest.mark.parametrize("point", POINTS)
async def test_runs_cut_side_by_side_are_each_answered_once(point: str, hit: int, stage: Stage) -> None:
    """Scenario 10: the kill meets several rooms, each somewhere else."""
    model, tool = Planned((READ, READ), READ, end="seen"), fake_tool("look", Effect.READ)
    before = await stage.process(model, [tool], probe=crash_at(point, hit))
    for room in ["r1", "r2", "r3", "r4"]:
        await before.say("look", room=room)
    await before.until_crash()
    after = await next_life(stage, model, tool)
    await after.answer_all()
    assert [await stage.answers(room) for room in ["r1", "r2", "r3", "r4"]] == [["seen"]] * 4


async def test_a_message_whose_acknowledgement_was_cut_is_answered_once(any_stage: Stage) -> None:
    """Scenario 10: killed right after acceptance; the platform tells of it again."""
    before = await any_stage.process(Planned(end="hello"), probe=crash_at("accepted"))
    with pytest.raises(Crash):
        await before.say("hi", key="e-1")
    after = await next_life(any_stage, Planned(end="hello"))
    assert (await after.say("hi", key="e-1")).outcome is Outcome.DUPLICATE
    await after.answer_all()
    assert await any_stage.answers() == ["hello"]


@pytest.mark.parametrize("point", ["approval-stored", "approval-decided", "accepted", "claimed"])
async def test_an_approved_call_runs_once_whatever_is_cut_around_its_question(point: str, any_stage: Stage) -> None:
    """Scenarios 10 and 23."""
    model, tool = Planned(SHELL, end="Linux"), fake_tool("shell", Effect.DANGER)
    asking = await any_stage.process(
        model, [tool], probe=crash_at(point) if point == "approval-stored" else crash_at("")
    )
    await asking.say("run uname")
    await (asking.until_crash() if point == "approval-stored" else asking.answer_all())
    [asked] = await any_stage.pending()
    deciding = await any_stage.process(model, [tool], probe=crash_at(point))
    if point in ("approval-decided", "accepted"):
        with pytest.raises(Crash):
            await deciding.click(asked.id, key="click-1")
    else:
        await deciding.click(asked.id, key="click-1")
        await (deciding.until_crash() if point == "claimed" else deciding.answer_all())
    after = await next_life(any_stage, model, tool)
    await after.click(asked.id, key="click-1")
    await after.answer_all()
    assert tool.calls == [{"command": "uname -a"}]
    assert await any_stage.answers() == ["Linux"]


def crash_by_chance(chance: random.Random) -> Probe:
    """A probe that kills at some pass, whatever the point."""
    left = count(chance.randint(1, 12), -1)

    def probe(point: str) -> None:
        if next(left) == 1:
            raise Crash(point)

    return probe


async def was_cut(process: Process) -> bool:
    """One life: everything is said once more, people answer what is asked, and all work is done, unless it is cut."""
    write = process.tools["write"]
    try:
        for room in ROOMS:
            await process.say("do it", room=room, key=f"e-{room}")
        for asked in await process.stage.pending():
            happened = asked.session in write.sessions  # a person looks before answering
            unknown = Choice.DONE if happened else Choice.AGAIN
            choice = Choice.APPROVE if asked.kind is ApprovalKind.CALL else unknown
            await process.click(asked.id, choice, room=asked.address.room)
        await process.answer_all()
    except Crash:
        return True
    except BaseExceptionGroup as group:
        if group.split(Crash)[1]:
            raise
        return True
    return False


@pytest.mark.parametrize("seed", sample(range(25), 10))
async def test_any_row_of_kills_loses_nothing_and_repeats_no_effect(seed: int, stage: Stage) -> None:
    """Scenario 10: life after life is cut at a point left to chance; people answer what nobody else can know."""
    chance, model = random.Random(seed), Planned((READ, READ), WRITE, READ, end="done")
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE)
    for life in range(30):
        stage.clock.advance(LEASE)
        probe = crash_by_chance(chance) if life < 15 else no_probe
        process = await stage.process(model, [look, write], probe=probe)
        if not await was_cut(process) and not await stage.pending():
            break
    assert [await stage.answers(room) for room in ROOMS] == [["done"]] * 3
    assert sorted(write.sessions) == [f"main|page:main/{room}" for room in ROOMS]


# ------------------------------------------------------------------------------------------ cut in a tool with effects


async def test_a_tool_with_effects_that_was_cut_is_not_run_again_but_asked_about(any_stage: Stage) -> None:
    """Scenario 19."""
    tool = fake_tool("write", Effect.WRITE)
    await killed_in(any_stage, tool, WRITE)
    after = await next_life(any_stage, Planned(WRITE), tool, rules=FREE)
    await after.answer_all()
    assert tool.calls == []
    [asked] = await any_stage.pending()
    assert asked.kind is ApprovalKind.OUTCOME
    [card] = await any_stage.screen()
    assert all(f"[{label}]" in card for label in ("It was done", "Run again", "Skip it"))


@pytest.mark.parametrize(
    ("choice", "runs", "told"),
    [
        (Choice.DONE, 0, "The call was cut off. Ada says that it was carried out; its output is lost."),
        (Choice.SKIP, 0, "The call was cut off and its outcome is unknown. Ada says to go on without it."),
        (Choice.AGAIN, 1, "write did it"),
    ],
)
async def test_what_a_person_says_about_a_cut_call_is_what_happens(
    choice: Choice, runs: int, told: str, stage: Stage
) -> None:
    """Scenario 19."""
    tool, model = fake_tool("write", Effect.WRITE), Planned(WRITE, end="so be it")
    await killed_in(stage, tool, WRITE)
    after = await next_life(stage, model, tool, rules=FREE)
    await after.answer_all()
    [asked] = await stage.pending()
    await after.click(asked.id, choice)
    await after.answer_all()
    assert len(tool.calls) == runs
    assert [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)] == [told]
    assert await stage.answers() == ["so be it"]


async def test_a_call_run_again_and_cut_again_is_asked_about_again(stage: Stage) -> None:
    """Scenario 19."""
    tool = fake_tool("write", Effect.WRITE)
    await killed_in(stage, tool, WRITE)
    second = await stage.process(Planned(WRITE), [tool], rules=FREE, probe=crash_at("tool-finished"))
    async with second.running():
        await second.rest()
    [asked] = await stage.pending()
    await second.click(asked.id, Choice.AGAIN)
    await second.until_crash()
    third = await next_life(stage, Planned(WRITE), tool, rules=FREE)
    await third.answer_all()
    [again] = await stage.pending()
    assert again.id != asked.id
    assert len(tool.calls) == 1


async def test_calls_before_a_cut_one_are_done_and_those_behind_it_wait(stage: Stage) -> None:
    """Scenario 19: order holds, so nothing overtakes a call whose outcome nobody knows."""

    async def die_at_two(arguments: Mapping[str, Json]) -> str:
        if len(tool.calls) == 2:
            raise Crash
        return "written"

    tool, model = fake_tool("write", Effect.WRITE, die_at_two), Planned((WRITE, WRITE, WRITE))
    before = await stage.process(model, [tool], rules=FREE)
    await before.say("write three times")
    await before.until_crash()
    after = await next_life(stage, model, tool, rules=FREE)
    await after.answer_all()
    assert len(tool.calls) == 2
    [asked] = await stage.pending()
    await after.click(asked.id, Choice.DONE)
    await after.answer_all()
    assert len(tool.calls) == 3
    assert await stage.answers() == ["done"]


async def test_a_tool_that_only_reads_and_was_cut_is_run_again(stage: Stage) -> None:
    """Scenario 19."""
    tool = fake_tool("look", Effect.READ)
    await killed_in(stage, tool, READ)
    after = await next_life(stage, Planned(READ, end="seen"), tool, rules=FREE)
    await after.answer_all()
    assert len(tool.calls) == 1
    assert await stage.answers() == ["seen"]


async def test_an_idempotent_tool_that_was_cut_is_run_again(stage: Stage) -> None:
    """Scenario 19."""
    tool = fake_tool("write", Effect.WRITE, idempotent=True)
    await killed_in(stage, tool, WRITE)
    after = await next_life(stage, Planned(WRITE, end="written"), tool, rules=FREE)
    await after.answer_all()
    assert len(tool.calls) == 1
    assert await stage.answers() == ["written"]


async def test_an_approved_call_cut_before_it_began_needs_no_second_approval(stage: Stage) -> None:
    """Scenario 23."""
    tool, model = fake_tool("shell", Effect.DANGER), Planned(SHELL, end="Linux")
    asking = await stage.process(model, [tool])
    await asking.say("run uname")
    await asking.answer_all()
    [asked] = await stage.pending()
    deciding = await stage.process(model, [tool], probe=crash_at("claimed"))
    await deciding.click(asked.id)
    await deciding.until_crash()
    after = await next_life(stage, model, tool)
    await after.answer_all()
    assert len(tool.calls) == 1
    assert await stage.answers() == ["Linux"]


async def test_two_equal_calls_of_which_one_was_cut_both_have_a_result(stage: Stage) -> None:
    """Scenario 14."""
    tool, model = fake_tool("look", Effect.READ), Planned((READ, READ), end="seen")
    before = await stage.process(model, [tool], probe=crash_at("tool-finished", 2))
    await before.say("look twice")
    await before.until_crash()
    after = await next_life(stage, model, tool)
    await after.answer_all()
    results = [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert [turn.text for turn in results] == ["look did it"] * 2
    assert await stage.answers() == ["seen"]


async def test_a_tool_that_is_gone_after_a_restart_tells_the_model(stage: Stage) -> None:
    """Scenario 15."""
    model = Planned(READ, end="a pity")
    before = await stage.process(model, [fake_tool("look", Effect.READ)], probe=crash_at("step-recorded"))
    await before.say("look")
    await before.until_crash()
    after = await next_life(stage, model)
    await after.answer_all()
    assert [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)] == [
        "error: there is no tool 'look' any more."
    ]
    assert await stage.answers() == ["a pity"]
