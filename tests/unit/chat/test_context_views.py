"""The words of `/context` and `/compact`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest

from runtime.chat.views.context import (
    KINDS,
    LESS,
    SOURCES,
    STEPS,
    UNKNOWN,
    Kept,
    Measured,
    Remembered,
    condensed,
    filled,
)
from runtime.chat.window_shares import SHARES, beyond
from runtime.context.builder import Partitions
from runtime.context.condensing import Step
from runtime.context.measuring import by_partition
from runtime.context.sizes import of_tool
from runtime.context.window import Source, Window
from runtime.contract import Effect, ToolSpec
from runtime.store.protocol import SummaryKind

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SIZES = {"system": 1_000, "memory": 0, "history": 60_000, "tools": 3_000}
KEPT = Kept(70, "model", "text", "demo", 70, NOW, NOW, NOW - timedelta(hours=3), 40_000, 900)


def test_each_part_is_told_with_its_size() -> None:
    told = filled(Measured("m/x", 128_000, "listed", SIZES), Remembered(12), NOW).splitlines()
    assert told == [
        (
            "Your next message goes to `m/x` with about 64,000 tokens, 50% of its window of 128,000 "
            "(from the list of known models):"
        ),
        "",
        "- system: 1,000 tokens, 0.78%",
        "- memory: nothing",
        "- history: 60,000 tokens, 47% (12 turns)",
        "- tools: 3,000 tokens, 2.3%",
        "",
        "There's no summary here yet.",
    ]


def test_what_was_condensed_is_told_with_how_and_when() -> None:
    measured = Measured("m", 64_000, "set", SIZES, "trim", 30)
    told = filled(measured, Remembered(80, [KEPT, KEPT]), NOW, "!")
    assert "(80 turns; old results are cut)" in told
    assert "Last condensed 3 hours ago, in a summary by the model: 70 turns, about 40,000 tokens before" in told
    assert "It is the newest of 2 summaries here." in told
    assert told.endswith("`!compact` condenses 30 older turns now.")


def test_a_part_that_takes_more_than_its_share_is_told_with_what_helps() -> None:
    told = filled(Measured("m", 4_000, "set", {"system": 801, "working": 200, "history": 2_000}), Remembered(3), NOW)
    assert (
        "- system: 801 tokens, 20% (its share is 20%: a shorter prompt leaves more room for the conversation)" in told
    )
    assert "- working: 200 tokens, 5%\n" in told


def test_each_part_but_the_history_has_a_share_and_leaves_it_a_third() -> None:
    parts = by_partition(Partitions("", "", "", [], ""), ())
    assert SHARES.keys() == LESS.keys() == parts.keys() - {"history"}
    assert sum(SHARES.values()) <= 0.65
    assert beyond({name: int(share * 1_000) for name, share in SHARES.items()}, 1_000) == {}


def test_without_an_agent_at_work_nothing_is_made_up() -> None:
    assert filled(None, Remembered(), NOW) == UNKNOWN


def test_an_extract_is_called_one() -> None:
    assert "so each turn became one line" in condensed(70, "extract", 9, 1)
    assert "a line stands" not in condensed(70, "model", 9, 1)


def test_each_word_of_the_engine_has_words_for_people() -> None:
    assert SOURCES.keys() == set(Source)
    assert STEPS.keys() == {step.name.lower() for step in Step} - {"whole"}
    assert KINDS.keys() == set(SummaryKind)


@pytest.mark.parametrize(("sent", "source"), [(50_000, Source.REFUSED), (900_000, Source.SET)])
def test_a_window_that_was_refused_is_known_from_that(sent: int, source: Source) -> None:
    window = Window(lambda: 100_000, lambda: Source.SET)
    assert window.source is Source.SET
    window.refuse(sent)
    assert (window.source, window.tokens) == (source, min(sent, 100_000))


def test_a_tools_schema_is_counted_whatever_mapping_it_is() -> None:
    """A schema that is made late is no `dict`."""
    plain = {"type": "object", "properties": {"path": {"type": "string", "description": "words " * 100}}}
    spec = ToolSpec("t", "d", MappingProxyType(plain), Effect.READ)
    assert of_tool(spec) == of_tool(replace(spec, schema=plain)) > 100
