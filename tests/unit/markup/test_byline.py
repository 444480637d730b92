"""The last line of a report names its schedule."""

from __future__ import annotations

import pytest

from runtime.contract import Address
from runtime.markup import parse, to_plain
from runtime.markup.speaker import with_schedule

ROOM = Address("slack", "work", "C1")


@pytest.mark.parametrize("text", ["Two are late.", "| a |\n| --- |\n| b |", "- one\n- two", ""])
def test_a_report_ends_with_the_name_of_its_schedule(text: str) -> None:
    told = with_schedule(parse(text), "week*ly*\u202e", ROOM)
    assert told.blocks[:-1] == parse(text).blocks
    assert to_plain(told).endswith("From the schedule “week*ly*⟨U+202E⟩”")


def test_a_report_that_names_it_is_left_as_it_is() -> None:
    assert with_schedule(parse("# Costs of the week\n\n$3"), "costs of the week", ROOM) == parse(
        "# Costs of the week\n\n$3"
    )
