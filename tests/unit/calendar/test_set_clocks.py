"""Clocks that are set, by hand: Berlin, New York, and zones that do it in their own way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from runtime.calendar import instants, next_after, plan


def due(text: str, zone: str, begin: str, end: str) -> list[str]:
    """What is due from `begin` until `end`, both in UTC, as it is shown there."""
    after = datetime.fromisoformat(begin).replace(tzinfo=UTC) - timedelta(microseconds=1)
    until = datetime.fromisoformat(end).replace(tzinfo=UTC)
    planned = plan(text, zone=zone, now=after)
    found = instants(planned, after, anchor=after + timedelta(microseconds=1), most=1000, until=until)
    return [f"{at:%m-%dT%H:%MZ}" for at in found]


SPRING = ("Europe/Berlin", "2026-03-28T00:00", "2026-03-30T12:00")  # 02:00 becomes 03:00 on the 29th, at 01:00 UTC
AUTUMN = ("Europe/Berlin", "2026-10-24T00:00", "2026-10-26T12:00")  # 03:00 becomes 02:00 on the 25th, at 01:00 UTC


@pytest.mark.parametrize(
    ("text", "instants"),
    [
        ("30 2 * * *", ["03-28T01:30Z", "03-29T01:30Z", "03-30T00:30Z"]),  # shown as 03:30, later by the gap
        ("0 2 * * *", ["03-28T01:00Z", "03-29T01:00Z", "03-30T00:00Z"]),
        ("0 3 * * *", ["03-28T02:00Z", "03-29T01:00Z", "03-30T01:00Z"]),
        ("0 2,3 * * *", ["03-28T01:00Z", "03-28T02:00Z", "03-29T01:00Z", "03-30T00:00Z", "03-30T01:00Z"]),  # once
        ("daily at 2:30", ["03-28T01:30Z", "03-29T01:30Z", "03-30T00:30Z"]),
        ("30 0 * * *", ["03-28T23:30Z", "03-29T22:30Z"]),
        ("30 2 29 3 *", ["03-29T01:30Z"]),
        ("45 1 * * *", ["03-28T00:45Z", "03-29T00:45Z", "03-29T23:45Z"]),
    ],
)
def test_a_time_that_is_skipped_is_later_by_what_was_skipped_once(text: str, instants: list[str]) -> None:
    assert due(text, *SPRING) == instants


def test_a_pattern_of_hours_goes_on_over_a_gap() -> None:
    assert due("0 * * * *", "Europe/Berlin", "2026-03-28T23:00", "2026-03-29T03:00") == [
        "03-28T23:00Z",
        "03-29T00:00Z",
        "03-29T01:00Z",
        "03-29T02:00Z",
        "03-29T03:00Z",
    ]
    assert due("0 */2 * * *", "Europe/Berlin", "2026-03-28T23:00", "2026-03-29T04:00") == [
        "03-28T23:00Z",
        "03-29T01:00Z",  # 02:00 was skipped
        "03-29T02:00Z",
        "03-29T04:00Z",
    ]


@pytest.mark.parametrize(
    ("text", "instants"),
    [
        ("30 2 * * *", ["10-24T00:30Z", "10-25T00:30Z", "10-26T01:30Z"]),
        ("0 2 * * *", ["10-24T00:00Z", "10-25T00:00Z", "10-26T01:00Z"]),
        ("0 3 * * *", ["10-24T01:00Z", "10-25T02:00Z", "10-26T02:00Z"]),
        ("daily at 2:30", ["10-24T00:30Z", "10-25T00:30Z", "10-26T01:30Z"]),
        ("30 2,3 25 10 *", ["10-25T00:30Z", "10-25T02:30Z"]),
        ("30 */2 25 10 *", ["10-24T22:30Z", "10-25T00:30Z", "10-25T01:30Z", "10-25T03:30Z"]),
    ],
)
def test_of_a_time_that_comes_twice_chosen_hours_are_due_first_and_patterns_both_times(
    text: str, instants: list[str]
) -> None:
    assert due(text, *AUTUMN)[: len(instants)] == instants


def test_a_pattern_of_hours_goes_on_over_an_overlap() -> None:
    every_hour = ["10-24T23:30Z", "10-25T00:30Z", "10-25T01:30Z", "10-25T02:30Z"]
    for text in ("30 * * * *", "30 */1 * * *", "30 0-23 * * *"):
        assert due(text, "Europe/Berlin", "2026-10-24T23:00", "2026-10-25T03:00") == every_hour


def test_new_york() -> None:
    spring = ("America/New_York", "2026-03-07T12:00", "2026-03-09T12:00")  # 02:00 becomes 03:00 at 07:00 UTC on the 8th
    assert due("30 2 * * *", *spring) == ["03-08T07:30Z", "03-09T06:30Z"]
    assert due("0 9 * * *", *spring) == ["03-07T14:00Z", "03-08T13:00Z"]
    autumn = ("America/New_York", "2026-10-31T12:00", "2026-11-02T12:00")  # 02:00 becomes 01:00 at 06:00 UTC on the 1st
    assert due("30 1 * * *", *autumn) == ["11-01T05:30Z", "11-02T06:30Z"]
    assert due("30 1 1 * *", *autumn) == ["11-01T05:30Z"]
    assert due("30 */1 1 11 *", *autumn)[:4] == ["11-01T04:30Z", "11-01T05:30Z", "11-01T06:30Z", "11-01T07:30Z"]


def test_a_gap_of_half_an_hour() -> None:
    lord_howe = ("Australia/Lord_Howe", "2026-10-03T15:00", "2026-10-03T16:30")  # 02:00 becomes 02:30 at 15:30 UTC
    assert due("10 * * * *", *lord_howe) == ["10-03T15:40Z", "10-03T16:10Z"]
    assert due("10,40 2 * * *", *lord_howe) == ["10-03T15:40Z"]  # 02:10 and 02:40 are one then


def test_a_gap_at_midnight() -> None:
    cairo = ("Africa/Cairo", "2026-04-23T12:00", "2026-04-25T00:00")  # Friday 00:00 becomes 01:00 at 22:00 UTC
    assert due("0 0 * * *", *cairo) == ["04-23T22:00Z", "04-24T21:00Z"]
    assert due("30 0 * * fri", *cairo) == ["04-23T22:30Z"]


def test_a_whole_day_that_was_left_out() -> None:
    samoa = ("Pacific/Apia", "2011-12-29T12:00", "2011-12-31T20:00")  # there was no 30 December
    assert due("0 9 * * *", *samoa) == ["12-29T19:00Z", "12-30T19:00Z", "12-31T19:00Z"]
    assert due("0 9 30 12 *", *samoa) == ["12-30T19:00Z"]


def test_asking_between_what_was_skipped_and_what_follows_loses_nothing() -> None:
    # at the change 03:00 is due at once, 02:20 and 02:40 twenty and forty minutes later, among the minutes of hour 3
    planned = plan("*/20 2,3 29 3 *", zone="Europe/Berlin", now=datetime(2026, 1, 1, tzinfo=UTC))
    change = datetime(2026, 3, 29, 1, tzinfo=UTC)
    for minute in range(-120, 120):
        at = change + timedelta(minutes=minute)
        wanted = [change + timedelta(minutes=20 * n) for n in range(3) if change + timedelta(minutes=20 * n) > at]
        assert next_after(planned, at, anchor=at) == (wanted[0] if wanted else datetime(2027, 3, 29, 0, tzinfo=UTC))


def test_a_second_pass_is_seen_though_the_next_time_on_the_wall_is_a_year_away() -> None:
    # at the end of 24 October the clocks of Beirut go back to 23:00
    planned = plan("30 */23 24 10 *", zone="Asia/Beirut", now=datetime(2026, 1, 1, tzinfo=UTC))
    asked = datetime(2026, 10, 24, 20, tzinfo=UTC)
    assert list(instants(planned, asked, anchor=asked, most=3)) == [
        datetime(2026, 10, 24, 20, 30, tzinfo=UTC),
        datetime(2026, 10, 24, 21, 30, tzinfo=UTC),
        datetime(2027, 10, 23, 21, 30, tzinfo=UTC),
    ]


@pytest.mark.parametrize(
    ("text", "anchor", "wanted"),
    [
        ("every 2 hours", "2026-03-28T23:30", ["03-28T23:30Z", "03-29T01:30Z", "03-29T03:30Z"]),
        ("every 2 hours", "2026-10-24T23:30", ["10-24T23:30Z", "10-25T01:30Z", "10-25T03:30Z"]),
        ("every 1 day", "2026-03-28T01:30", ["03-28T01:30Z", "03-29T01:30Z", "03-30T00:30Z"]),  # 02:30 there
        ("every 2 days", "2026-10-23T00:30", ["10-23T00:30Z", "10-25T00:30Z", "10-27T01:30Z"]),
        ("every 1 day", "2026-10-25T01:30", ["10-25T01:30Z", "10-26T01:30Z"]),  # from the second 02:30 on
        ("every 2 weeks on sunday at 2:30", "2026-03-14T00:00", ["03-15T01:30Z", "03-29T01:30Z", "04-12T00:30Z"]),
    ],
)
def test_hours_of_an_interval_are_time_that_passes_and_days_keep_the_time_on_the_wall(
    text: str, anchor: str, wanted: list[str]
) -> None:
    end = datetime.fromisoformat(anchor) + timedelta(weeks=6)
    assert due(text, "Europe/Berlin", anchor, end.isoformat())[: len(wanted)] == wanted
