"""Words of an agent without the name that leads them."""

from __future__ import annotations

import pytest

from runtime.chat.agents import in_its_name
from runtime.markup import parse
from runtime.markup.speaker import without_speaker

TEXTS = [
    "Done.",
    "**strong**",
    "`code` and *more*",
    "# Title\n\nwords",
    "- one\n- two",
    "```\nx\n```",
    "> said",
    "a\nb",
    "*ops* · twice",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["ops", "my_ops-2"])
def test_what_follows_a_name_is_what_was_said(text: str, name: str) -> None:
    assert without_speaker(parse(in_its_name(name, text)), name) == parse(text)


@pytest.mark.parametrize("text", ["Done.", "*other* · Done.", "*ops* Done.", "**ops** · Done.", "", "*ops* ·"])
def test_a_text_that_is_led_by_no_such_name_stays_whole(text: str) -> None:
    assert without_speaker(parse(text), "ops") is None
