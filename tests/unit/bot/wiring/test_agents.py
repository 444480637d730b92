"""Tools of an agent as its manifest bounds them, and those by which it hands work on."""

from __future__ import annotations

from typing import cast

from bot.wiring.agents import AllowedTools
from runtime.contract import Now
from runtime.domain.agents.manifest import Manifest
from tools.delegation import Children, HandsOver, delegation_tools
from tools.files.files import read_file

TOOLS = {"read_file": read_file, **delegation_tools(cast("Children", None), cast("HandsOver", None), cast("Now", None))}


def test_an_agent_that_may_hand_work_on_has_the_tools_for_it_and_is_told_to_whom() -> None:
    found = AllowedTools(TOOLS, Manifest(name="ops", tools=("read_file",), delegates_to=("research", "scribe")))
    assert list(found) == ["read_file", "delegate", "delegate_many", "hand_over"]
    assert found["delegate"].spec.description.endswith(" Agents: research, scribe.")
    assert not found["delegate"].spec.seldom


def test_an_agent_that_may_not_has_none_of_them() -> None:
    assert list(AllowedTools(TOOLS, Manifest(name="ops", tools=("read_file",)))) == ["read_file"]
