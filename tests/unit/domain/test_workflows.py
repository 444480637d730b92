"""Workflows as pure rules: reading, expressions, and what comes next."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Call
from runtime.domain.workflows.asking import asked
from runtime.domain.workflows.calls import call_of
from runtime.domain.workflows.definition import Workflow
from runtime.domain.workflows.expressions import ExpressionError, filled, value_of
from runtime.domain.workflows.progress import Result, StepState, standing
from runtime.domain.workflows.reading import WorkflowError, inputs_of, read_workflow
from runtime.domain.workflows.record import results_in
from runtime.text.outside import material
from tools.mcp.asked.held import Waiting
from tools.mcp.asked.needs import GoesOn, Needs

VALUES = {"inputs": {"n": 3, "loud": True}, "steps": {"a": {"text": "x", "value": {"files": ["p", "q"]}}}}


def flow(steps: str, head: str = "") -> Workflow:
    return read_workflow(tomllib.loads(f'name = "w"\n{head}\n{steps}'))


def step(name: str, more: str = 'tool = "look"') -> str:
    return f'[[steps]]\nname = "{name}"\n{more}\n'


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("inputs.n > 2 and inputs.loud", True),
        ("len(steps.a.value.files) - 1", 1),
        ("steps.a.value.files[1]", "q"),
        ("'p' in steps.a.value.files", True),
        ("'yes' if inputs.n == 3 else 'no'", "yes"),
        ("not inputs.loud or false", False),
        ("1 < inputs.n < 3", False),
        ("lower('ABC')", "abc"),
    ],
)
def test_expressions(expression: str, value: Any) -> None:
    assert value_of(expression, VALUES) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "().__class__",
        "[x for x in inputs]",
        "lambda: 1",
        "open('x')",
        "2 ** 99999",
        "'a' * 10",
        "'a' + 'b'",
        "steps.a.text.__class__",
        "inputs['n'].real",
        "steps.b.text",
        "f'{inputs.n}'",
        "",
        "1 +",
        "len()",
        "(" * 300 + "1" + ")" * 300,
        "1" + " or 1" * 400,
        "json('[' * 5)",
        "number('x')",
        "inputs.n.real",
    ],
)
def test_what_is_no_expression_or_reaches_further_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        value_of(expression, VALUES)


@given(st.text(max_size=80))
def test_any_text_is_a_value_or_a_sentence(text: str) -> None:
    with suppress(ExpressionError):
        value_of(text, VALUES)


def test_a_value_that_stands_alone_keeps_its_type() -> None:
    assert filled({"a": "{{ inputs.n }}", "b": ["{{steps.a.value}}", "n={{ inputs.n }}"]}, VALUES) == {
        "a": 3,
        "b": [{"files": ["p", "q"]}, "n=3"],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (step("a", 'tool = "look"\nprompt = "x"'), "step 'a': it does one thing: give one of tool, prompt"),
        (step("a", 'tool = "look"\nafter = ["b"]'), "step 'a': it comes after 'b', and there is no such step"),
        (step("a", 'tool = "x"\nafter = ["b"]') + step("b"), "its steps wait for each other: "),
        (step("a") + step("a"), "two steps are called 'a'"),
        (step("a", 'prompt = "{{ inputs.x }}"'), "step 'a': there is no input 'x'; there is none"),
        (step("a", 'prompt = "{{ steps.b.text }}"') + step("b"), "step 'a': there is no step 'b' that is over by then"),
        (step("a", 'prompt = "{{ item }}"'), "step 'a': there is no value 'item'"),
        (step("a", 'prompt = "x"\nwhen = "1 +"'), "step 'a': `1 +` is no expression"),
        (step("a", 'tool = "x"\neach = "inputs"\nuntil = "true"'), "each and until can't stand together"),
        (step("a", 'wait = "1 day"\nevent = "rain"'), "event is one of words"),
        (step("a", 'wait = "1 day"\nevent = "words"'), "it waits for words"),
        (step("a", 'wait = "1 day"\nwords = ["x"]'), "words belong to an event"),
        (step("a", 'tool = "x"\nrounds = 101'), "rounds is a whole number from 1 to 100"),
        (step("a", 'prompt = "x"\nseconds = 5'), "seconds is a whole number from 10 to 3600"),
        (step("a", 'tool = "x"\nfoo = 1'), "'foo' means nothing here"),
        (step("a", 'delegate = "x"'), "delegate needs `to`"),
        ("steps = []", "it needs 1 to 100 steps"),
    ],
)
def test_faults_name_the_step_and_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(WorkflowError) as told:
        flow(text)
    assert said in str(told.value)


def test_faults_name_the_line_where_it_is_known() -> None:
    raw = tomllib.loads('name = "w"\n' + step("a") + step("b", 'tool = "x"\nafter = ["c"]'))
    with pytest.raises(WorkflowError, match=r"step 'b' \(line 6\): it comes after 'c'"):
        read_workflow(raw, {"b": 6})


def test_a_definition_written_down_is_the_same_one_again() -> None:
    one = flow(step("a") + step("b", 'prompt = "{{ steps.a.text }}"\nschema = {type = "object"}'), "inputs.n = 3")
    assert Workflow.from_json(one.to_json()) == one
    assert Workflow.from_json(one.to_json()).sha256 == one.sha256


def test_inputs_from_a_command_are_read_as_their_types() -> None:
    one = flow(step("a"), 'inputs = { n = 3, loud = false, names = ["a"], room = { type = "text" } }')
    given_ = {"n": "4.5", "loud": "yes", "names": "x, y", "room": "attic"}
    assert inputs_of(one, given_) == {"n": 4.5, "loud": True, "names": ["x", "y"], "room": "attic"}
    with pytest.raises(WorkflowError, match="it needs room"):
        inputs_of(one, {})
    with pytest.raises(WorkflowError, match="n is a number, and 'four' is none"):
        inputs_of(one, {"room": "x", "n": "four"})


def run(one: Workflow, answers: dict[str, str]) -> tuple[list[list[str]], dict[str, str]]:
    """Waves of calls, each by its id; and the states at the end. An answer that begins with "error" has failed."""
    results: dict[str, Result] = {}
    waves = []
    now = standing(one, {}, results)
    while now.wanted:
        waves.append([wanted.id for wanted in now.wanted])
        for wanted in now.wanted:
            text = answers.get(wanted.id, answers.get(wanted.step.name, "ok"))
            results[call_of(wanted).id] = Result(text, text.startswith("error"))
        now = standing(one, {}, results)
    return waves, {one.step.name: one.state.value for one in now.steps}


def test_steps_without_an_order_run_side_by_side_and_are_collected() -> None:
    one = flow(step("a") + step("b", 'tool = "x"\nafter = []') + step("c", 'tool = "x"\nafter = ["a", "b"]'))
    assert run(one, {})[0] == [["step-a-1", "step-b-1"], ["step-c-1"]]


def test_a_step_is_tried_again_and_then_fails_the_whole() -> None:
    one = flow(step("a", 'tool = "x"\non_error = "retry"\nretries = 1') + step("b"))
    waves, states = run(one, {"step-a-1": "error: no", "step-a-1-again-1": "ok"})
    assert waves == [["step-a-1"], ["step-a-1-again-1"], ["step-b-1"]]
    waves, states = run(one, {"a": "error: no"})
    assert (waves[-1], states) == (["step-a-1-again-1"], {"a": "failed", "b": "pending"})


def test_a_step_that_may_fail_is_skipped_and_others_go_on() -> None:
    one = flow(step("a", 'tool = "x"\non_error = "skip"') + step("b"))
    assert run(one, {"a": "error: no"})[1] == {"a": "skipped", "b": "succeeded"}


def test_a_loop_ends_when_its_condition_holds_or_its_rounds_are_over() -> None:
    one = flow(step("a", 'tool = "x"\nuntil = "result.text == \'ready\'"\nrounds = 3'))
    waves, states = run(one, {"step-a-1": "no", "step-a-2": "ready"})
    assert (waves, states) == ([["step-a-1"], ["step-a-2"]], {"a": "succeeded"})
    assert run(one, {"a": "no"})[1] == {"a": "failed"}


def test_a_fan_out_of_51_is_refused_in_words() -> None:
    one = flow(step("a") + step("b", 'tool = "x"\neach = "steps.a.value"'))
    now = standing(one, {}, {"step-a-1": Result(str(list(range(51))))})
    assert now.failed is not None
    assert "has 51 pieces; a step is done for at most 50" in now.failed.why


def test_at_most_five_pieces_are_in_the_hands_of_others_at_once() -> None:
    one = flow(step("a") + step("b", 'prompt = "{{ item }}"\neach = "steps.a.value"'))
    waves, _ = run(one, {"a": str(list(range(12)))})
    assert [len(wave) for wave in waves] == [1, 5, 5, 2]


@given(st.data())
def test_however_its_calls_end_every_workflow_comes_to_an_end(data: st.DataObject) -> None:
    names = [f"s{number}" for number in range(data.draw(st.integers(1, 6)))]
    text = ""
    for number, name in enumerate(names):
        before = data.draw(st.lists(st.sampled_from(names[:number]), unique=True)) if number else []
        more = data.draw(
            st.sampled_from(["", 'on_error = "skip"', 'on_error = "retry"', "until = \"result.text == 'ok'\""])
        )
        text += step(name, f'tool = "x"\nafter = {before}\n{more}')
    answers = {name: data.draw(st.sampled_from(["ok", "error: no", "[1]"])) for name in names}
    waves, states = run(flow(text), answers)
    calls = [call for wave in waves for call in wave]
    assert len(set(calls)) == len(calls)
    over = {StepState.SUCCEEDED.value, StepState.SKIPPED.value}
    assert StepState.FAILED.value in states.values() or set(states.values()) <= over


def test_a_condition_may_stand_in_braces_but_not_a_part_of_one() -> None:
    assert value_of("{{ inputs.n > 2 }}", VALUES) is True
    with pytest.raises(ExpressionError, match=r"one expression, without \{\{ \}\} around its parts"):
        value_of("{{ inputs.n }} > 2", VALUES)


def test_a_step_that_there_is_not_is_told_with_those_before() -> None:
    with pytest.raises(WorkflowError, match="no step 'zz' that is over by then; no step comes before it"):
        flow(step("a", 'post = "{{ steps.zz.text }}"'))


def test_a_question_with_five_options_is_refused_with_its_step() -> None:
    with pytest.raises(WorkflowError, match="step 'a': it has 5 options; a question has at most 4"):
        flow(step("a", 'ask = "which?"\noptions = ["1", "2", "3", "4", "5"]'))


def test_a_command_without_a_name_is_told_the_names() -> None:
    with pytest.raises(WorkflowError, match=r"name a workflow. There are: w\."):
        asked("", {"w": flow(step("a"))})


def test_a_step_whose_server_asked_a_person_has_the_result_that_came_in_the_end() -> None:
    waiting = Waiting("3kTMd8", "step-a-1", "look", "form", {}, Needs(GoesOn.AGAIN_WITH))
    goes_on = Call("desk-2-3kTMd8-step-a-1", "desk_goes_on", json.dumps({"call": waiting.key, "answers": {}}))
    first = (Call("step-a-1", "desk_look", "{}"), "The MCP server desk asks a person something before it goes on.")
    assert results_in([first, (goes_on, material("42", "desk"))])["step-a-1"] == Result("42")
    assert results_in([first, (goes_on, "error: it was refused")])["step-a-1"].failed
