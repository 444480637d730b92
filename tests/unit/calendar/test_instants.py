"""Intervals, single instants, bounds, and what is kept in a store."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.calendar import At, Every, Planned, Unit, WhenError, in_words, instants, next_after, plan, read, written
from runtime.calendar.plans import INTERVAL_MAX
from runtime.calendar.zones import FIRST_INSTANT, LAST_INSTANT
from tests.unit.calendar.expressions import crons, moments, zones

NOW = datetime(2026, 11, 22, 12, 0, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
unhurried = settings(deadline=None)  # the first example loads the scheduler and the rules of a zone

intervals = st.builds(Every, st.integers(1, 500), st.sampled_from(Unit)) | st.builds(
    Every,
    st.integers(1, 500),
    st.just(Unit.WEEK),
    st.builds(time, st.integers(0, 23), st.integers(0, 59)),
    st.integers(0, 6),
)
single = moments.map(lambda at: At(at.astimezone(UTC)))


@st.composite
def plans(draw: st.DrawFn) -> Planned:
    zone, text = draw(zones), draw(st.text(max_size=40))
    when = draw(st.one_of(intervals, single, crons.map(lambda text: plan(text, zone="UTC", now=NOW).when)))
    return Planned(when, zone, text)


def planned(text: str, zone: str = "UTC") -> Planned:
    return plan(text, zone=zone, now=NOW)


def test_an_interval_counts_from_its_anchor() -> None:
    every = planned("every 2 hours")
    assert list(instants(every, NOW, anchor=NOW - HOUR, most=2)) == [NOW + HOUR, NOW + 3 * HOUR]


def test_a_start_that_is_ahead_is_the_first_instant() -> None:
    for text in ("every 2 hours", "every 3 days"):
        assert next_after(planned(text), NOW, anchor=NOW + 9 * HOUR) == NOW + 9 * HOUR


def test_the_instant_that_is_asked_about_is_not_its_own_next() -> None:
    every = planned("every 5 minutes")
    assert next_after(every, NOW, anchor=NOW) == NOW + timedelta(minutes=5)
    assert next_after(every, NOW - timedelta(microseconds=1), anchor=NOW) == NOW


def test_weeks_with_a_day_begin_with_the_first_such_day() -> None:
    friday = planned("every 2 weeks on friday at 15:00")
    found = list(instants(friday, NOW, anchor=NOW, most=3))
    assert [f"{at:%a %m-%d %H:%M}" for at in found] == ["Fri 11-27 15:00", "Fri 12-11 15:00", "Fri 12-25 15:00"]
    assert next_after(friday, NOW + timedelta(days=6), anchor=NOW) == found[1]


def test_one_instant_is_due_once() -> None:
    once = planned("2026-12-24 at 18:00", "Europe/Berlin")
    at = datetime(2026, 12, 24, 17, tzinfo=UTC)
    assert list(instants(once, NOW, anchor=NOW, most=5)) == [at]
    assert next_after(once, at, anchor=NOW) is None


def test_instants_are_bounded_by_number_and_by_time() -> None:
    minutely = planned("* * * * *")
    assert len(list(instants(minutely, NOW, anchor=NOW, most=7))) == 7
    until = NOW.replace(second=0) + timedelta(minutes=3)
    assert list(instants(minutely, NOW, anchor=NOW, most=100, until=until))[-1] == until
    assert list(instants(minutely, NOW, anchor=NOW, most=0)) == []


def test_an_instant_is_in_utc_whatever_zone_was_asked_in() -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    for text in ("0 9 * * *", "every 2 hours", "every 2 days", "tomorrow at 9"):
        found = next_after(planned(text, "Asia/Tokyo"), tokyo, anchor=tokyo)
        assert found is not None
        assert found.tzinfo is UTC


def test_the_calendar_has_an_end_and_a_beginning() -> None:
    for text in ("0 9 * * *", "every 10 weeks at 9", "every 2 hours", "0 9 29 2 *"):
        assert next_after(planned(text), LAST_INSTANT, anchor=NOW) is None
        assert next_after(planned(text), datetime.max.replace(tzinfo=UTC) - HOUR, anchor=NOW) is None
        near = next_after(planned(text), LAST_INSTANT - HOUR, anchor=NOW)
        assert near is None or near > LAST_INSTANT - HOUR
    assert next_after(planned("0 9 * * *"), datetime(1, 1, 2, tzinfo=UTC), anchor=NOW) == FIRST_INSTANT + 9 * HOUR


@unhurried
@given(plans())
def test_what_is_stored_is_read_back(made: Planned) -> None:
    assert read(written(made)) == made


@unhurried
@given(plans())
def test_what_is_said_back_is_understood_the_same(made: Planned) -> None:
    before = datetime(1999, 1, 1, tzinfo=UTC)
    assert plan(str(made), zone=made.zone, now=before).when == made.when
    assert "\n" not in in_words(made)


@unhurried
@given(plans(), moments, moments)
def test_the_next_instant_is_later_and_nothing_is_before_it(made: Planned, after: datetime, anchor: datetime) -> None:
    found = next_after(made, after, anchor=anchor)
    if found is not None:
        assert found > after
        assert next_after(made, found - timedelta(microseconds=1), anchor=anchor) == found
        halfway = after + (found - after) / 2
        assert next_after(made, halfway, anchor=anchor) == found or halfway >= found


@unhurried
@given(crons, zones, moments)
def test_no_expression_searches_for_long(text: str, zone: str, after: datetime) -> None:
    made = plan(text, zone=zone, now=NOW)
    next_after(made, after, anchor=NOW)  # loads the rules of the zone for those years
    began = process_time()
    next_after(made, after, anchor=NOW)
    assert process_time() - began < 0.5  # seconds; usually a ten-thousandth of that


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        '{"zone": "UTC", "text": ""}',
        '{"zone": "Nowhere", "text": "", "cron": "* * * * *"}',
        '{"zone": 7, "text": "", "cron": "* * * * *"}',
        '{"zone": "UTC", "text": "", "cron": "* * *"}',
        '{"zone": "UTC", "text": "", "cron": 7}',
        '{"zone": "UTC", "text": "", "every": [0, "minute", null, null]}',
        '{"zone": "UTC", "text": "", "every": [1e999, "minute", null, null]}',
        '{"zone": "UTC", "text": "", "every": [1, "second", null, null]}',
        '{"zone": "UTC", "text": "", "every": [1, "week", null, 9]}',
        '{"zone": "UTC", "text": "", "every": [1, "week"]}',
        '{"zone": "UTC", "text": "", "every": [99999999999, "week", null, null]}',
        '{"zone": "UTC", "text": "", "at": "soon"}',
        '{"zone": "UTC", "text": "", "at": "0001-01-01T00:00:00+14:00"}',
    ],
)
def test_what_was_not_written_by_us_is_refused(text: str) -> None:
    with pytest.raises(WhenError, match="is not how a time is stored"):
        read(text)


def test_an_interval_of_ten_years_is_the_longest() -> None:
    days = INTERVAL_MAX.days
    assert next_after(planned(f"every {days} days"), NOW, anchor=NOW) == NOW + INTERVAL_MAX
    with pytest.raises(WhenError, match="longer than ten years"):
        planned(f"every {days + 1} days")
