"""Answers of a model to a client with tools of its own, read."""

from __future__ import annotations

import time
from typing import Any, Final

import pytest

from bot.doors.openai.wishes import Wishes, read

TOOLS: Final = Wishes({"weather": {"type": "object"}})
CALL: Final = '[{"name": "weather", "arguments": {}}]'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Wait.\n\n```tool_calls\n{CALL}\n```", "Wait."),
        (f"```tool_calls \t\n{CALL}```  \n", ""),
        (f"  ```x```\n```tool_calls\n{CALL}\n```", "  ```x```"),
    ],
)
def test_a_block_of_calls_at_the_end_is_one(text: str, said: str) -> None:
    found = read(text, TOOLS, "s")
    assert (found.text, [one.name for one in found.calls], found.fault) == (said, ["weather"], "")


@pytest.mark.parametrize(
    "text", [f"```tool_calls\n{CALL}\n``` or so", f"```tool_calls {CALL}```", "```tool_calls\n``", "```tool_calls\n"]
)
def test_words_are_no_calls(text: str) -> None:
    assert read(text, TOOLS, "s").text == text
    assert not read(text, TOOLS, "s").calls


def test_an_empty_block_is_a_fault() -> None:
    assert read("```tool_calls\n```", TOOLS, "s").fault


@pytest.mark.parametrize("pump", ["\n", " ", "```", "```tool_calls", "```tool_calls\n", "```\n", "`"])
@pytest.mark.parametrize("wishes", [TOOLS, Wishes(form={"type": "object"})], ids=["tools", "form"])
def test_whatever_a_model_repeats_is_read_at_once(pump: str, wishes: Any) -> None:
    began = time.process_time()
    read(pump * (200_000 // len(pump)) + "x", wishes, "s")
    read(pump * (200_000 // len(pump)) + "\n```", wishes, "s")
    assert time.process_time() - began < 1
