"""The manifest asks for what the code uses, and for nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from adapters.slack.checks import SCOPES

MANIFEST: Final = (Path(__file__).parents[3] / "config" / "slack-manifest.yaml").read_text(encoding="utf-8")
DOCS: Final = (Path(__file__).parents[3] / "docs" / "channels" / "slack.md").read_text(encoding="utf-8")


def items(key: str) -> list[str]:
    """The list under `key`, without a YAML parser: the file is plain."""
    found = re.search(rf"^( *){key}:\n((?:\1  - .+\n)+)", MANIFEST, re.MULTILINE)
    assert found
    return re.findall(r"- (\S+)", found[2])


def test_scopes_are_those_that_the_doctor_looks_for() -> None:
    assert items("bot") == sorted(SCOPES)


def test_events_are_those_that_are_read() -> None:
    wanted = ["app_home_opened", "app_mention", "assistant_thread_context_changed", "assistant_thread_started"]
    messages = [f"message.{kind}" for kind in ("channels", "groups", "im", "mpim")]
    assert items("bot_events") == [*wanted, *messages, "reaction_added", "reaction_removed"]


def test_the_guide_names_each_scope() -> None:
    assert [scope for scope in SCOPES if f"`{scope}`" not in DOCS] == []
