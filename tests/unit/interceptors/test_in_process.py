"""Interceptors of packages, called in this process."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from runtime.contract.agents.interceptors import Answer, AnswerKind, InterceptorFailed, Occasion, Point
from runtime.interceptors.in_process import HANGING_MAX, InProcess

OCCASION = Occasion(Point.BEFORE_TOOL, "main", tool="shell")
UNTYPED: Any = Answer
"""As a package without types may make one."""
SOON = timedelta(seconds=0.01)


async def test_a_plain_function_and_a_coroutine_answer() -> None:
    async def later(occasion: Occasion) -> Answer:
        return Answer(AnswerKind.DENY, occasion.tool)

    class Kept:
        async def __call__(self, occasion: Occasion) -> Answer:
            return Answer(AnswerKind.ASK)

    assert (await InProcess(lambda occasion: Answer(AnswerKind.DENY, occasion.tool)).ask(OCCASION)).reason == "shell"
    assert (await InProcess(later).ask(OCCASION)).reason == "shell"
    assert (await InProcess(Kept()).ask(OCCASION)).kind is AnswerKind.ASK


@pytest.mark.parametrize(
    "nonsense", [None, "deny", {"answer": "deny"}, UNTYPED("deny"), UNTYPED(AnswerKind.DENY, None), UNTYPED(values=[])]
)
async def test_what_is_no_answer_is_a_failure(nonsense: Any) -> None:
    with pytest.raises(InterceptorFailed, match="no Answer"):
        await InProcess(lambda _: nonsense).ask(OCCASION)


async def test_what_it_does_to_its_copy_changes_nothing() -> None:
    def meddles(told: Occasion) -> Answer:
        told.values["arguments"]["command"] = "rm -r /"
        return Answer()

    occasion = Occasion(Point.BEFORE_TOOL, tool="shell", values={"arguments": {"command": "ls"}})
    await InProcess(meddles).ask(occasion)
    assert occasion.values == {"arguments": {"command": "ls"}}


async def test_one_that_breaks_is_a_failure_without_its_words() -> None:
    def breaks(_: Occasion) -> Answer:
        raise ValueError("a secret of the call")

    with pytest.raises(InterceptorFailed, match=r"^it broke \(ValueError\)$"):
        await InProcess(breaks).ask(OCCASION)


async def test_one_that_hangs_is_left_and_takes_no_more_than_its_threads() -> None:
    free = threading.Event()

    def hangs(_: Occasion) -> Answer:
        free.wait()
        return Answer()

    judge = InProcess(hangs, limit=SOON)
    try:
        for _ in range(HANGING_MAX):
            with pytest.raises(InterceptorFailed, match="no answer within"):
                await judge.ask(OCCASION)
        with pytest.raises(InterceptorFailed, match=f"{HANGING_MAX} earlier calls of it still hang"):
            await judge.ask(OCCASION)
    finally:
        free.set()
