"""Ends of times that begin now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from runtime.calendar import WhenError, until

NOW: Final = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)  # a Monday
BERLIN: Final = "Europe/Berlin"


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ("2h", timedelta(hours=2)),
        ("for 90 min", timedelta(minutes=90)),
        ("2d", timedelta(days=2)),
        ("3 weeks", timedelta(weeks=3)),
        ("1 hour.", timedelta(hours=1)),
    ],
)
@pytest.mark.parametrize("zone", [BERLIN, ""])
def test_a_length_needs_no_zone(words: str, length: timedelta, zone: str) -> None:
    assert until(words, zone=zone, now=NOW) == NOW + length


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("until 18:00", "2026-11-23T17:00"),
        ("until 9am", "2026-11-24T08:00"),
        ("until Monday", "2026-11-29T23:00"),  # today is one: the next
        ("till fri", "2026-11-26T23:00"),
        ("until friday at noon", "2026-11-27T11:00"),
        ("until tomorrow", "2026-11-23T23:00"),
        ("until tomorrow at 9", "2026-11-24T08:00"),
        ("until 2026-12-24", "2026-12-23T23:00"),
        ("until 2026-12-24 at 18:00", "2026-12-24T17:00"),
        ("in 2 hours", "2026-11-23T14:00"),
        ("until 12:30 utc", "2026-11-23T12:30"),
    ],
)
def test_days_and_times_are_read_in_the_zone(words: str, end: str) -> None:
    assert until(words, zone=BERLIN, now=NOW) == datetime.fromisoformat(end).replace(tzinfo=UTC)


def test_a_day_on_which_the_clocks_are_set_begins_at_its_own_midnight() -> None:
    sunday = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
    assert until("until monday", zone=BERLIN, now=sunday) == datetime(2026, 10, 25, 23, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "No time is named"),
        ("until", '"until" is not understood'),
        ("0h", "would end at once"),
        ("every day at 9", "repeats"),
        ("until 2026-01-01", "is in the past"),
        ("until friday at 9 and 10", "several times of day"),
        ("9999h" + " " * 300, "is too long"),
        ("until hell freezes", "is not understood"),
        ("yesterday", "is not understood"),
    ],
)
def test_what_names_no_end_is_refused_with_an_example(words: str, why: str) -> None:
    with pytest.raises(WhenError, match=why) as refused:
        until(words, zone=BERLIN, now=NOW)
    assert "For example" in str(refused.value)
    assert "every weekday" not in str(refused.value)  # nothing that comes again ends anything


@pytest.mark.parametrize("words", ["until 18:00", "until Monday", "tomorrow"])
def test_without_a_zone_times_and_days_are_not_guessed(words: str) -> None:
    with pytest.raises(WhenError, match="I don't know your time zone"):
        until(words, zone="", now=NOW)
