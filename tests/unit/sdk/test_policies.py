"""Rules asked in a test, with tools that only the test's program has."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.testing.agents import scripted_agent
from bot.testing.policies import Policies
from runtime.contract import Effect
from runtime.errors import ConfigError
from tools.kit.declare import tool

RULES = """
[[policy]]
tool = "water"
result = "allow"
arguments = { plant = "fern" }

[tools]
of_programs = ["prune"]
"""
EVENING = """
[[steps]]
name = "look"
tool = "soil"
arguments = { plant = "fern" }
"""


@tool(effect=Effect.READ)
def soil(plant: str) -> str:
    """How moist the soil is."""
    return f"{plant}: 12 %"


def water(plant: str) -> str:
    """Water a plant."""
    return plant


def test_tools_of_a_program_are_asked_about_by_their_effect() -> None:
    rules = Policies.of_text(RULES, tools=[soil, water])
    assert rules.ruling("soil", plant="fern") == "allow"
    assert rules.ruling("water", plant="fern") == "allow"
    assert rules.ruling("water", plant="cactus") == "ask"
    assert rules.ruling("shell", command="ls") == "ask"
    assert (
        rules.explain("burn", effect="danger").why
        == "No rule matches, and a tool that may change anything is asked about."
    )
    with pytest.raises(ConfigError, match=r"no tool 'watr' in these settings\. Did you mean water"):
        rules.ruling("watr")


async def test_a_workflow_calls_a_function_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(RULES)
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "evening.toml").write_text(EVENING)
    with pytest.raises(ConfigError, match='there is no tool "soil"'):
        scripted_agent(tmp_path)
    async with scripted_agent(tmp_path, tools=[soil]) as agent:
        assert agent.settings.tools.of_programs == ("prune", "soil")
        ended = await (await agent.workflow("evening")).wait(timeout=20)
    assert ended.steps["look"].text == "fern: 12 %"
