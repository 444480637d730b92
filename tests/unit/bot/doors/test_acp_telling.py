"""Texts and calls as an editor is told of them: each part once, whatever of it was heard while it was said."""

from __future__ import annotations

from typing import Any

import pytest

from bot.doors.acp.telling import Telling, replayed
from runtime.contract import PlanStep, StepMark
from runtime.domain.agents.tasks import checklist, steps_in
from runtime.text.words import LANGUAGES, Languages


def told(*events: dict[str, Any], answer: str = "") -> str:
    telling = Telling("call")
    updates = [update for event in events for update in telling.progress(event)]
    if answer:
        updates += telling.answer({"markdown": answer})
    return "".join(update.content.text for update in updates if update.session_update == "agent_message_chunk")


def speaking(text: str) -> dict[str, Any]:
    return {"kind": "speaking", "text": text}


@pytest.mark.parametrize(
    ("heard", "answer", "whole"),
    [
        ((), "All is well.", "All is well."),
        (("All ", "All is"), "All is well.", "All is well."),
        (("All is well.",), "All is well.", "All is well."),
        (("All is ",), "All is well.", "All is well."),
        (("All is well. ",), "*ops* · All is well.", "All is well. "),
        (("I look.", "It is there."), "It is there.", "I look.\n\nIt is there."),
        (("Something else.",), "All is well.", "Something else.\n\nAll is well."),
        (("x" * 48_999, "x" * 50_000), "x" * 60_000, "x" * 60_000),
    ],
)
def test_a_text_is_told_once(heard: tuple[str, ...], answer: str, whole: str) -> None:
    assert told(*map(speaking, heard), answer=answer) == whole


def test_a_call_that_was_heard_to_begin_alone_ends_with_the_prompt() -> None:
    telling = Telling("call")
    begun = list(telling.progress({"kind": "working", "tool": "read_file", "arguments": "{}", "ended": False}))
    over = list(telling.over())
    assert [(one.kind, one.status) for one in begun] == [("read", "in_progress")]
    assert [(one.tool_call_id, one.status) for one in over] == [(begun[0].tool_call_id, "completed")]
    assert list(telling.over()) == []


STEPS = [PlanStep("Read **it**", StepMark.DONE), PlanStep("Write", StepMark.DOING), PlanStep("Tell Ada")]


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_checklist_is_a_plan_and_no_part_of_the_answer(language: str) -> None:
    LANGUAGES.set(Languages(language))
    entry = {"author": "agent", "markdown": checklist(STEPS)}
    telling = Telling("call")
    updates = [*telling.progress(speaking("I look.")), *telling.answer(entry), *telling.answer({"markdown": "I look."})]
    assert [one.session_update for one in updates] == ["agent_message_chunk", "plan"]
    assert [(one.content, one.status) for one in updates[1].entries] == [
        *(("Read it", "completed"), ("Write", "in_progress"), ("Tell Ada", "pending"))
    ]
    assert [one.session_update for one in replayed([entry])] == ["plan"]


@pytest.mark.parametrize(
    "text", ["**Plan** · 1 of 2 done", "**Plan** · x\n\n☐ Read  \nand more", "☐ Read", "**Plan** · x\n\n☐ Read\n\nSo."]
)
def test_words_about_a_plan_are_an_answer(text: str) -> None:
    assert steps_in(text) == []
    assert told(answer=text) == text


@pytest.mark.parametrize(("counts", "end"), [(True, "failed"), (False, "completed")])
def test_a_call_that_was_denied_has_failed_also_where_the_prompt_was_over_first(counts: bool, end: str) -> None:
    telling = Telling("call")
    question = {"id": "q1", "tool": "shell", "arguments": "{}", "shown": "", "words": "Run it", "question": "Run it?"}
    telling.question(question)
    telling.picked("q1", allowed=False)
    if not counts:
        telling.refused("q1")
    assert [(update.tool_call_id, update.status) for update in telling.over()] == [("q1", end)]
