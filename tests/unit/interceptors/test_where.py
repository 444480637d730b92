"""Which occasions an interceptor is asked about, and which answers count where."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract.agents.interceptors import (
    ANSWERS_AT,
    REPLACEABLE,
    Answer,
    AnswerKind,
    InterceptorFailed,
    Occasion,
    Point,
    fault_of,
)
from runtime.interceptors.chain import Where

CALL = Occasion(Point.BEFORE_TOOL, "main", "slack:work/C1/17.2", "r", "r/2", "Ada", "shell", {"arguments": {}})


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        (Where(), True),
        (Where(tools=("sh*",)), True),
        (Where(tools=("look", "mcp_*")), False),
        (Where(agents=("main",)), True),
        (Where(agents=("coder*",)), False),
        (Where(rooms=("slack:work/C1",)), True),  # a room's threads are in it
        (Where(rooms=("slack:work/*",)), True),
        (Where(rooms=("slack:work/C",)), False),
        (Where(rooms=("telegram:*",)), False),
        (Where(tools=("shell",), rooms=("telegram:*",)), False),
    ],
)
def test_all_bounds_must_fit(where: Where, fits: bool) -> None:
    assert where.fits(CALL) is fits


def test_a_bound_of_tools_fits_nothing_without_a_tool() -> None:
    assert not Where(tools=("*",)).fits(Occasion(Point.ON_ERROR, "main", "web:main/a"))


def test_every_point_says_which_answers_count() -> None:
    assert set(ANSWERS_AT) == set(Point)
    assert set(REPLACEABLE) == {point for point, kinds in ANSWERS_AT.items() if AnswerKind.REPLACE in kinds}


@pytest.mark.parametrize(
    ("at", "answer", "fault"),
    [
        (Point.BEFORE_TOOL, Answer(), ""),
        (Point.BEFORE_TOOL, Answer(AnswerKind.ASK, "why"), ""),
        (Point.AFTER_TOOL, Answer(AnswerKind.ASK), 'it answered "ask", which after_tool does not know'),
        (Point.RUN_END, Answer(AnswerKind.DENY), 'it answered "deny", which run_end does not know'),
        (Point.BEFORE_TOOL, Answer(AnswerKind.REPLACE), "it answered replace without arguments"),
        (Point.BEFORE_TOOL, Answer(AnswerKind.REPLACE, values={"arguments": [1]}), "its arguments are no JSON object"),
        (Point.AFTER_TOOL, Answer(AnswerKind.REPLACE, values={"result": 1}), "its result is no text"),
        (
            Point.BEFORE_TOOL,
            Answer(AnswerKind.REPLACE, values={"args": {}}),
            "it replaced args, and before_tool only knows arguments",
        ),
        (Point.BEFORE_TOOL, Answer(values={"note": "x"}), "it answered allow with note beside it"),
    ],
)
def test_an_answer_that_means_nothing_there_is_a_fault(at: Point, answer: Answer, fault: str) -> None:
    assert fault_of(at, answer) == fault


@pytest.mark.parametrize(
    "told", [{}, {"answer": "yes"}, {"answer": None}, {"answer": "deny", "reason": 5}, {"answer": []}]
)
def test_nonsense_is_no_answer(told: dict[str, Any]) -> None:
    with pytest.raises(InterceptorFailed):
        Answer.parse(told)
