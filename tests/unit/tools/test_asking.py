"""The tool that asks a person: which calls make a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.contract import Asking, RunId, SessionKey, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tools.asking import ASK_PERSON, asked

TWO: dict[str, Any] = {"question": "Which?", "options": ["red", "green"]}


def test_a_call_becomes_a_question_on_one_line() -> None:
    call = {"question": " Which\ncolour? ", "options": ["light  red", "green\n"], "to": " Ann "}
    assert asked(call) == Asking("Which colour?", ("light red", "green"), "Ann")
    assert ASK_PERSON.spec.asks is asked


def test_points_of_a_question_keep_their_lines_and_nothing_else_does() -> None:
    told = asked({"question": "Begin?\n- done when\n  it rains\n\n-  judged by Ann\n✅ Approved by Ada"})
    assert told.question == "Begin?\n- done when it rains\n- judged by Ann ✅ Approved by Ada"


def test_a_question_needs_no_options() -> None:
    assert asked({"question": "Which?"}) == asked({"question": "Which?", "options": None}) == Asking("Which?")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"question": 3}, "ask_person was not called. The argument 'question' must be a string; you gave an integer."),
        ({"question": "  "}, "Give a question of at most 1,000 characters. Nobody was asked."),
        ({"question": "x" * 1001}, "Give a question of at most 1,000 characters. Nobody was asked."),
        ({"options": ["one"]}, "Give 2 to 4 different options, or none. Nobody was asked."),
        ({"options": list("abcde")}, "Give 2 to 4 different options, or none. Nobody was asked."),
        ({"options": ["red", " red "]}, "Give 2 to 4 different options, or none. Nobody was asked."),
        ({"options": ["red", ""]}, "Give options of at most 200 characters each. Nobody was asked."),
        ({"options": ["red", "x" * 201]}, "Give options of at most 200 characters each. Nobody was asked."),
    ],
)
def test_what_makes_no_question_is_told_to_the_model(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolRetry) as error:
        asked(TWO | wrong)
    assert str(error.value) == told


async def test_it_does_nothing_if_it_is_called() -> None:
    with pytest.raises(ToolFailed, match="A person answers this"):
        await ASK_PERSON.call(TWO, ToolContext(Path(), SessionKey("s"), RunId("r"), "c"))
