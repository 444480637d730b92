"""The last lines of the log in memory: bounded, without secrets, and found by level, words and ids."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from bot.telemetry import logs
from bot.telemetry.ring import EMPTY_RING, LINE_CHARS, LogFilter, LogRing


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


ALL = LogFilter()


def events(ring: LogRing, wanted: LogFilter = ALL, after: int = 0, limit: int = 100) -> list[str]:
    return [line.event for line in ring.after(after, wanted, limit)]


@pytest.mark.parametrize("form", ["json", "human"])
def test_what_is_logged_is_kept_without_secrets(form: str) -> None:
    ring, out = LogRing(), io.StringIO()
    logs.configure("info", "human" if form == "human" else "json", ["sesame-open-the-door"], stream=out, ring=ring)
    assert logs.last_lines() is ring
    with structlog.contextvars.bound_contextvars(trace="t1"):
        try:
            raise ValueError("sesame-open-the-door")
        except ValueError:
            structlog.get_logger("test").exception("failed", api_key="anything", count=3)
    logging.getLogger("some.library").warning("with %s", "sesame-open-the-door")
    structlog.get_logger("test").debug("quiet")
    first, second = ring.after(0, ALL, 10)
    assert (first.event, first.level, second.level) == ("failed", "error", "warning")
    assert first.fields["trace"] == "t1"
    assert first.fields["count"] == "3"
    assert "test_ring.py" in first.fields["exception"]
    assert first.at.startswith("20")
    told = str((first, second))
    assert "sesame" not in told
    assert "anything" not in told
    assert second.event == "with ********"


def test_a_process_that_keeps_none_has_none() -> None:
    logs.configure("info", "json", stream=io.StringIO())
    structlog.get_logger("test").info("told")
    assert logs.last_lines() is EMPTY_RING
    structlog.reset_defaults()
    assert logs.last_lines() is EMPTY_RING


def test_it_stays_within_its_bounds_and_drops_the_oldest() -> None:
    ring = LogRing(most_lines=3, most_chars=10_000)
    for number in range(10):
        ring.keep(json.dumps({"event": str(number)}))
    assert events(ring) == ["7", "8", "9"]
    assert [line.number for line in ring.after(8, ALL, 10)] == [9, 10]
    ring.keep("x" * (LINE_CHARS + 1))
    ring.keep(json.dumps({"event": "y" * 5_000}))
    assert len(events(ring)) == 1, "two long ones are too much together"
    assert ring.newest == 12


def test_lines_are_found_by_level_words_and_ids() -> None:
    ring = LogRing()
    for level, event, trace in (("info", "run began", "abc1"), ("error", "Failed", "abc2"), ("warning", "late", "xyz")):
        ring.keep(json.dumps({"level": level, "event": event, "trace": trace}))
    assert events(ring, LogFilter(level="warning")) == ["Failed", "late"]
    assert events(ring, LogFilter(text="FAILED")) == ["Failed"]
    assert events(ring, LogFilter(about=["abc"])) == ["run began", "Failed"]
    assert events(ring, LogFilter(about=["abc2", "xyz"], level="error")) == ["Failed"]
    assert events(ring, LogFilter(about=["nothing"])) == []
    assert events(ring, limit=1) == ["late"], "the newest count"


def test_a_line_that_is_no_json_is_shown_as_it_stands() -> None:
    ring = LogRing()
    for text in ("a line of x could not be written", '["a list"]'):
        ring.keep(text)
    assert events(ring) == ["a line of x could not be written", '["a list"]']
