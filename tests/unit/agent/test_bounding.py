"""An agent within the bounds of a conversation: never more than it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from runtime.agent.duties.bounding import BoundedTools
from runtime.contract import FIND_TOOLS, HAND_OVER, Address, Effect, Json, Tool, ToolContext
from runtime.domain.agents.bounds import Bounds, bounds_in, is_bounded
from tools.kit.declare import tool

NAMES = ("read_file", "read_page", "write_file", "delegate", HAND_OVER, FIND_TOOLS)


class Named:
    """A tool of that name."""

    def __init__(self, name: str, *, hands: bool = False) -> None:
        @tool(effect=Effect.READ)
        def nothing() -> str:
            """Do nothing."""
            return ""

        self._tool = nothing
        self.spec = replace(nothing.spec, name=name, hands=(lambda _: ()) if hands else None)

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        return await self._tool.call(arguments, context)

    def caution(self) -> str:
        return ""


TOOLS: Mapping[str, Tool] = {name: Named(name, hands=name == "delegate") for name in NAMES}


def _left(*globs: str) -> list[str]:
    return sorted(BoundedTools(TOOLS, Bounds(globs)))


def test_only_tools_that_fit_are_left_and_none_that_hands_work_on() -> None:
    assert _left("read_*") == [FIND_TOOLS, "read_file", "read_page"]
    assert _left("*_file") == [FIND_TOOLS, "read_file", "write_file"]
    assert HAND_OVER not in _left("hand_*", "delegate")
    assert "delegate" not in _left("hand_*", "delegate")


def test_what_is_left_out_cannot_be_called_by_its_name() -> None:
    tools: Mapping[str, Tool] = BoundedTools(TOOLS, Bounds(("read_*",)))
    with pytest.raises(KeyError):
        tools["write_file"]
    assert tools.get("delegate") is None
    assert tools["read_file"] is TOOLS["read_file"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"tools": "*", "model": ""}', '{"tools": [1], "model": ""}', "x"])
def test_garbage_is_no_bounds(text: str) -> None:
    assert bounds_in(text) is None


@pytest.mark.parametrize(
    "room", ["bounded", "boundedroom", "bounded@example.org", "bounded0123456789abc", "cli0123456789ab"]
)
def test_no_room_that_people_name_is_taken_for_a_bounded_one(room: str) -> None:
    assert not is_bounded(Address("mail", "work", room))
    assert is_bounded(Address("web", "main", "bounded0123456789ab"))


def test_bounds_are_read_as_they_were_written() -> None:
    bounds = Bounds(("a*", "b"), "sonnet")
    assert bounds_in(bounds.as_text()) == bounds
