"""A person says stop. Scenario 9: a model call or a read is cut at once, a tool with effects ends first, and it is said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bot.testing.scripted import held
from runtime.contract import AssistantTurn, Busy, Choice, Effect, Json, Outcome, RunId, SessionKey, ToolTurn
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.store.protocol import History, Lane, Released
from runtime.store.runs.store import RunStore
from tests.contract.runtime.stage import READ, SHELL, UMA, VERA, WRITE, Stage, fake_tool
from tests.contract.runtime.strict import Strict


async def for_ever(arguments: Mapping[str, Json]) -> str:
    await asyncio.Event().wait()
    raise AssertionError("for ever has passed")


async def test_stop_cuts_a_model_call_at_once(stage: Stage) -> None:
    """Scenario 9."""
    never = held("too late")
    process = await stage.process(Strict([never]))
    async with process.running():
        await process.say("think hard")
        await never.begun.wait()
        assert (await process.stop()).outcome is Outcome.DECIDED
        await process.rest()
    assert await stage.answers() == ["Stopped here."]
    assert await stage.states() == [RunState.STOPPED]


async def test_a_stop_just_before_people_are_asked_leaves_no_question_open(
    any_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = await any_stage.process(Strict([WRITE]), [fake_tool("write", Effect.WRITE)])
    park = RunStore.park

    async def late(store: RunStore, lane: Lane, run: RunId, *given: Any, **more: Any) -> Released | None:
        await any_stage.store.workflows.cancel(run, "Ada")  # it is still at work, and looks for no stop any more
        return await park(store, lane, run, *given, **more)

    monkeypatch.setattr(RunStore, "park", late)
    async with process.running():
        await process.say("write it down")
        await process.rest()
    assert await any_stage.states() == [RunState.STOPPED]
    assert await any_stage.pending() == []


async def test_what_was_written_stays_and_says_where_it_was_stopped(stage: Stage) -> None:
    """Scenario 48."""
    cut = held("too late", said="The first paragraph.\n\nAnd half of")
    model = Strict([cut, "as you like"])
    process = await stage.process(model)
    async with process.running():
        await process.say("tell me a story")
        await cut.begun.wait()
        await process.stop()
        await process.rest()
        await process.say("go on")
        await process.rest()
    told = "The first paragraph.\n\nAnd half of\n\n*Stopped here.*"
    assert await stage.answers() == [told, "as you like"]
    assert told in [turn.text for turn in model.requests[1].turns if isinstance(turn, AssistantTurn)]
    assert await stage.rows("SELECT error FROM runs WHERE state = 'stopped'") == [("Stopped.",)]


@pytest.mark.parametrize("word", ["stop", "Stop!", "CANCEL", "стоп", "停止。", "Arrête"])
async def test_a_message_that_is_only_stop_ends_the_work_and_asks_nobody(stage: Stage, word: str) -> None:
    """Scenario 48."""
    never = held("too late")
    process = await stage.process(model := Strict([never]))
    async with process.running():
        await process.say("think hard")
        await never.begun.wait()
        await process.say(word)
        await process.rest()
    assert await stage.answers() == ["Stopped here."]
    assert len(model.requests) == 1


async def test_it_ends_what_its_sender_asked_for_and_nothing_of_others(any_stage: Stage) -> None:
    """Scenario 48: `/stop` ends all work in the room; the bare word in a room of several only one's own."""
    answer = held("done")
    process = await any_stage.process(Strict([answer]))
    async with process.running():
        await process.say("think hard")
        await answer.begun.wait()
        told = await process.say("stop", who=UMA)
        answer.until.set()
        await process.rest()
    assert told.outcome is Outcome.UNCHANGED
    assert sorted(await any_stage.answers()) == ["There's nothing to stop here.", "done"]


async def test_stop_cuts_a_tool_that_only_reads_at_once(stage: Stage) -> None:
    """Scenario 9."""
    process = await stage.process(Strict([READ]), [fake_tool("look", Effect.READ, for_ever)])
    async with process.running():
        await process.say("look for ever")
        await process.begun("look")
        await process.stop()
        await process.rest()
    assert await stage.answers() == ["Stopped here."]


async def test_stop_cuts_reads_side_by_side(stage: Stage) -> None:
    """Scenario 9."""
    process = await stage.process(Strict([(READ, READ, READ)]), [fake_tool("look", Effect.READ, for_ever)])
    async with process.running():
        await process.say("look for ever")
        await process.begun("look", 3)
        await process.stop()
        await process.rest()
    assert await stage.answers() == ["Stopped here."]


async def test_stop_lets_a_tool_with_effects_end_and_then_says_so(stage: Stage) -> None:
    """Scenario 9."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def write(arguments: Mapping[str, Json]) -> str:
        begun.set()
        await go_on.wait()
        return "written whole"

    process = await stage.process(Strict([WRITE]), [fake_tool("write", Effect.WRITE, write)])
    async with process.running():
        await process.say("write it")
        await process.rest()
        [asked] = await stage.pending()
        await process.click(asked.id)
        await begun.wait()
        await process.stop()
        await asyncio.sleep(0.02)
        assert await stage.answers() == []
        go_on.set()
        await process.rest()
    assert await stage.answers() == ["Stopped here. `write` was already running, so I let it finish."]
    assert await stage.rows("SELECT result FROM steps WHERE kind = 'tool'") == [("written whole",)]


async def test_stop_between_the_steps_of_a_run_is_obeyed_before_the_model_is_asked(stage: Stage) -> None:
    """Scenario 9: however it falls between reading the history and asking the model."""

    class StoppedWhileReading(RunStore):
        async def history(self, session: SessionKey, since: int) -> History:
            read = await super().history(session, since)
            await process.stop()
            return read

    model = Strict([(READ,), held("too late")])  # the first call needs no reading: its turns come with the claim
    tools = [fake_tool("look", Effect.READ)]
    store = replace(stage.store, runs=StoppedWhileReading(stage.store.driver, new_id))
    process = await stage.process(model, tools, store=store)
    await process.say("think hard")
    await process.answer_all()
    assert await stage.answers() == ["Stopped here."]


async def test_calls_that_a_stop_left_undone_have_a_result(stage: Stage) -> None:
    """Scenario 14: the next request is valid."""
    model = Strict([(READ, READ), "hello again"])
    process = await stage.process(model, [fake_tool("look", Effect.READ, for_ever)])
    async with process.running():
        await process.say("look for ever")
        await process.begun("look", 2)
        await process.stop()
        await process.rest()
        await process.say("hello")
        await process.rest()
    assert [turn.text for turn in model.requests[1].turns if isinstance(turn, ToolTurn)] == [
        "Not finished: Stopped."
    ] * 2


async def test_stop_ends_a_run_that_waits_for_people_and_withdraws_its_question(any_stage: Stage) -> None:
    """Scenario 9."""
    process = await any_stage.process(Strict([SHELL]), [tool := fake_tool("shell", Effect.DANGER)])
    async with process.running():
        await process.say("run uname")
        await process.rest()
        [asked] = await any_stage.pending()
        await process.stop()
        await process.rest()
        late = await process.click(asked.id, Choice.APPROVE)
        await process.rest()
    assert await any_stage.answers() == ["Stopped by Ada."]
    assert late.outcome is Outcome.UNCHANGED
    assert tool.calls == []
    card, _ = await any_stage.screen()
    assert card.startswith("⚪ **Withdrawn**")
    assert "[Approve]" not in card


async def test_with_nothing_to_stop_the_person_is_told_so(stage: Stage) -> None:
    """Scenario 9."""
    process = await stage.process(Strict([]))
    verdict = await process.stop()
    assert (verdict.outcome, verdict.notice) == (Outcome.UNCHANGED, "There's nothing to stop here.")


async def test_a_viewer_cannot_stop_anything(stage: Stage) -> None:
    """Scenario 9."""
    answer = held("done")
    process = await stage.process(Strict([answer]))
    async with process.running():
        await process.say("think")
        await answer.begun.wait()
        assert (await process.stop(who=VERA)).outcome is Outcome.REFUSED
        answer.until.set()
        await process.rest()
    assert await stage.answers() == ["done"]


async def test_stop_in_one_room_leaves_the_others_alone(stage: Stage) -> None:
    """Scenario 9."""
    here, there = held("here"), held("there")
    process = await stage.process(Strict([here, there]))
    async with process.running():
        await process.say("think", room="r1")
        await here.begun.wait()
        await process.say("think", room="r2")
        await there.begun.wait()
        await process.stop(room="r1")
        there.until.set()
        await process.rest()
    assert (await stage.answers("r1"), await stage.answers("r2")) == (["Stopped here."], ["there"])


@pytest.mark.parametrize("busy", list(Busy))
async def test_what_waits_behind_a_stopped_run_is_answered(busy: Busy, stage: Stage) -> None:
    """Scenario 9."""
    first = held("too late")
    process = await stage.process(Strict([first, "second done"]), busy=busy)
    async with process.running():
        await process.say("first")
        await first.begun.wait()
        await process.say("second")
        await process.stop()
        await process.rest()
    assert await stage.answers() == ["Stopped here.", "second done"]


async def test_the_words_of_a_stopped_run_may_be_said_again_at_once(stage: Stage) -> None:
    """Scenario 11: they are no repeat of what is being answered."""
    first = held("too late")
    process = await stage.process(Strict([first, "answered"]))
    async with process.running():
        await process.say("what time is it?")
        await first.begun.wait()
        await process.stop()
        assert (await process.say("what time is it?")).outcome is Outcome.ACCEPTED
        await process.rest()
    assert await stage.answers() == ["Stopped here.", "answered"]
