"""Lines of executors, answers of stubs, and canned results: what is wrong in them is said, and the rest does what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import (
    AssistantTurn,
    Call,
    Effect,
    ModelRequest,
    RunId,
    SessionKey,
    ToolContext,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
    Work,
)
from runtime.errors import ModelFailed, ToolFailed
from tests.contract.runtime.stage import fake_tool
from tools.asking import ASK_PERSON
from tools.executors.answers import read_answers
from tools.executors.canned import canned_tools, read_canned
from tools.executors.files import FileFault
from tools.executors.stub import StubModel
from tools.executors.turns import SaidTurn, TurnFault

WRONG_LINES: Final[Mapping[str, Mapping[str, Any]]] = {
    "an unknown type": {"type": "done"},
    "no type": {},
    "a text that is none": {"type": "text", "text": 5},
    "a call without a tool": {"type": "call", "arguments": {}},
    "arguments that are none": {"type": "call", "tool": "look", "arguments": "x"},
    "calls that are none": {"type": "end", "calls": {"tool": "look"}},
    "calls of nothing": {"type": "end", "calls": ["look"]},
    "calls without end": {"type": "end", "calls": [{"tool": "look"}] * 65},
    "tokens below zero": {"type": "end", "usage": {"input_tokens": -1}},
    "tokens that are none": {"type": "end", "usage": {"output_tokens": True}},
    "money that is none": {"type": "end", "usage": {"cost_usd": float("nan")}},
    "usage that is none": {"type": "end", "usage": 7},
    "a failure without words": {"type": "failed"},
}
ANSWERS: Final = r"""
otherwise = "I know nothing of that."

[[answers]]
phrase = "deploy"
replies = [
  { text = "I deploy it.", calls = [{ tool = "shell", arguments = { command = "make deploy", tags = ["{who}"] } }] },
  { text = "It said: {result}" },
]

[[answers]]
pattern = '(?i)\bhello (?P<who>\w+)'
text = "Hello, {who}! {unknown}"

[[answers]]
pattern = 'look at (?P<what>\w+)'
calls = [{ tool = "look", arguments = { at = "{what}" } }]

[[answers]]
text = "First."

[[answers]]
text = "Second."
"""
CANNED: Final = """
[[results]]
tool = "http_get"
arguments = { url = "https://status.example.org/*", options = { depth = 1 } }
result = "All green at {url}."

[[results]]
tool = "http_*"
error = "No way out."
"""
WRONG_ANSWERS: Final = {
    "x = 1\n": "x means nothing there; it has tables [[answers]]",
    "[[answers]]\n": "answers[1]: has neither text nor calls",
    '[[answers]]\nphrase = ""\ntext = "x"\n': "answers[1]: phrase is a text that isn't empty",
    '[[answers]]\npattern = "("\ntext = "x"\n': "answers[1]: pattern is no regular expression",
    '[[answers]]\nwhen = "x"\ntext = "x"\n': "answers[1]: when means nothing there; there are phrase, pattern",
    '[[answers]]\ntext = "x"\n[[answers]]\ncalls = [{}]\n': "answers[2]: calls[1]: tool is missing",
    '[[answers]]\ntext = "x"\nreplies = [{text = "y"}]\n': "answers[1]: has replies beside text or calls",
    "[[answers]]\nreplies = [{}]\n": "answers[1]: replies[1]: has neither text nor calls",
    "[[answers]\n": "is no TOML",
}
WRONG_RESULTS: Final = {
    '[[results]]\nresult = "x"\n': "results[1]: tool is missing",
    '[[results]]\ntool = "look"\n': "results[1]: result is missing; set it, or error",
    '[[results]]\ntool = "look"\nresult = "x"\nerror = "y"\n': "results[1]: has a result and an error",
    '[[results]]\ntool = "look"\nresult = 5\n': "results[1]: result is a text",
    '[[results]]\ntool = "look"\narguments = 1\nresult = "x"\n': "results[1]: arguments is a table",
    "": "has no tables [[results]]",
}
OURS: Final = "[from Signalbox] "
CONTEXT: Final = ToolContext(Path(), SessionKey("s"), RunId("r"), "c")


@pytest.mark.parametrize("fault", WRONG_LINES)
def test_a_line_that_means_nothing_is_told(fault: str) -> None:
    with pytest.raises(TurnFault):
        SaidTurn("program:ops", "RUN/3").take(WRONG_LINES[fault])


# ------------------------------------------------------------------------------------------------------------ stubs


async def said(file: Path, turns: Sequence[Turn], **more: Any) -> tuple[str, list[tuple[str, str]]]:
    request = ModelRequest("", turns, [], step="RUN/3", **more)
    reply = await StubModel(file, "ops", OURS).reply(request, lambda _: None)
    return reply.text, [(call.tool, call.arguments) for call in reply.calls]


def rewrite(file: Path, text: str) -> None:
    file.write_text(text)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.toml"
    file.write_text(ANSWERS)
    return file


async def test_a_phrase_or_a_pattern_has_its_answer(answers: Path) -> None:
    assert await said(answers, [UserTurn("say hello Ada")]) == ("Hello, Ada! {unknown}", [])
    text, calls = await said(answers, [UserTurn("Please DEPLOY it", "Ada")])
    assert text == "I deploy it."
    assert calls == [("shell", '{"command": "make deploy", "tags": ["{who}"]}')]
    assert (await said(answers, [UserTurn("look at it")]))[1] == [("look", '{"at": "it"}')]


async def test_results_of_calls_have_the_next_reply(answers: Path) -> None:
    begun: list[Turn] = [
        UserTurn("deploy"),
        AssistantTurn("I deploy it.", (Call("c", "shell", "{}"),)),
        ToolTurn("c", "shell", "out"),
    ]
    assert await said(answers, begun) == ("It said: out", [])
    looked: list[Turn] = [
        UserTurn("look at it"),
        AssistantTurn("", (Call("c", "look", "{}"),)),
        ToolTurn("c", "look", "a cat"),
    ]
    assert await said(answers, looked) == ("a cat", []), "without another reply the result is told"


async def test_answers_without_a_condition_come_in_their_order(answers: Path) -> None:
    turns: list[Turn] = []
    for expected in ("First.", "Hello, Bo! {unknown}", "Second.", "I know nothing of that."):
        turns += [UserTurn("hello Bo" if "Bo" in expected else "and now?"), UserTurn(f"{OURS}A note.")]
        text, _ = await said(answers, turns)
        assert text == expected
        turns.append(AssistantTurn(text))


async def test_a_file_that_changes_counts_at_once_and_one_without_an_answer_says_so(answers: Path) -> None:
    stub = StubModel(answers, "ops", OURS)
    request = ModelRequest("", [UserTurn("hm")], [])
    assert (await stub.reply(request, lambda _: None)).text == "First."
    rewrite(answers, '[[answers]]\nphrase = "x"\ntext = "y"\n')
    with pytest.raises(ModelFailed, match="none that fits here"):
        await stub.reply(request, lambda _: None)
    rewrite(answers, "broken")
    with pytest.raises(ModelFailed, match="can't be read") as failed:
        await stub.reply(request, lambda _: None)
    assert "is no TOML" in failed.value.detail


async def test_a_long_conversation_gets_its_summary(answers: Path) -> None:
    text, _ = await said(answers, [UserTurn("deploy"), AssistantTurn("x"), UserTurn("hello\nAda")], work=Work.SUMMARY)
    assert text == "- deploy\n- hello Ada"


@pytest.mark.parametrize("text", WRONG_ANSWERS)
def test_what_is_wrong_in_answers_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text(text)
    with pytest.raises(FileFault) as fault:
        read_answers(tmp_path / "answers.toml")
    assert WRONG_ANSWERS[text] in str(fault.value)


# ----------------------------------------------------------------------------------------------------------- canned


async def test_a_canned_result_is_given_for_its_arguments_and_nothing_is_called(tmp_path: Path) -> None:
    file = tmp_path / "canned.toml"
    file.write_text(CANNED)
    real = {name: fake_tool(name, Effect.WRITE) for name in ("http_get", "shell")}
    canned = canned_tools({**real, "ask_person": ASK_PERSON}, read_canned(file), file)
    url = "https://status.example.org/now"
    assert await canned["http_get"].call({"url": url, "options": {"depth": 1}}, CONTEXT) == f"All green at {url}."
    for arguments in ({"url": url}, {"url": url, "options": {"depth": True}}, {"url": "https://example.org"}):
        with pytest.raises(ToolFailed, match=r"No way out\."):
            await canned["http_get"].call(arguments, CONTEXT)
    with pytest.raises(
        ToolFailed, match=r"canned\.toml has no result for shell with \{\"a\": 1\}, so nothing was done"
    ):
        await canned["shell"].call({"a": 1}, CONTEXT)
    assert [tool.calls for tool in real.values()] == [[], []]
    assert canned["ask_person"].spec.asks, "questions are put to people"
    assert "nothing is done" in canned["shell"].caution()


def test_what_is_said_of_a_tool_stays(tmp_path: Path) -> None:
    file = tmp_path / "canned.toml"
    file.write_text(CANNED)
    tool = fake_tool("http_get", Effect.DANGER)
    spec: ToolSpec = canned_tools({"http_get": tool}, read_canned(file), file)["http_get"].spec
    assert spec == tool.spec


@pytest.mark.parametrize("text", WRONG_RESULTS)
def test_what_is_wrong_in_results_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "canned.toml").write_text(text)
    with pytest.raises(FileFault) as fault:
        read_canned(tmp_path / "canned.toml")
    assert WRONG_RESULTS[text] in str(fault.value)
