"""What reaches the agent at work: interruptions, threads that were joined, commands, rooms with ways of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bot.testing.scripted import held
from runtime.contract import Address, Addressing, Busy, Choice, Commanded, Effect, Json, Outcome, Said, Urgency, Verdict
from runtime.domain.routing import Attention, RoomRule, RoomRules
from runtime.domain.runs import RunState
from tests.contract.runtime.stage import ADA, READ, SHELL, UMA, WRITE, Process, Stage, address, fake_tool
from tests.contract.runtime.strict import Strict

THREAD = Address("page", "main", "r1", "17.0")


async def urgent(process: Process, words: str = "fire!", urgency: Urgency = Urgency.HIGH) -> Verdict:
    signal = process.stage.signal(Said(words), UMA, "r1")
    return await process.reception.sink(replace(signal, urgency=urgency))


async def in_thread(process: Process, words: str, reach: Addressing) -> Verdict:
    signal = process.stage.signal(Said(words), ADA, "r1")
    return await process.reception.sink(replace(signal, address=THREAD, reach=reach, joinable=True))


async def command(process: Process, name: str) -> Verdict:
    return await process.reception.sink(process.stage.signal(Commanded(name), ADA, "r1"))


# -------------------------------------------------------------------------------------------------------- interruptions


@pytest.mark.parametrize("busy", list(Busy))
async def test_something_urgent_cuts_a_model_call_and_is_answered_next(busy: Busy, any_stage: Stage) -> None:
    """Scenario 9."""
    never = held("too late")
    process = await any_stage.process(Strict([never, "on my way"]), busy=busy)
    async with process.running():
        await process.say("write a poem")
        await never.begun.wait()
        assert (await urgent(process)).outcome is Outcome.ACCEPTED
        await process.rest()
    assert await any_stage.answers() == ["Stopped here.", "on my way"]
    assert await any_stage.states() == [RunState.STOPPED, RunState.DONE]
    assert [run.signals for run in await any_stage.runs()] == [("write a poem",), ("fire!",)]


async def test_something_urgent_cuts_a_read(stage: Stage) -> None:
    """Scenario 9."""

    async def for_ever(arguments: Mapping[str, Json]) -> str:
        await asyncio.Event().wait()
        raise AssertionError("for ever has passed")

    process = await stage.process(Strict([READ, "on my way"]), [fake_tool("look", Effect.READ, for_ever)])
    async with process.running():
        await process.say("look for ever")
        await process.begun("look")
        await urgent(process, urgency=Urgency.CRITICAL)
        await process.rest()
    assert await stage.answers() == ["Stopped here.", "on my way"]


async def test_something_urgent_lets_a_tool_with_effects_end(stage: Stage) -> None:
    """Scenario 9."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def write(arguments: Mapping[str, Json]) -> str:
        begun.set()
        await go_on.wait()
        return "written whole"

    process = await stage.process(Strict([WRITE, "on my way"]), [fake_tool("write", Effect.WRITE, write)])
    async with process.running():
        await process.say("write it")
        await process.rest()
        [asked] = await stage.pending()
        await process.click(asked.id)
        await begun.wait()
        await urgent(process)
        await asyncio.sleep(0.02)
        assert await stage.answers() == []
        go_on.set()
        await process.rest()
    assert await stage.answers() == ["Stopped here. `write` was already running, so I let it finish.", "on my way"]
    assert await stage.rows("SELECT result FROM steps WHERE kind = 'tool'") == [("written whole",)]


async def test_something_urgent_leaves_a_question_open(stage: Stage) -> None:
    """Scenario 9: what waits for people is not at work."""
    process = await stage.process(Strict([SHELL, "on my way", "Linux"]), [fake_tool("shell", Effect.DANGER)])
    async with process.running():
        await process.say("run uname")
        await process.rest()
        await urgent(process)
        await process.rest()
        [asked] = await stage.pending()
        await process.click(asked.id, Choice.APPROVE)
        await process.rest()
    assert await stage.answers() == ["on my way", "Linux"]


# -------------------------------------------------------------------------------------------------------------- threads


async def test_a_joined_thread_needs_no_mention_also_after_a_restart(any_stage: Stage) -> None:
    """Scenario 5."""
    first = await any_stage.process(Strict(["hello"]))
    await in_thread(first, "@bot hello", Addressing.MENTION)
    await first.answer_all()
    second = await any_stage.process(Strict(["still here"]))
    verdict = await in_thread(second, "are you there?", Addressing.OVERHEARD)
    await second.answer_all()
    assert verdict.outcome is Outcome.ACCEPTED
    shown = (await any_stage.store.history.view(THREAD)).entries
    assert [entry.body for entry in shown] == ["@bot hello", "hello", "are you there?", "still here"]


async def test_what_people_say_among_themselves_asks_the_store_nothing(stage: Stage) -> None:
    """Scenario 5: where no thread can be joined the room's rule is enough; and the log is not full of it."""
    process = await stage.process(Strict([]), rooms=RoomRules(Attention.STRICT))
    await stage.store.close()
    with capture_logs() as logs:
        verdict = await in_thread(process, "lunch?", Addressing.OVERHEARD)
    assert verdict.outcome is Outcome.IGNORED
    assert [line for line in logs if line["log_level"] != "debug"] == []


async def test_what_was_observed_reaches_the_model_with_the_next_question(stage: Stage) -> None:
    """Scenario 9."""
    model = Strict(["because of the tests"])
    process = await stage.process(model, rooms=RoomRules(Attention.OBSERVE))
    assert (await in_thread(process, "the build is red", Addressing.OVERHEARD)).outcome is Outcome.OBSERVED
    await in_thread(process, "@bot why?", Addressing.MENTION)
    await process.answer_all()
    assert [turn.text for turn in model.requests[0].turns] == ["the build is red\n\n@bot why?"]


async def test_a_room_may_steer_while_others_follow_up(stage: Stage) -> None:
    first = held(READ)
    model = Strict([first, "both"])
    rooms = RoomRules(rules=(RoomRule(str(address("r1")), busy=Busy.STEER),))
    tools = [fake_tool("look", Effect.READ)]
    process = await stage.process(model, tools, busy=Busy.FOLLOWUP, rooms=rooms)
    async with process.running():
        await process.say("one")
        await first.begun.wait()
        await process.say("two")
        first.until.set()
        await process.rest()
    assert await stage.answers() == ["both"]


# ------------------------------------------------------------------------------------------------------------- commands


async def test_a_command_is_answered_while_a_run_works(any_stage: Stage) -> None:
    answer = held("done")
    process = await any_stage.process(Strict([answer]))
    async with process.running():
        await process.say("think hard")
        await answer.begun.wait()
        assert (await command(process, "status")).outcome is Outcome.DECIDED
        while not await any_stage.answers():  # noqa: ASYNC110 - no event tells what a courier shows
            await asyncio.sleep(0.005)
        answer.until.set()
        await process.rest()
    status, done = await any_stage.answers()
    assert "working on Ada's request" in status
    assert done == "done"


async def test_stop_as_a_message_cuts_a_model_call(stage: Stage) -> None:
    """Scenario 9."""
    never = held("too late")
    process = await stage.process(Strict([never]))
    async with process.running():
        await process.say("think hard")
        await never.begun.wait()
        assert (await process.say("!stop")).outcome is Outcome.DECIDED
        await process.rest()
    assert await stage.answers() == ["Stopped here."]


async def test_after_new_the_model_hears_the_new_conversation_alone(any_stage: Stage) -> None:
    model = Strict(["hello Ada", "I do not know"])
    process = await any_stage.process(model)
    async with process.running():
        await process.say("my name is Ada")
        await process.rest()
        await command(process, "new")
        await process.say("what is my name?")
        await process.rest()
    assert [turn.text for turn in model.requests[1].turns] == ["what is my name?"]


async def test_new_breaks_neither_a_run_at_work_nor_one_that_waits(any_stage: Stage) -> None:
    looking = held(READ)
    model = Strict(["noted", SHELL, looking, "looked", "Linux"])
    process = await any_stage.process(model, [fake_tool("shell", Effect.DANGER), fake_tool("look", Effect.READ)])
    async with process.running():
        await process.say("remember the number 7")
        await process.rest()
        await process.say("run uname")
        await process.rest()
        await process.say("look around")
        await looking.begun.wait()
        await command(process, "new")
        looking.until.set()
        await process.rest()
        [asked] = await any_stage.pending()
        await process.click(asked.id)
        await process.rest()
    for request in model.requests[3:]:  # the strict model checks each history
        assert request.turns[0].text == "remember the number 7"
    assert (await any_stage.answers())[-2:] == ["looked", "Linux"]
    assert await any_stage.states() == [RunState.DONE] * 3
