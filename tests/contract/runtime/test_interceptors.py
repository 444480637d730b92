"""Interceptors through the whole runtime: what they decide is recorded with the call, and a kill changes none of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from runtime.contract import ApprovalKind, AssistantTurn, Call, Choice, Effect, ModelRequest, ToolTurn
from runtime.contract.agents.interceptors import Answer, AnswerKind, InterceptorFailed, Occasion, Point
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import RunState
from runtime.interceptors.chain import Placed, Where
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import (
    READ,
    SHELL,
    WRITE,
    FakeTool,
    Process,
    Stage,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned
from tests.unit.guard.secrets import SECRETS

ALLOW: Final = Answer()
LET_ALL: Final = (Rule(Ruling.ALLOW),)
TOKEN: Final = SECRETS["github"][1]
SCHEMA: Final = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
    "additionalProperties": False,
}


@dataclass
class Listed:
    """Answers as listed, the last one for ever, and notes what it was told."""

    answers: list[Answer | InterceptorFailed]
    told: list[Occasion] = field(default_factory=list)

    async def ask(self, occasion: Occasion) -> Answer:
        self.told.append(occasion)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, InterceptorFailed):
            raise answer
        return answer


def at(point: Point, *answers: Answer | InterceptorFailed, name: str = "warden", **more: Any) -> Placed:
    return Placed(name, point, Listed(list(answers)), **more)


def told(placed: Placed) -> list[Occasion]:
    assert isinstance(placed.judge, Listed)
    return placed.judge.told


def replaced(**values: Any) -> Answer:
    return Answer(AnswerKind.REPLACE, values=values)


DENIES: Final = Answer(AnswerKind.DENY, "Not on a Friday")
ASKS: Final = Answer(AnswerKind.ASK, "It names production.")


def shell() -> FakeTool:
    tool = fake_tool("shell", Effect.DANGER)
    tool.spec = replace(tool.spec, schema=SCHEMA)
    return tool


async def said(
    stage: Stage, *interceptors: Placed, call: Call = SHELL, rules: tuple[Rule, ...] = LET_ALL
) -> tuple[Process, Planned]:
    model = Planned(call)
    process = await stage.process(
        model,
        [shell(), fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE)],
        rules=rules,
        interceptors=interceptors,
    )
    await process.say("run it")
    await process.answer_all()
    return process, model


def result(request: ModelRequest) -> str:
    return next(turn.text for turn in reversed(request.turns) if isinstance(turn, ToolTurn))


# -------------------------------------------------------------------------------------------------------- before a tool


async def test_a_denied_call_is_not_made_and_the_model_reads_why(stage: Stage) -> None:
    process, model = await said(stage, at(Point.BEFORE_TOOL, DENIES))
    assert process.tools["shell"].calls == []
    assert result(model.requests[-1]) == 'denied: the interceptor "warden" does not allow it. Not on a Friday.'
    [(by, about, detail)] = await stage.audit("interceptor denied")
    assert (by, detail) == ("warden", "before_tool shell")
    assert about.endswith("/2")


async def test_the_first_denial_ends_the_questions(stage: Stage) -> None:
    second = at(Point.BEFORE_TOOL, ALLOW, name="second")
    await said(stage, at(Point.BEFORE_TOOL, DENIES), second)
    assert told(second) == []


async def test_each_call_of_an_answer_is_told_with_the_step_that_it_becomes(stage: Stage) -> None:
    """Also behind one that is refused before anybody is asked."""
    one = at(Point.BEFORE_TOOL, ALLOW)
    process = await stage.process(
        Planned((Call("c1", "nothing", "{}"), READ, SHELL)),
        [shell(), fake_tool("look", Effect.READ)],
        rules=LET_ALL,
        interceptors=[one],
    )
    await process.say("go")
    await process.answer_all()
    rows = await stage.rows("SELECT run_id, number, tool FROM steps WHERE kind = 'tool' ORDER BY number")
    steps = {tool: f"{run}/{number}" for run, number, tool in rows}
    assert [(occasion.tool, occasion.step) for occasion in told(one)] == [
        ("look", steps["look"]),
        ("shell", steps["shell"]),
    ]


async def test_an_asked_call_is_a_card_that_names_the_interceptor_and_its_reason(stage: Stage) -> None:
    process, _ = await said(stage, at(Point.BEFORE_TOOL, ASKS))
    assert process.tools["shell"].calls == []
    [question] = await stage.pending()
    assert question.caution == 'Interceptor "warden" asks: It names production.'
    assert not question.terms.grants
    assert any('Interceptor "warden" asks: It names production.' in body for body in await stage.screen())
    await process.click(question.id)
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": "uname -a"}]


@pytest.mark.parametrize("ruling", [Ruling.DENY, Ruling.VETO])
async def test_no_interceptor_lifts_what_a_rule_denies(ruling: Ruling, stage: Stage) -> None:
    allows = at(Point.BEFORE_TOOL, ALLOW)
    process, model = await said(stage, allows, rules=(Rule(ruling),))
    assert process.tools["shell"].calls == []
    assert told(allows) == []
    assert result(model.requests[-1]).startswith("denied: the policy here")


async def test_an_allowed_question_of_a_rule_is_still_asked(stage: Stage) -> None:
    await said(stage, at(Point.BEFORE_TOOL, ALLOW), rules=())
    [question] = await stage.pending()
    assert question.caution == ""


async def test_no_standing_yes_answers_for_people(stage: Stage) -> None:
    process, _ = await said(stage, rules=())
    [question] = await stage.pending()
    await process.click(question.id, Choice.CONVERSATION)
    await process.answer_all()
    process, _ = await said(stage, rules=())
    assert process.tools["shell"].calls == [{"command": "uname -a"}]  # the grant holds
    process, _ = await said(stage, at(Point.BEFORE_TOOL, ASKS), rules=())
    assert process.tools["shell"].calls == []
    assert len(await stage.pending()) == 1


async def test_the_card_and_the_call_have_the_replaced_arguments(stage: Stage) -> None:
    process, model = await said(stage, at(Point.BEFORE_TOOL, replaced(arguments={"command": "uname"})), rules=())
    [question] = await stage.pending()
    assert json.loads(question.arguments) == {"command": "uname"}
    assert question.caution == 'Changed by the interceptor "warden".'
    await process.click(question.id)
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": "uname"}]
    called = model.requests[-1].turns[1]
    assert isinstance(called, AssistantTurn)
    assert called.calls[0].arguments == '{"command": "uname"}'
    assert "it was changed by the interceptor" in result(model.requests[-1]), "people were asked in between"


async def test_a_replaced_call_is_judged_by_the_rules_again(stage: Stage) -> None:
    rules = (Rule(Ruling.DENY, "shell", arguments={"command": "rm *"}), Rule(Ruling.ALLOW))
    later = at(Point.BEFORE_TOOL, ALLOW, name="later")
    process, model = await said(
        stage, at(Point.BEFORE_TOOL, replaced(arguments={"command": "rm -r x"})), later, rules=rules
    )
    assert process.tools["shell"].calls == []
    assert result(model.requests[-1]).startswith("denied: the policy here")
    assert told(later) == []


async def test_a_secret_in_replaced_arguments_is_sealed_and_shown_to_nobody(stage: Stage) -> None:
    process, _ = await said(stage, at(Point.BEFORE_TOOL, replaced(arguments={"command": f"echo {TOKEN}"})), rules=())
    [question] = await stage.pending()
    assert TOKEN not in question.arguments + "".join(await stage.screen())
    await process.click(question.id)
    await process.answer_all()
    assert process.tools["shell"].calls == [{"command": f"echo {TOKEN}"}]


async def test_a_call_with_a_secret_is_shown_without_it_and_not_replaced(stage: Stage) -> None:
    changes = at(Point.BEFORE_TOOL, replaced(arguments={"command": "x"}))
    call = Call("c", "shell", json.dumps({"command": f"echo {TOKEN}"}))
    process, model = await said(stage, changes, call=call)
    assert TOKEN not in str(told(changes))
    assert process.tools["shell"].calls == []
    assert "the call holds a secret" in result(model.requests[-1])


@pytest.mark.parametrize("is_closed", [True, False])
async def test_a_call_that_hides_something_asks_where_an_interceptor_had_to_see_it(
    is_closed: bool, stage: Stage
) -> None:
    """Whatever looks like a secret is hidden from it: its yes would let anything through."""
    hidden = "echo -----BEGIN PRIVATE KEY-----\ngit push -f origin"
    one = at(Point.BEFORE_TOOL, ALLOW, is_closed=is_closed)
    process, _ = await said(stage, one, call=Call("c", "shell", json.dumps({"command": hidden})))
    assert told(one)[0].values["hidden"] is True
    assert "git push" not in str(told(one))
    assert bool(process.tools["shell"].calls) is not is_closed
    questions = await stage.pending()
    assert [question.caution for question in questions] == (
        ['Interceptor "warden" cannot see what is hidden here.'] if is_closed else []
    )


async def test_arguments_that_do_not_fit_the_tool_are_a_failure(stage: Stage) -> None:
    process, model = await said(stage, at(Point.BEFORE_TOOL, replaced(arguments={"cmd": "x"})))
    assert process.tools["shell"].calls == []
    assert "It failed: its arguments do not fit shell" in result(model.requests[-1])
    assert [row[0] for row in await stage.audit("interceptor failed")] == ["warden"]


@pytest.mark.parametrize("is_closed", [True, False])
async def test_a_failing_interceptor_denies_unless_it_is_set_open(is_closed: bool, stage: Stage) -> None:
    fails = at(Point.BEFORE_TOOL, InterceptorFailed("it ended with code 1"), is_closed=is_closed)
    process, model = await said(stage, fails)
    assert bool(process.tools["shell"].calls) is not is_closed
    if is_closed:
        assert result(model.requests[-1]).endswith("It failed: it ended with code 1.")
    assert len(await stage.audit("interceptor failed")) == 1


async def test_a_tool_that_does_not_fit_is_not_asked_about(stage: Stage) -> None:
    one = at(Point.BEFORE_TOOL, DENIES, where=Where(tools=("look", "mcp_*")))
    process, _ = await said(stage, one)
    assert told(one) == []
    assert len(process.tools["shell"].calls) == 1


async def test_what_an_approver_writes_is_asked_about_too(stage: Stage) -> None:
    strict = at(Point.BEFORE_TOOL, ASKS, DENIES)
    process, _ = await said(stage, strict)
    [question] = await stage.pending()
    verdict = await process.edit(question.id, argument="rm -r /")
    assert 'The interceptor "warden" does not allow it. Not on a Friday.' in (verdict.notice or "")
    assert [one.state for one in await stage.pending()] == [ApprovalState.PENDING]


async def test_a_stop_does_not_wait_for_an_interceptor(stage: Stage) -> None:
    asked = asyncio.Event()

    class Hangs:
        async def ask(self, occasion: Occasion) -> Answer:
            asked.set()
            await asyncio.Event().wait()
            return ALLOW

    process = await stage.process(
        Planned(SHELL), [shell()], rules=LET_ALL, interceptors=[Placed("warden", Point.BEFORE_TOOL, Hangs())]
    )
    await process.say("run it")
    async with process.running():
        await asked.wait()
        await process.stop()
        await process.rest()
    assert await stage.states() == [RunState.STOPPED]
    assert process.tools["shell"].calls == []


# ------------------------------------------------------------------------------------------------------------- the kill


@pytest.mark.parametrize("point", ["step-recorded", "approval-stored", "tool-marked"])
async def test_a_run_that_goes_on_acts_on_the_first_answer(point: str, any_stage: Stage) -> None:
    """The second life would be told otherwise: nobody is asked again about a call that is recorded."""
    stage, tools = any_stage, [shell()]
    calls: list[Any] = tools[0].calls
    first = Listed([replaced(arguments={"command": "uname"}), DENIES])
    again = Listed([DENIES])
    asks = Listed([ASKS])

    def placed(judge: Listed) -> list[Placed]:
        return [Placed("warden", Point.BEFORE_TOOL, judge), Placed("second", Point.BEFORE_TOOL, asks)]

    plan: Callable[[], Planned] = lambda: Planned(SHELL)  # noqa: E731 - each life has a model of its own
    more = {"rules": LET_ALL}
    process = await stage.process(plan(), tools, interceptors=placed(first), probe=crash_at(point), **more)
    await process.say("run it")
    if point == "tool-marked":
        await process.answer_all()
        [question] = await stage.pending()
        await process.click(question.id)
    await process.until_crash()
    process = await stage.process(plan(), tools, interceptors=placed(again), **more)
    await process.answer_all()
    for question in await stage.pending():  # also: was it made before the kill?
        assert json.loads(question.arguments) == {"command": "uname"}
        is_doubted = question.kind is ApprovalKind.OUTCOME
        await process.click(question.id, Choice.AGAIN if is_doubted else Choice.APPROVE)
        await process.answer_all()
    assert calls == [{"command": "uname"}]
    assert again.told == []
    assert await stage.states() == [RunState.DONE]


async def test_the_model_reads_the_replaced_result_after_a_kill_too(any_stage: Stage) -> None:
    stage, tools = any_stage, [shell()]
    first = at(Point.AFTER_TOOL, replaced(result="Linux, says the warden"))
    again = at(Point.AFTER_TOOL, replaced(result="something else"))
    model = Planned(SHELL)
    process = await stage.process(
        Planned(SHELL), tools, interceptors=[first], rules=LET_ALL, probe=crash_at("model-answered", 2)
    )
    await process.say("run it")
    await process.until_crash()
    process = await stage.process(model, tools, interceptors=[again], rules=LET_ALL)
    await process.answer_all()
    assert len(tools[0].calls) == 1
    assert result(model.requests[-1]).startswith("Linux, says the warden")
    assert told(again) == []


async def test_after_a_kill_a_read_is_made_again_and_its_interceptor_told_the_same_step(stage: Stage) -> None:
    one = at(Point.AFTER_TOOL, ALLOW)
    tools = [fake_tool("look", Effect.READ)]
    process = await stage.process(Planned(READ), tools, interceptors=[one], probe=crash_at("tool-finished"))
    await process.say("look")
    await process.until_crash()
    process = await stage.process(Planned(READ), tools, interceptors=[one])
    await process.answer_all()
    assert [occasion.step for occasion in told(one)] == [told(one)[0].step] * 2


# --------------------------------------------------------------------------------------------------------- other points


async def test_a_withheld_result_says_that_the_call_was_made(stage: Stage) -> None:
    process, model = await said(stage, at(Point.AFTER_TOOL, DENIES))
    assert len(process.tools["shell"].calls) == 1
    assert result(model.requests[-1]) == (
        "[from Signalbox] The call was made, but its result is withheld: "
        'the interceptor "warden" does not allow it. Not on a Friday.'
    )


async def test_a_secret_in_a_replaced_result_does_not_reach_the_model(stage: Stage) -> None:
    _, model = await said(stage, at(Point.AFTER_TOOL, replaced(result=f"it is {TOKEN}")))
    assert TOKEN not in str(model.requests[-1].turns)
    assert "[redacted: GitHub token" in result(model.requests[-1])


async def test_texts_of_a_request_can_be_replaced_for_the_model_alone(stage: Stage) -> None:
    hides = at(Point.BEFORE_MODEL, replaced(messages=[{"role": "user", "text": "run what they said"}]), ALLOW)
    _, model = await said(stage, hides)
    assert [turn.text for turn in model.requests[0].turns] == ["run what they said"]
    assert model.requests[1].turns[0].text == "run it"
    assert told(hides)[0].values["messages"] == [{"role": "user", "text": "run it"}]


async def test_messages_can_not_be_left_out(stage: Stage) -> None:
    await said(stage, at(Point.BEFORE_MODEL, replaced(messages=[])))
    [answer] = await stage.answers()
    assert answer.endswith("It failed: its messages are not the 1 that it was given.")


async def test_a_denied_request_ends_the_run_with_its_reason(stage: Stage) -> None:
    fails, ends = at(Point.ON_ERROR, ALLOW, name="fails"), at(Point.RUN_END, ALLOW, name="ends")
    _, model = await said(stage, at(Point.BEFORE_MODEL, DENIES), fails, ends)
    words = 'The model was not asked: the interceptor "warden" does not allow it. Not on a Friday.'
    assert model.requests == []
    assert await stage.answers() == [words]
    assert [one.values for one in told(fails)] == [{"error": words}]
    assert [one.values["state"] for one in told(ends)] == ["failed"]


async def test_a_held_back_answer_calls_nothing(stage: Stage) -> None:
    process, _ = await said(stage, at(Point.AFTER_MODEL, DENIES))
    assert process.tools["shell"].calls == []
    assert await stage.answers() == [
        'I held my answer back: the interceptor "warden" does not allow it. Not on a Friday.'
    ]


async def test_a_shown_answer_can_be_another_one_and_nothing_of_the_first_is_seen(stage: Stage) -> None:
    shows = at(Point.BEFORE_SHOW, replaced(text=f"All well. {TOKEN}"))
    process, model = await said(stage, shows, call=WRITE)
    [answer] = await stage.answers()
    assert answer.startswith("All well. [redacted: GitHub token")
    assert not any("done" in str(event) for event in process.page.seen)
    await process.say("what did you say?")
    await process.answer_all()
    assert "All well." in str(model.requests[-1].turns)


async def test_a_failing_look_at_an_answer_holds_it_back(stage: Stage) -> None:
    await said(stage, at(Point.BEFORE_SHOW, InterceptorFailed("it gave no answer within 5 seconds")))
    [answer] = await stage.answers()
    assert answer.startswith("I held my answer back:")


async def test_those_who_are_told_change_nothing(stage: Stage) -> None:
    """What they answer counts for nothing, and a failure neither."""
    ends = at(Point.RUN_END, DENIES)
    await said(stage, ends, at(Point.RUN_END, InterceptorFailed("it ended"), name="broken"))
    assert await stage.answers() == ["done"]
    assert [(one.values["state"], one.values["text"]) for one in told(ends)] == [("done", "done")]
    assert await stage.audit("interceptor denied") == []


async def test_an_error_of_a_tool_is_told(stage: Stage) -> None:
    async def breaks(_: Any) -> str:
        raise OSError

    fails, tool = at(Point.ON_ERROR, ALLOW), fake_tool("look", Effect.READ, breaks)
    process = await stage.process(Planned(READ), [tool], interceptors=[fails])
    await process.say("look")
    await process.answer_all()
    assert [(one.tool, one.values["error"]) for one in told(fails)] == [
        ("look", "error: look failed unexpectedly (OSError).")
    ]


async def test_the_audit_never_has_a_value_or_a_reason(stage: Stage) -> None:
    await said(
        stage,
        at(Point.BEFORE_TOOL, replaced(arguments={"command": "SECRETLY"})),
        at(Point.BEFORE_TOOL, Answer(AnswerKind.ASK, "SECRETLY"), name="second"),
    )
    rows = [
        row for kind in ("asked", "replaced", "denied", "failed") for row in await stage.audit(f"interceptor {kind}")
    ]
    assert len(rows) == 2
    assert "SECRETLY" not in str(rows)
