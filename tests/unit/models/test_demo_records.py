"""Phrases of the demo model about figures, values under keys and work that was handed on."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import FIND_TOOLS, Call, ToolTurn
from runtime.models.demo_phrases import PHRASES, Wish, wish, wishes_of
from runtime.models.demo_telling import outcome
from tests.e2e.every_tool import GIVES


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("what happened?", "activity", {}),
        ("What did it cost in the last 48 hours?", "costs", {"hours": 48}),
        ("how were your answers rated?", "feedback", {}),
        ("list the pending approvals", "pending_approvals", {}),
        ("list the dead letters", "dead_letters", {}),
        ("is message a1B2c3 shown?", "delivery_status", {"message": "a1B2c3"}),
        ("what did you hand on?", "children", {}),
        ("stop the child a1B2c3", "stop_child", {"child": "a1B2c3"}),
        ("keep three cups under tea/today", "state_set", {"key": "tea/today", "value": '"three cups"'}),
        ("keep 3 under cups", "state_set", {"key": "cups", "value": "3"}),
        ("what is under cups?", "state_get", {"key": "cups"}),
        ("list the keys", "state_list", {}),
        ("remove the key cups", "state_delete", {"key": "cups"}),
        (
            'post {"a": 1} to https://api.example.org/a',
            "http_request",
            {"method": "POST", "body": '{"a": 1}', "url": "https://api.example.org/a"},
        ),
        ("delete https://api.example.org/a", "http_request", {"method": "DELETE", "url": "https://api.example.org/a"}),
        ("run in a container of here:1: ls /", "container_exec", {"image": "here:1", "command": "ls /"}),
        ("run the module tea.wasm", "wasm_run", {"path": "tea.wasm"}),
        ("post hello here", "channel_send", {"text": "hello", "to": "here"}),
    ],
)
def test_a_phrase_asks_for_its_tool(line: str, tool: str, arguments: dict[str, Any]) -> None:
    assert wish(line) == Wish(tool, arguments)


def test_each_tool_has_a_phrase() -> None:
    assert GIVES.keys() - {tool for _, tool, _ in PHRASES} == {FIND_TOOLS}  # which is called where a tool is seldom


def test_work_that_was_handed_on_last_is_stopped_without_its_id() -> None:
    told = [ToolTurn("demo-1", "delegate", "Handed on to helper (a1B2c3); its end is told here later.")]
    assert wishes_of("stop what you handed on", told) == [Wish("stop_child", {"child": "a1B2c3"})]
    assert wishes_of("stop what you handed on", []) == []


def test_a_question_without_words_is_told_by_its_tool() -> None:
    assert outcome(Call("demo-1", "query", '{"sql": ""}'), "Tables of tea:").startswith("Answer to `query`:")


def test_a_file_is_told_of_as_part_of_the_answer_that_people_read() -> None:
    told = outcome(Call("demo-1", "chart", "{}"), "Drew charts/a.png (1 kB). It is attached to your reply.")
    assert told == "Drew charts/a.png (1 kB). It is attached to this reply."
