"""The loop: what a model may answer, what becomes of its calls, and where it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bot.testing.scripted import USAGE, Answer, held
from runtime.agent.guard import tripped
from runtime.agent.loop import EMPTY_REPLY
from runtime.agent.registry import Limits
from runtime.agent.tool_calls import TOLD_MAX_CHARS
from runtime.contract import (
    Advancing,
    AssistantTurn,
    Call,
    Effect,
    Json,
    ModelReply,
    ModelRequest,
    Resting,
    Speaking,
    Thinking,
    ToolContext,
    ToolTurn,
    UserTurn,
    Working,
)
from runtime.domain.runs import RunState
from runtime.errors import ModelFailed, ToolFailed, ToolRetry
from runtime.intake.dispatch import RUN_BROKEN
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import READ, SHELL, WRITE, Crash, FakeTool, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Strict


def look(does: object = None, **more: object) -> FakeTool:
    return fake_tool("look", Effect.READ, does, **more)  # type: ignore[arg-type]  # as given


def results(request: ModelRequest) -> list[str]:
    return [turn.text for turn in request.turns if isinstance(turn, ToolTurn)]


async def told(stage: Stage, first: Answer, *tools: FakeTool) -> str:
    """What the model reads as the result of its first answer's only call."""
    model = Strict([first, "ok"])
    process = await stage.process(model, tools or [look()])
    await process.say("do it")
    await process.answer_all()
    assert await stage.answers() == ["ok"]
    [result] = results(model.requests[1])
    return result


# ------------------------------------------------------------------------------------------------- calls and words


async def test_calls_are_made_whatever_the_model_says_beside_them(any_stage: Stage) -> None:
    """Scenario 11: calls present with the finish reason "stop"; the words come with them."""
    model = Strict([ModelReply("I will look.", (READ,), USAGE), "seen"])
    process = await any_stage.process(model, [tool := look()])
    await process.say("look")
    await process.answer_all()
    assert len(tool.calls) == 1
    assert AssistantTurn("I will look.", (READ,)) in model.requests[1].turns
    assert await any_stage.answers() == ["seen"]


async def test_an_answer_without_calls_ends_the_run(stage: Stage) -> None:
    """Scenario 11."""
    process = await stage.process(Strict(["hello"]), [look()])
    await process.say("hi")
    await process.answer_all()
    assert await stage.states() == [RunState.DONE]


async def test_every_model_call_is_accounted_for(stage: Stage) -> None:
    process = await stage.process(Strict([READ, "seen"]), [look()])
    await process.say("look")
    await process.answer_all()
    assert await stage.rows("SELECT step, model, input_tokens FROM usage ORDER BY step") == [
        (1, "scripted", 1),
        (3, "scripted", 1),
    ]


async def test_the_next_run_sees_what_was_said_and_done_before(stage: Stage) -> None:
    model = Strict([READ, "seen", "again"])
    process = await stage.process(model, [look()])
    for words in ("look", "and now?"):
        await process.say(words)
        await process.answer_all()
    assert model.requests[2].turns == [
        UserTurn("look", "Ada"),
        AssistantTurn("", (READ,)),
        ToolTurn(READ.id, "look", "look did it"),
        AssistantTurn("seen"),
        UserTurn("and now?", "Ada"),
    ]


async def test_progress_tells_of_thinking_working_and_rest(stage: Stage) -> None:
    process = await stage.process(Strict([READ, "seen"]), [look()])
    await process.say("look")
    await process.answer_all()
    assert process.page.seen == [
        Thinking(),
        Working("look", READ.arguments),
        Working("look", READ.arguments, ended=True),
        Thinking(),
        Speaking("seen", 3),
        Resting(),
    ]


class Telling(FakeTool):
    """Says how far it is."""

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        context.tell("1 of 3: sent\n\u202eand more " + "x" * 5_000)
        context.tell("2 of 3")
        return await super().call(arguments, context)


async def test_a_tool_tells_how_far_it_is_in_few_words_once_a_second(stage: Stage) -> None:
    """They are from outside: on one line, with nothing hidden in it, and as often as people can read."""
    process = await stage.process(Strict([READ, "seen"]), [Telling(look().spec)])
    await process.say("look")
    await process.answer_all()
    (told,) = [event for event in process.page.seen if isinstance(event, Advancing)]
    assert (told.tool, told.arguments) == ("look", READ.arguments)
    assert told.words.startswith("1 of 3: sent ⟨U+202E⟩and more x")
    assert len(told.words) == TOLD_MAX_CHARS


# ------------------------------------------------------------------------------------------------------ the bound


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda n: Call(f"c{n}", "look", f'{{"n": {n}}}'), id="always another call"),
        pytest.param(lambda n: READ, id="the same call for ever"),
        pytest.param(lambda n: Call("", "no_such_tool", "{"), id="nonsense for ever"),
    ],
)
async def test_a_model_that_never_ends_is_ended_at_the_bound_and_the_person_told(call: object, stage: Stage) -> None:
    """Scenario 13."""
    answers: list[Answer] = [call(n) for n in range(5)]  # type: ignore[operator]  # one of the above
    model = Strict([*answers, "hello again"])
    process = await stage.process(model, [look()], limits=Limits(iterations=5))
    async with process.running():
        await process.say("go")
        await process.rest()
        [ended] = await stage.answers()
        assert ended.startswith("I stopped after 5 steps")
        await process.say("are you there?")
        await process.rest()
    assert await stage.answers() == [ended, "hello again"]
    assert await stage.states() == [RunState.FAILED, RunState.DONE]


async def test_the_bound_counts_over_restarts_and_waits_for_people(any_stage: Stage) -> None:
    """Scenario 13."""
    limits = Limits(iterations=3)
    process = await any_stage.process(Strict([SHELL]), [fake_tool("shell", Effect.DANGER)], limits=limits)
    await process.say("go")
    await process.answer_all()
    after = await any_stage.process(Strict([READ, READ]), [fake_tool("shell", Effect.DANGER), look()], limits=limits)
    async with after.running():
        [asked] = await any_stage.pending()
        await after.click(asked.id)
        await after.rest()
    assert (await any_stage.answers())[0].startswith("I stopped after 3 steps")


# ----------------------------------------------------------------------------------------------- what calls may do


async def test_two_equal_calls_in_one_answer_both_have_a_result(stage: Stage) -> None:
    """Scenario 14."""
    model = Strict([(READ, READ), "seen twice"])
    process = await stage.process(model, [tool := look()])
    await process.say("look twice")
    await process.answer_all()
    assert len(tool.calls) == 2
    assert results(model.requests[1]) == ["look did it", "look did it"]


async def test_reads_run_side_by_side_and_the_rest_in_order(stage: Stage) -> None:
    """Scenario 21."""
    meeting = asyncio.Barrier(2)
    order: list[str] = []

    async def meet(arguments: Mapping[str, Json]) -> str:
        await meeting.wait()  # passes only if both run at once
        order.append("look")
        return "met"

    async def write(arguments: Mapping[str, Json]) -> str:
        order.append("write")
        return "written"

    model = Strict([(READ, READ, WRITE, WRITE), "done"])
    tools = [look(meet), fake_tool("write", Effect.WRITE, write)]
    process = await stage.process(model, tools, rules=[Rule(Ruling.ALLOW)])
    await process.say("go")
    await process.answer_all()
    assert order == ["look", "look", "write", "write"]


async def raises_retry(arguments: Mapping[str, Json]) -> str:
    raise ToolRetry("there is no such path")


async def raises_failed(arguments: Mapping[str, Json]) -> str:
    raise ToolFailed("the disk is full")


async def raises_bug(arguments: Mapping[str, Json]) -> str:
    raise ZeroDivisionError("oops")


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (raises_retry, "error: there is no such path"),
        (raises_failed, "error: the disk is full"),
        (raises_bug, "error: look failed unexpectedly (ZeroDivisionError)."),
    ],
)
async def test_a_tool_that_raises_tells_the_model_and_the_run_goes_on(does: object, said: str, stage: Stage) -> None:
    """Scenario 15."""
    with capture_logs():
        assert await told(stage, READ, look(does)) == said


async def test_a_tool_that_does_not_end_is_cut_and_the_model_told(stage: Stage) -> None:
    """Scenario 15."""

    async def sleep(arguments: Mapping[str, Json]) -> str:
        await asyncio.Event().wait()
        return ""

    said = await told(stage, READ, look(sleep, timeout=timedelta(seconds=0.01)))
    assert said == "error: look did not end within 0.01 seconds and was stopped."


async def test_an_unknown_tool_is_answered_with_those_there_are(stage: Stage) -> None:
    """Scenario 15."""
    said = await told(stage, Call("c1", "fly", "{}"), look(), fake_tool("write", Effect.WRITE))
    assert said == "error: there is no tool 'fly'; there are look, write."


@pytest.mark.parametrize("arguments", ['{"path": ', "nonsense", "[1]", '"text"', "3", "null", "[" * 100_000])
async def test_malformed_arguments_reach_no_tool(arguments: str, stage: Stage) -> None:
    """Scenario 15 and bad input."""
    tool = look()
    said = await told(stage, Call("c1", "look", arguments), tool)
    assert said.startswith("error: the arguments are ")
    assert tool.calls == []


async def test_no_arguments_are_an_empty_object(stage: Stage) -> None:
    tool = look()
    await told(stage, Call("c1", "look", ""), tool)
    assert tool.calls == [{}]


async def test_a_long_result_keeps_its_head_and_tail_and_names_the_cut(stage: Stage) -> None:
    """Scenario 15."""

    async def speak(arguments: Mapping[str, Json]) -> str:
        return "a" * 40_000 + "b" * 40_000

    said = await told(stage, READ, look(speak))
    assert len(said) <= 50_000
    assert said.startswith("aaa")
    assert "bbb\n\n[from Signalbox] " in said
    assert "characters left out" in said


async def test_the_session_stays_usable_after_every_kind_of_failure(stage: Stage) -> None:
    """Scenario 15."""
    calls = (READ, Call("c2", "fly", "{}"), Call("c3", "look", "{"), READ)
    model = Strict([calls, "sorry", "hello again"])
    process = await stage.process(model, [look(raises_failed)])
    for words in ("go", "hello"):
        await process.say(words)
        await process.answer_all()
    assert await stage.answers() == ["sorry", "hello again"]


async def test_what_policy_denies_does_not_run_and_the_model_is_told(stage: Stage) -> None:
    tool = look()
    model = Strict([READ, "I may not"])
    process = await stage.process(model, [tool], rules=[Rule(Ruling.DENY, tool="look")])
    await process.say("look")
    await process.answer_all()
    assert results(model.requests[1]) == ["denied: the policy here does not allow it."]
    assert tool.calls == []


# ------------------------------------------------------------------------------------------------ models that fail


@pytest.mark.parametrize("nothing", ["", "  \n\t "])
async def test_a_model_that_answers_nothing_is_reported_to_the_person(nothing: str, stage: Stage) -> None:
    """Bad input."""
    process = await stage.process(Strict([nothing, "hello"]))
    for words in ("hi", "and now?"):
        await process.say(words)
        await process.answer_all()
    assert await stage.answers() == [EMPTY_REPLY, "hello"]


async def test_a_model_that_fails_is_reported_in_its_words_and_stored(stage: Stage) -> None:
    """Scenario 17."""
    process = await stage.process(Strict([READ, ModelFailed("The key is wrong."), "hello"]), [look()])
    for words in ("hi", "and now?"):
        await process.say(words)
        await process.answer_all()
    assert await stage.answers() == ["The key is wrong.", "hello"]
    assert [(run.state, run.error) for run in await stage.runs()] == [
        (RunState.FAILED, "The key is wrong."),
        (RunState.DONE, ""),
    ]


async def test_a_model_that_gives_no_answer_in_time_is_reported_to_the_person(stage: Stage) -> None:
    process = await stage.process(Strict([held("never")]), limits=Limits(model_time=timedelta(seconds=0.01)))
    await process.say("hi")
    await process.answer_all()
    assert (await stage.answers())[0].startswith("The model gave no answer within")


async def test_a_bug_of_ours_is_told_to_the_person_and_logged(stage: Stage) -> None:
    """An unexpected exception ends the run with words, and the session goes on."""
    process = await stage.process(Strict([RuntimeError("a bug"), "hello"]))
    with capture_logs() as logs:
        for words in ("hi", "and now?"):
            await process.say(words)
            await process.answer_all()
    broken, _ = await stage.runs()
    assert await stage.answers() == [RUN_BROKEN.format(run=broken.id), "hello"]
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["run broke"]


# -------------------------------------------------------------------------------------------------- going round in circles


@pytest.mark.parametrize("killed", [0, 2, 5])
async def test_a_model_that_repeats_itself_is_refused_and_ended_also_over_a_kill(any_stage: Stage, killed: int) -> None:
    """Scenario 12: the same result three times, then five refusals; the person is told."""
    asked: list[ModelRequest] = []

    def again(request: ModelRequest) -> ModelReply:
        asked.append(request)
        return ModelReply("", (Call(f"c{len(asked)}", "look", '{"path": "."}'),), USAGE)

    tool = fake_tool("look", Effect.READ)
    if killed:
        process = await any_stage.process(Strict([again] * 20), [tool], probe=crash_at("step-recorded", killed))
        await process.say("look around")
        with pytest.raises(BaseExceptionGroup) as died:
            await process.answer_all()
        assert died.group_contains(Crash)
        any_stage.clock.advance(timedelta(minutes=1))
    process = await any_stage.process(Strict([again] * 20), [tool])
    if not killed:
        await process.say("look around")
    await process.answer_all()
    assert await any_stage.answers() == [tripped()]
    assert len(asked) == 8
    assert len(tool.calls) == 3
    told = [turn.text for turn in asked[-1].turns if isinstance(turn, ToolTurn)]
    assert "3 times. Use what you have" in told[2]
    assert "was not made again" in told[3]
