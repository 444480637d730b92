"""Rooms with only some tools: the others are vetoed there, in threads too, whatever rules, grants and modes say."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from bot.settings.settings import load
from bot.wiring.live_rules import policy_of
from runtime.contract import Effect
from runtime.errors import ConfigError
from runtime.policy.rules import Ask, Policy, Ruling

SETTINGS: Final = """
[[rooms]]
address = "web:main/desk"
tools = ["read_*", "shell"]

[[rooms]]
address = "web:main/*"
tools = ["read_*", "write_file", "shell"]

[[policy]]
tool = "write_file"
result = "allow"
"""


def policy(folder: Path, text: str = SETTINGS) -> Policy:
    (folder / "signalbox.toml").write_text(text, encoding="utf-8")
    return policy_of(load(folder=folder, environ={}))


@pytest.mark.parametrize(
    ("tool", "effect", "room", "ruling"),
    [
        ("read_file", Effect.READ, "web:main/desk", Ruling.ALLOW),
        ("shell", Effect.DANGER, "web:main/desk", Ruling.ASK),
        ("write_file", Effect.WRITE, "web:main/desk", Ruling.VETO),
        ("write_file", Effect.WRITE, "web:main/other", Ruling.ALLOW),
        ("http_get", Effect.READ, "web:main/other", Ruling.VETO),
        ("http_get", Effect.READ, "web:main/desk/thread", Ruling.VETO),
        ("http_get", Effect.READ, "slack:work/C1", Ruling.ALLOW),
        ("find_tools", Effect.READ, "web:main/desk", Ruling.ALLOW),
    ],
)
def test_a_room_has_the_tools_that_it_names(
    tmp_path: Path, tool: str, effect: Effect, room: str, ruling: Ruling
) -> None:
    ask = Ask(tool, effect, {}, "main", room, frozenset())
    made = policy(tmp_path)
    assert made.ruling(ask) is ruling
    assert (made.denies_all(ask) is not None) is (ruling is Ruling.VETO), "what is vetoed isn't offered either"


def test_without_the_setting_nothing_can_be_denied(tmp_path: Path) -> None:
    made = policy(tmp_path, '[[rooms]]\naddress = "web:main/desk"\n')
    assert not any(made.may_deny(tool) for tool in ("shell", "read_file"))


def test_a_glob_that_fits_no_tool_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'rooms\[1\]\.tools.*"raed_file" fits no tool; did you mean read_file\?'):
        policy(tmp_path, '[[rooms]]\naddress = "web:main/desk"\ntools = ["raed_file"]\n')


def test_a_tool_of_a_file_is_one_that_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "tools.d").mkdir(mode=0o755)
    file = tmp_path / "tools.d" / "dice.py"
    file.write_text(
        'from signalbox.tools import tool\n\n@tool()\ndef roll() -> str:\n    """Roll."""\n    return "1"\n'
    )
    file.chmod(0o644)
    named = '[[rooms]]\naddress = "web:main/desk"\ntools = ["roll"]\n'
    ask = Ask("shell", Effect.DANGER, {}, "main", "web:main/desk", frozenset())
    assert policy(tmp_path, named).ruling(ask) is Ruling.VETO
