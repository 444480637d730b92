"""A platform's clock beside ours, by the Date of its answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from structlog.testing import capture_logs

from runtime.contract import Level
from runtime.http.platform_clock import PlatformClock

THEIRS = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Ours:
    def __init__(self, off: timedelta) -> None:
        self.at, self.tick = THEIRS + off, 1000.0

    def passes(self, seconds: float) -> datetime:
        """Their time after it."""
        self.at += timedelta(seconds=seconds)
        self.tick += seconds
        return THEIRS + timedelta(seconds=self.tick - 1000.0)

    def clock(self) -> PlatformClock:
        made = PlatformClock("Slack", lambda: self.at, lambda: self.tick)
        made.heed(format_datetime(THEIRS, usegmt=True))
        return made


@pytest.mark.parametrize("off", [HOUR, -HOUR, timedelta(days=1)])
def test_what_happens_there_is_told_by_our_clock(off: timedelta) -> None:
    ours = Ours(off)
    clock = ours.clock()
    assert clock.ours(THEIRS) == ours.at
    assert clock.theirs(ours.at) == THEIRS


def test_a_header_that_is_wrong_moves_nothing_into_the_future() -> None:
    """A server of one's own, or what stands before it, may have the wrong clock while ours is right."""
    ours = Ours(HOUR)
    clock = ours.clock()
    said = ours.at - timedelta(minutes=1)
    assert clock.ours(said) == said


def test_clocks_that_agree_within_half_a_minute_are_left_alone() -> None:
    assert Ours(timedelta(seconds=20)).clock().ours(THEIRS) == THEIRS


def test_a_clock_of_ours_that_is_set_after_the_last_answer_is_known_to_be_wrong() -> None:
    ours = Ours(timedelta())
    clock = ours.clock()
    ours.tick += 100
    ours.at += timedelta(days=1, seconds=100)
    assert clock.ahead == timedelta(days=-1)


def test_that_clocks_differ_is_told_once_and_once_that_they_agree_again() -> None:
    ours = Ours(HOUR)
    with capture_logs() as logs:
        clock = ours.clock()
        clock.heed(format_datetime(ours.passes(20), usegmt=True))
        assert logs == [], "it may be a date that stands still"
        for seconds in (50, 20, 200):
            clock.heed(format_datetime(ours.passes(seconds), usegmt=True))
        [finding] = clock.findings("slack.work.clock")
        ours.at -= HOUR
        clock.heed(format_datetime(ours.passes(1), usegmt=True))
        assert clock.findings("slack.work.clock") == []
    assert [log["event"] for log in logs] == [
        "our clock is not the platform's",
        "our clock agrees with the platform's again",
    ]
    assert (finding.level, finding.what) == (Level.WARNING, "our clock is 3600 s ahead of Slack's")


@pytest.mark.parametrize("every", [1, 10, 29, 40, 300])
@pytest.mark.parametrize("off", [timedelta(), timedelta(days=-400), timedelta(days=400)])
def test_a_date_that_stands_still_is_no_clock_and_nobody_is_told_that_ours_is_wrong(off: timedelta, every: int) -> None:
    ours = Ours(timedelta())
    clock = PlatformClock("Discord", lambda: ours.at, lambda: ours.tick)
    with capture_logs() as logs:
        for number in range(40):
            clock.heed(format_datetime(THEIRS + off, usegmt=True))
            ours.passes(every)
            if number and ours.tick > 1000 + 60:
                assert clock.ahead == timedelta()
    assert [log["event"] for log in logs] == ["the date in the platform's answers stands still"]


def test_a_date_that_stands_still_after_it_ran_changes_nothing() -> None:
    ours = Ours(HOUR)
    with capture_logs():
        clock = ours.clock()
        stopped = ours.passes(100)
        for _ in range(60):
            clock.heed(format_datetime(stopped, usegmt=True))
            ours.passes(5)
    assert clock.ahead == -HOUR


def test_a_clock_of_the_platform_that_is_set_counts_once_it_ran_for_a_minute() -> None:
    ours = Ours(timedelta())
    clock = ours.clock()
    for _ in range(5):
        clock.heed(format_datetime(ours.passes(30), usegmt=True))
    heads = []
    with capture_logs():
        for _ in range(5):
            clock.heed(format_datetime(ours.passes(30) + HOUR, usegmt=True))
            heads.append(clock.ahead)
    assert heads == [timedelta(), timedelta(), timedelta(), HOUR, HOUR]


@pytest.mark.parametrize("off", [timedelta(days=365), timedelta(days=-365)])
def test_a_date_that_is_wrong_makes_no_message_old(off: timedelta) -> None:
    ours = Ours(timedelta())
    clock = PlatformClock("Telegram", lambda: ours.at, lambda: ours.tick)
    for _ in range(2):
        clock.heed(format_datetime(THEIRS + off, usegmt=True))
    assert clock.ahead == off
    for age in (timedelta(), timedelta(minutes=5), timedelta(days=2)):
        assert clock.ours(THEIRS - age) == THEIRS - age


def test_a_message_that_waited_is_old_also_by_a_clock_of_ours_that_is_wrong() -> None:
    for off in (HOUR * 24, -HOUR * 24):
        ours = Ours(off)
        assert ours.clock().ours(THEIRS - HOUR) == ours.at - HOUR


def test_a_platform_whose_date_changes_all_the_time_has_no_clock() -> None:
    ours = Ours(timedelta())
    clock = ours.clock()
    for days in (365, -365, 700, 0, -100):
        clock.heed(format_datetime(THEIRS + timedelta(days=days), usegmt=True))
        assert clock.ahead == timedelta()
        ours.tick += 1
        ours.at += timedelta(seconds=1)


@pytest.mark.parametrize("year", [1800, 9999])
def test_no_date_of_a_platform_ends_anything(year: int) -> None:
    ours = Ours(HOUR)
    clock = ours.clock()
    far = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
    clock.heed(format_datetime(far, usegmt=True))
    ours.tick += 2
    assert clock.theirs(ours.at) == THEIRS + timedelta(seconds=2)
    assert clock.ours(far) == far


@pytest.mark.parametrize("date", [None, "", "now", "Sun, 01 Mar 2026 12:00:00", "Sun, 99 Mar 99999 12:00:00 GMT"])
def test_what_is_no_date_changes_nothing(date: str | None) -> None:
    ours = Ours(HOUR)
    clock = ours.clock()
    clock.heed(date)
    assert clock.ahead == -HOUR
