"""What people say: once each, in order, all of it to the model, and nothing refused for being much."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

import pytest

from bot.testing.scripted import USAGE, held
from runtime.agent.registry import Limits
from runtime.context.window import Window
from runtime.contract import Busy, Choice, Effect, Json, ModelReply, ModelRequest, Outcome, UserTurn
from runtime.domain.runs import RunState
from tests.contract.runtime.stage import ADA, READ, SHELL, UMA, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Strict


def heard(request: ModelRequest) -> str:
    """All that people said, as the model reads it."""
    return "\n".join(turn.text for turn in request.turns if isinstance(turn, UserTurn))


# ------------------------------------------------------------------------------------------------------ duplicates


async def test_an_event_delivered_twice_is_answered_once(any_stage: Stage) -> None:
    """Scenario 1."""
    process = await any_stage.process(Strict(["hello Ada"]))
    async with process.running():
        first = await process.say("hello", key="e-1")
        again = await process.say("hello", key="e-1")
        await process.rest()
    assert (first.outcome, again.outcome) == (Outcome.ACCEPTED, Outcome.DUPLICATE)
    assert again.signal_id == first.signal_id
    assert await any_stage.answers() == ["hello Ada"]


async def test_an_event_delivered_again_after_a_restart_is_not_answered_again(any_stage: Stage) -> None:
    """Scenario 1."""
    before = await any_stage.process(Strict(["hello Ada"]))
    await before.say("hello", key="e-1")
    await before.answer_all()
    after = await any_stage.process(Strict([]))
    assert (await after.say("hello", key="e-1")).outcome is Outcome.DUPLICATE
    await after.answer_all()
    assert await any_stage.answers() == ["hello Ada"]


async def test_an_event_delivered_again_while_it_is_worked_on_changes_nothing(stage: Stage) -> None:
    """Scenario 1."""
    answer = held("hello Ada")
    process = await stage.process(Strict([answer]))
    async with process.running():
        await process.say("hello", key="e-1")
        await answer.begun.wait()
        await process.say("hello", key="e-1")
        answer.until.set()
        await process.rest()
    assert await stage.answers() == ["hello Ada"]


async def test_the_same_words_within_a_minute_share_one_run(stage: Stage) -> None:
    """Scenario 11."""
    answer = held("it is noon")
    process = await stage.process(Strict([answer]))
    async with process.running():
        await process.say("what time is it?")
        await answer.begun.wait()
        assert (await process.say("what time is it?")).outcome is Outcome.MERGED
        answer.until.set()
        await process.rest()
    assert await stage.answers() == ["it is noon"]


async def test_the_same_question_after_its_answer_runs_again(stage: Stage) -> None:
    """Scenario 11."""
    process = await stage.process(Strict(["it is noon", "still noon"]))
    for _ in range(2):
        await process.say("what time is it?")
        await process.answer_all()
    assert await stage.answers() == ["it is noon", "still noon"]


async def test_the_same_words_of_another_person_are_another_message(stage: Stage) -> None:
    """Scenario 11."""
    answer = held("one")
    process = await stage.process(Strict([answer, "two"]))
    async with process.running():
        await process.say("what time is it?", who=ADA)
        await answer.begun.wait()
        assert (await process.say("what time is it?", who=UMA)).outcome is Outcome.ACCEPTED
        answer.until.set()
        await process.rest()
    assert await stage.answers() == ["one", "two"]


# ------------------------------------------------------------------------------------------- while the lane is busy


async def test_in_steer_the_second_message_reaches_the_model_before_its_next_call(any_stage: Stage) -> None:
    """Scenario 3."""
    looking = held(READ)
    model = Strict([looking, "both done"])
    process = await any_stage.process(model, [fake_tool("look", Effect.READ)])
    async with process.running():
        await process.say("first")
        await looking.begun.wait()
        await process.say("second")
        looking.until.set()
        await process.rest()
    assert [heard(request) for request in model.requests] == ["first", "first\nsecond"]
    assert await any_stage.answers() == ["both done"]


async def test_in_steer_a_message_that_comes_while_a_tool_runs_reaches_the_next_call(stage: Stage) -> None:
    """Scenario 3."""

    async def look(arguments: Mapping[str, Json]) -> str:
        await process.say("second")
        return "seen"

    model = Strict([READ, "both done"])
    process = await stage.process(model, [fake_tool("look", Effect.READ, look)])
    await process.say("first")
    await process.answer_all()
    assert heard(model.requests[1]) == "first\nsecond"


async def test_a_message_during_the_last_model_call_starts_the_next_run(stage: Stage) -> None:
    """Scenario 3."""
    answer = held("one")
    model = Strict([answer, "two"])
    process = await stage.process(model)
    async with process.running():
        await process.say("first")
        await answer.begun.wait()
        await process.say("second")
        answer.until.set()
        await process.rest()
    assert await stage.answers() == ["one", "two"]


async def test_in_steer_a_message_that_came_while_the_run_was_cut_reaches_its_next_call(stage: Stage) -> None:
    """Scenario 3."""
    before = await stage.process(Strict([READ]), [fake_tool("look", Effect.READ)], probe=crash_at("step-recorded"))
    await before.say("first")
    await before.until_crash()
    model = Strict(["both done"])
    after = await stage.process(model, [fake_tool("look", Effect.READ)])
    await after.say("second")
    await after.answer_all()
    assert [heard(request) for request in model.requests] == ["first\nsecond"]


@pytest.mark.parametrize("busy", [Busy.FOLLOWUP, Busy.COLLECT])
async def test_a_waiting_message_does_not_join_the_live_run(busy: Busy, stage: Stage) -> None:
    """Scenario 3: in followup and collect it waits for a run of its own."""
    looking = held(READ)
    model = Strict([looking, "one", "two"])
    process = await stage.process(model, [fake_tool("look", Effect.READ)], busy=busy)
    async with process.running():
        await process.say("first")
        await looking.begun.wait()
        await process.say("second")
        looking.until.set()
        await process.rest()
    assert heard(model.requests[1]) == "first"
    assert await stage.answers() == ["one", "two"]


async def test_in_followup_each_message_has_a_run_of_its_own_in_order(any_stage: Stage) -> None:
    """Scenario 3."""
    first = held("one")
    process = await any_stage.process(Strict([first, "two", "three"]), busy=Busy.FOLLOWUP)
    async with process.running():
        await process.say("first")
        await first.begun.wait()
        await process.say("second")
        await process.say("third")
        first.until.set()
        await process.rest()
    assert [run.signals for run in await any_stage.runs()] == [("first",), ("second",), ("third",)]
    assert await any_stage.answers() == ["one", "two", "three"]


async def test_in_collect_all_that_wait_share_the_next_run(any_stage: Stage) -> None:
    """Scenario 3."""
    first = held("one")
    process = await any_stage.process(Strict([first, "two and three"]), busy=Busy.COLLECT)
    async with process.running():
        await process.say("first")
        await first.begun.wait()
        await process.say("second")
        await process.say("third")
        first.until.set()
        await process.rest()
    assert [run.signals for run in await any_stage.runs()] == [("first",), ("second", "third")]
    assert await any_stage.answers() == ["one", "two and three"]


@pytest.mark.parametrize("busy", list(Busy))
async def test_the_model_hears_everything_in_the_order_in_which_it_was_said(busy: Busy, stage: Stage) -> None:
    """Scenario 3: never lost, never out of order, however fast."""

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply("ok", (), USAGE)

    words = [f"word {n}" for n in range(30)]
    model = Strict([answer] * len(words))
    process = await stage.process(model, busy=busy)
    async with process.running():
        for word in words:
            await process.say(word)
            await asyncio.sleep(0)
        await process.rest()
    assert heard(model.requests[-1]).replace("\n\n", "\n").split("\n") == words


# ------------------------------------------------------------------------------------------------- whose rights count


async def asked_by(stage: Stage) -> list[str]:
    """Who asked for each run, the oldest first."""
    rows = await stage.rows("SELECT p.name FROM runs r JOIN people p ON p.id = r.requester ORDER BY r.started_at, r.id")
    return [name for (name,) in rows]


@pytest.mark.parametrize("busy", list(Busy))
async def test_nobody_asks_with_the_rights_of_somebody_else(busy: Busy, any_stage: Stage) -> None:
    """Scenario 3: what may not join keeps its place, and what is behind it waits for its run too."""
    looking = held(READ)
    shared = busy is not Busy.FOLLOWUP
    model = Strict([looking, "one", SHELL, "three", *([] if shared else ["four"])])
    process = await any_stage.process(
        model, [fake_tool("look", Effect.READ), fake_tool("shell", Effect.DANGER)], busy=busy
    )
    async with process.running():
        await process.say("first", who=ADA)
        await looking.begun.wait()
        await process.say("run this", who=UMA)
        await process.say("third", who=ADA)
        looking.until.set()
        await process.rest()
        assert heard(model.requests[1]) == "first"
        assert await asked_by(any_stage) == (["Ada", "Uma"] if shared else ["Ada", "Uma", "Ada"])
        [asked] = await any_stage.pending()
        # A user never approves what is dangerous, and what they asked for is theirs though an owner spoke after them.
        await process.click(asked.id, who=UMA)
        assert len(await any_stage.pending()) == 1
        await process.click(asked.id, who=ADA)
        await process.rest()
    assert re.search(r"first.*run this.*third", heard(model.requests[-1]), re.DOTALL)


# --------------------------------------------------------------------------------------------------- many messages


async def test_twelve_waiting_messages_are_all_readable_to_the_model(any_stage: Stage) -> None:
    """Scenario 4."""
    first = held("one")
    model = Strict([first, "all twelve"])
    process = await any_stage.process(model)
    async with process.running():
        await process.say("first")
        await first.begun.wait()
        for number in range(12):
            await process.say(f"message {number}")
        first.until.set()
        await process.rest()
    assert all(f"message {number}" in heard(model.requests[1]) for number in range(12))
    assert await any_stage.answers() == ["one", "all twelve"]


async def test_two_hundred_messages_in_a_minute_are_all_accepted_and_answered(stage: Stage) -> None:
    """Scenario 4."""

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply("ok", (), USAGE)

    process = await stage.process(Strict([answer] * 200))
    async with process.running():
        verdicts = [await process.say(f"message {n}", room=f"r{n % 20}") for n in range(200)]
        await process.rest()
    assert {verdict.outcome for verdict in verdicts} == {Outcome.ACCEPTED}
    unanswered = await stage.rows("SELECT count(*) FROM signals WHERE answered_at IS NULL")
    assert unanswered == [(0,)]


async def test_a_message_of_five_megabytes_reaches_the_model_whole(stage: Stage) -> None:
    """Bad input, for a model with room for it."""
    model = Strict(["long indeed"])
    process = await stage.process(model, limits=Limits(window=Window(lambda: 10_000_000)))
    words = "word " * 1_000_000
    await process.say(words)
    await process.answer_all()
    assert heard(model.requests[0]) == words


# ----------------------------------------------------------------------------------- while people are being waited for


async def test_a_message_while_the_session_waits_for_an_approval_is_answered_now(any_stage: Stage) -> None:
    """Scenario 9: the open call is shown to the model as waiting, and the parked run goes on when decided."""
    model = Strict([SHELL, "the other thing is done", "Linux"])
    process = await any_stage.process(model, [fake_tool("shell", Effect.DANGER)])
    async with process.running():
        await process.say("run uname")
        await process.rest()
        await process.say("and what is new?")
        await process.rest()
        assert await any_stage.answers() == ["the other thing is done"]
        assert [turn.text for turn in model.requests[1].turns[2:3]] == ["waiting for approval"]
        [asked] = await any_stage.pending()
        await process.click(asked.id, Choice.APPROVE)
        await process.rest()
    assert await any_stage.answers() == ["the other thing is done", "Linux"]
    assert [turn.text for turn in model.requests[2].turns[2:3]] == ["shell did it"]
    assert await any_stage.states() == [RunState.DONE, RunState.DONE]
