"""The request that a model gets: its transcript repaired, under the prompt of its agent, and nothing else yet."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.builder import UNBOUNDED, Partitions, RunFacts, build, partitions
from runtime.contract import Effect, ModelRequest, ToolSpec, Turn, UserTurn
from runtime.domain.transcript import repair
from runtime.models.messages import to_messages, to_tools
from runtime.store.protocol import History
from runtime.workspace.safe_fs import reading
from tests.unit.domain.test_transcript import histories

LOOK = ToolSpec("look", "Looks.", {"type": "object"}, Effect.READ)
FACTS = RunFacts("You are a test.", [LOOK], lambda path: reading(Path(), path))
HELLO = UserTurn("hello")


def sent(request: ModelRequest) -> bytes:
    """The bytes of a request as a vendor gets them."""
    body = {"messages": to_messages(request.system, request.turns), "tools": to_tools(request.tools)}
    return json.dumps(body).encode()


@given(st.text(max_size=20), histories)
def test_a_request_is_the_prompt_and_the_repaired_transcript_to_the_byte(system: str, history: list[Turn]) -> None:
    expected = ModelRequest(system, repair(history), [LOOK], FACTS.files)
    made = build(replace(FACTS, system=system), History(history), UNBOUNDED)
    assert made == expected
    assert sent(made) == sent(expected)


@given(histories)
def test_a_request_is_the_same_each_time_and_leaves_the_rows_alone(history: list[Turn]) -> None:
    before = list(history)
    assert build(FACTS, History(history), UNBOUNDED) == build(FACTS, History(history), UNBOUNDED)
    assert history == before


def test_partitions_have_names_and_those_without_content_are_absent() -> None:
    assert partitions(FACTS, History([HELLO]), UNBOUNDED) == Partitions("You are a test.", "", "", [HELLO], "")
    known = replace(FACTS, skills="skills", memory="memory", working="working")
    made = build(known, History([HELLO]), UNBOUNDED)
    assert (made.system, made.working) == ("You are a test.\n\nskills\n\nmemory", "working")
    assert build(replace(known, memory=""), History([HELLO]), UNBOUNDED).system == "You are a test.\n\nskills"
