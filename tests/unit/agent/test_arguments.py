"""Arguments of calls: what is wrong with them is told in words that a model can use."""

from __future__ import annotations

import pytest

from runtime.agent.tool_calls import parsed
from runtime.guard.findings import Detector, Gate, Strictness
from runtime.guard.guard import BROKEN, Guard, GuardRules
from tests.unit.guard.secrets import SECRETS

NAME, SECRET = SECRETS["github"]
ENFORCED = Guard(GuardRules({Detector.SHAPE: Strictness.ENFORCE}))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (ENFORCED.check(f'{{"a": "{SECRET}"}}', Gate.TOOL_ARGUMENTS).text, f"it holds {NAME} ·"),
        (BROKEN, "the leak guard could not read this text"),
    ],
)
def test_a_call_that_was_withheld_is_no_broken_json(arguments: str, said: str) -> None:
    told = parsed(arguments)
    assert isinstance(told, str)
    assert told.startswith("the leak guard withheld the arguments: ")
    assert said in told
    assert "JSON" not in told


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_none_are_none(arguments: str) -> None:
    assert parsed(arguments) == {}
