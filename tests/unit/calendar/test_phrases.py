"""Times in plain English: what is understood, as what, and what is refused with words that help."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime.calendar import WhenError, next_after, plan

NOW = datetime(2026, 11, 22, 12, 0, 30, tzinfo=UTC)  # a Sunday; 13:00 in Berlin

SAID = [
    ("every 5 minutes", "every 5 minutes"),
    ("every 15 min", "every 15 minutes"),
    ("every 2 hours", "every 2 hours"),
    ("every two hours", "every 2 hours"),
    ("every 2h", "every 2 hours"),
    ("every 1 hour", "every 1 hour"),
    ("every 60 minutes", "every 60 minutes"),
    ("every 3 days", "every 3 days"),
    ("every 3 days at 7", "every 3 days at 07:00"),
    ("every other day at noon", "every 2 days at 12:00"),
    ("every 2 weeks on friday at 15:00", "every 2 weeks on friday at 15:00"),
    ("every other fri at 3pm", "every 2 weeks on friday at 15:00"),
    ("every 2 weeks on mondays", "every 2 weeks on monday at 00:00"),
    ("every minute", "* * * * *"),
    ("every hour", "0 * * * *"),
    ("hourly", "0 * * * *"),
    ("daily", "0 0 * * *"),
    ("daily at 14:30", "30 14 * * *"),
    ("Daily  AT 14:30.", "30 14 * * *"),
    ("daily 14:30", "30 14 * * *"),
    ("14:30 daily", "30 14 * * *"),
    ("at 14:30 every day", "30 14 * * *"),
    ("every day at 9", "0 9 * * *"),
    ("each day at 9 pm", "0 21 * * *"),
    ("every day at 9:30 am", "30 9 * * *"),
    ("every day at 9:30 p.m.", "30 21 * * *"),
    ("every day at noon", "0 12 * * *"),
    ("every day at midnight", "0 0 * * *"),
    ("every day at 12am", "0 0 * * *"),
    ("every day at 12pm", "0 12 * * *"),
    ("daily at 9 and 17", "0 9,17 * * *"),
    ("daily at 8:15, 12:15 and 18:15", "15 8,12,18 * * *"),
    ("weekdays at 9am", "0 9 * * 1-5"),
    ("every weekday at 9:30", "30 9 * * 1-5"),
    ("every weekday, at 9:30", "30 9 * * 1-5"),
    ("at 9 on weekdays", "0 9 * * 1-5"),
    ("monday to friday at 8", "0 8 * * 1,2,3,4,5"),
    ("fri-mon at 8", "0 8 * * 0,1,5,6"),
    ("weekends at 10", "0 10 * * 0,6"),
    ("weekly", "0 0 * * 0"),
    ("weekly on monday at 8", "0 8 * * 1"),
    ("every week on tue and thu at 8", "0 8 * * 2,4"),
    ("every monday and thursday at 17:00", "0 17 * * 1,4"),
    ("every monday, wednesday, and friday at 9", "0 9 * * 1,3,5"),
    ("mondays at 9am", "0 9 * * 1"),
    ("on mondays and sundays at 9am", "0 9 * * 0,1"),
    ("monthly", "0 0 1 * *"),
    ("monthly on the 15th at 10am", "0 10 15 * *"),
    ("monthly on the 1st and 15th at 10", "0 10 1,15 * *"),
    ("on the 1st of every month at 9", "0 9 1 * *"),
    ("every month on the 31st at 9", "0 9 31 * *"),
    ("first day of the month at 9", "0 9 1 * *"),
    ("last day of the month at 9", "0 9 L * *"),
    ("monthly on the 15th and the last day at 9", "0 9 15,L * *"),
    ("first Monday of the month at 8:30", "30 8 * * 1#1"),
    ("every first monday of the month at 8:30", "30 8 * * 1#1"),
    ("monthly on the first monday at 9", "0 9 * * 1#1"),
    ("on the 2nd and 4th tuesday of each month at 9am", "0 9 * * 2#2,2#4"),
    ("on the last friday of every month at 9", "0 9 * * 5L"),
    ("last sunday of the month", "0 0 * * 0L"),
    ("yearly", "0 0 1 1 *"),
    ("every year on 24 december at 18:00", "0 18 24 12 *"),
    ("yearly on the 24th of dec at 18:00", "0 18 24 12 *"),
    ("annually on feb 29 at 9", "0 9 29 2 *"),
    ("every 2 fridays at 9", "every 2 weeks on friday at 09:00"),
    ("tomorrow at 14:30", "at 2026-11-23T14:30"),
    ("14:30 tomorrow", "at 2026-11-23T14:30"),
    ("today at 18:00", "at 2026-11-22T18:00"),
    ("in 20 minutes", "at 2026-11-22T13:20:30"),
    ("in 2 hours", "at 2026-11-22T15:00:30"),
    ("in an hour", "at 2026-11-22T14:00:30"),
    ("in 3 days", "at 2026-11-25T13:00:30"),
    ("in a week at 9", "at 2026-11-29T09:00"),
    ("at 14:30", "at 2026-11-22T14:30"),
    ("at 9", "at 2026-11-23T09:00"),
    ("on 2026-12-24 at 18:00", "at 2026-12-24T18:00"),
    ("2026-12-24 18:00", "at 2026-12-24T18:00"),
    ("2026-12-24T18:00", "at 2026-12-24T18:00"),
    ("2026-12-24T18:00:15+01:00", "at 2026-12-24T18:00:15"),
    ("2026-12-24T18:00Z", "at 2026-12-24T19:00"),
    ("2026-10-25 02:30 UTC", None),
]


@pytest.mark.parametrize(("text", "meant"), SAID)
def test_a_phrase_is_understood(text: str, meant: str | None) -> None:
    if meant is None:
        with pytest.raises(WhenError, match="is in the past"):
            plan(text, zone="Europe/Berlin", now=NOW)
        return
    planned = plan(text, zone="Europe/Berlin", now=NOW)
    assert str(planned) == meant
    assert planned.text == text
    assert plan(meant, zone="Europe/Berlin", now=NOW).when == planned.when


@pytest.mark.parametrize(
    ("end", "zone"),
    [
        ("in Berlin", "Europe/Berlin"),
        ("in Europe/Berlin", "Europe/Berlin"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("Berlin time", "Europe/Berlin"),
        ("in new york", "America/New_York"),
        ("New York time", "America/New_York"),
        ("in Port of Spain", "America/Port_of_Spain"),
        ("(Asia/Tokyo)", "Asia/Tokyo"),
        ("UTC", "UTC"),
        ("in UTC", "UTC"),
        ("GMT", "GMT"),
        ("", "Asia/Kolkata"),
    ],
)
@pytest.mark.parametrize(
    "text", ["daily at 9", "every weekday at 9:30", "0 9 * * 1-5", "@daily", "tomorrow at 9", "every 2 days"]
)
def test_a_zone_that_is_named_wins(text: str, end: str, zone: str) -> None:
    named = plan(f"{text} {end}", zone="Asia/Kolkata", now=NOW)
    assert named.zone == zone
    assert named.when == plan(text, zone=zone, now=NOW).when


def test_a_time_that_is_past_in_one_zone_is_ahead_in_another() -> None:
    assert plan("today at 9", zone="America/New_York", now=NOW).zone == "America/New_York"
    with pytest.raises(WhenError, match="it's now 2026-11-22 13:00 in Europe/Berlin"):
        plan("today at 9", zone="Europe/Berlin", now=NOW)


def test_one_time_that_is_skipped_by_the_clocks_is_later() -> None:
    assert str(plan("2027-03-28 at 2:30", zone="Europe/Berlin", now=NOW)) == "at 2027-03-28T03:30"


def test_of_one_time_that_comes_twice_the_second_is_said_with_its_distance() -> None:
    second = plan("2027-10-31T02:30+01:00", zone="Europe/Berlin", now=NOW)
    assert str(second) == "at 2027-10-31T02:30+01:00"
    assert plan(str(second), zone="Europe/Berlin", now=NOW).when == second.when
    assert plan("2027-10-31 02:30", zone="Europe/Berlin", now=NOW).when != second.when


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "No time is named"),
        ("nonsense", '"nonsense" is not understood'),
        ("remind me to call mum", "is not understood"),
        ("every 0 minutes", '"0" is not a whole number from 1 up'),
        ("every -1", "needs a whole number and a unit"),
        ("every -1 minutes", '"-1" is not a whole number'),
        ("every 1.5 hours", '"1.5" is not a whole number'),
        ("every 5", "needs a whole number and a unit"),
        ("every 90 seconds", "the smallest interval is 1 minute"),
        ("every 30s", "the smallest interval is 1 minute"),
        ("every 3 months", "an interval can't be in months or years"),
        ("every 5 bananas", '"bananas" isn\'t minutes, hours, days or weeks'),
        ("every 9999 weeks", "longer than ten years"),
        ("every 2 hours at 9", "can't have a time of day"),
        ("hourly at 9", "can't have a time of day"),
        ("every 2 days on friday at 9", "is not understood"),
        ("every 3 fridays at 9", "is not understood"),
        ("friday at 9", "could mean one Friday or every one"),
        ("next friday at 9", "could mean one Friday or every one"),
        ("tomorrow", "says no time of day"),
        ("tomorrow at 9 and 17", "says several times of day"),
        ("yesterday at 9", "is not understood"),
        ("today at 9", "is in the past"),
        ("2020-01-01 at 9", "is in the past"),
        ("2020-01-01T09:00Z", "is in the past"),
        ("2026-02-30 at 9", '"2026-02-30" is not a date'),
        ("2026-13-01T09:00", "is not a date and time"),
        ("2026-12-24T25:00", "is not a date and time"),
        ("9999-12-31 at 23:00", "doesn't exist in the calendar"),
        ("0001-01-01 at 0:00", "doesn't exist in the calendar"),
        ("in 0 minutes", "is not a whole number"),
        ("in 9999999 minutes", "longer than ten years"),
        ("in 5 minutes at 9", "can't have a time of day"),
        ("daily at 25:00", '"25:00" isn\'t a valid time'),
        ("daily at 9:60", '"9:60" isn\'t a valid time'),
        ("daily at 13pm", '"13pm" isn\'t a valid time'),
        ("daily at 0am", '"0am" isn\'t a valid time'),
        ("daily at dawn", '"dawn" is not a time of day'),
        ("daily at", "is not a time of day"),
        ("daily at 9 and 17:30", "times with different minutes are two schedules"),
        ("monthly on the 32nd at 9", "doesn't say which days of the month"),
        ("monthly on the 0th", "doesn't say which days of the month"),
        ("monday of the month at 9", "doesn't say which days of the month"),
        ("last of the month", "doesn't say which days of the month"),
        ("sixth monday of the month", "doesn't say which days of the month"),
        ("6th monday of the month at 9", "no month has so many Mondays"),
        ("the 1st and the first monday of the month", "doesn't say which days of the month"),
        ("first monday and last day of the month at 9", "weekdays and days of the month are two schedules"),
        ("last weekday of the month at 9", "the last working day of a month isn't supported"),
        ("yearly on 3 febtober", "is not understood"),
        ("yearly on feb 30", "No year has day 30 of month 2"),
        ("daily at 9 in Berln", "did you mean Europe/Berlin"),
        ("daily at 9 in the morning", 'no time zone called "the morning"'),
        ("daily at 9 Atlantis time", 'no time zone called "atlantis"'),
        ("daily at 9 Europe/Paris/", "is not a time of day"),
        ("daily " + "at 9 " * 100, "is longer than 200 characters"),
    ],
)
def test_what_is_not_clear_is_refused_with_an_example(text: str, reason: str) -> None:
    with pytest.raises(WhenError, match=r"For example: .+") as refused:
        plan(text, zone="Europe/Berlin", now=NOW)
    assert reason in str(refused.value)


def test_a_refusal_repeats_little_and_nothing_that_steers_a_terminal() -> None:
    with pytest.raises(WhenError) as refused:
        plan("\x1b[2J" + "every nonsense " * 12, zone="UTC", now=NOW)
    assert str(refused.value).isprintable()
    assert "…" in str(refused.value)


def test_what_is_offered_instead_of_one_day_is_that_day() -> None:
    with pytest.raises(WhenError) as refused:
        plan("friday at 9", zone="UTC", now=NOW)
    first, second = (part.strip('"') for part in refused.value.example.split(", "))
    assert str(plan(first, zone="UTC", now=NOW)) == "0 9 * * 5"
    assert str(plan(second, zone="UTC", now=NOW)) == "at 2026-11-27T09:00"


VOCABULARY = (
    "every each other on at in of the and to daily weekly monthly yearly hourly weekdays weekends today tomorrow monday "
    "fri sundays month week day days hours minutes weeks seconds 1st 15 9 0 -1 9:30 25:00 9am 13pm noon midnight , & - "
    "2026-12-24 2026-02-30 2026-12-24T18:00 +01:00 Z Berlin Europe/Berlin UTC time (Tokyo) december feb 29 30 * */5 1-5 "
    "5-1 @daily mon 9999999 last first a an two İ ٣ \x00 /"
)


@settings(deadline=None)  # the first example loads the scheduler
@given(st.text(max_size=60) | st.lists(st.sampled_from(VOCABULARY.split(" ")), max_size=8).map(" ".join))
@example("in a week")
@example("9999-12-31T23:59:59.999999-23:59")
@example("every 2 weeks on friday at 15:00 in Berlin")
def test_whatever_is_said_is_understood_or_refused(text: str) -> None:
    planned, example = None, ""
    try:
        planned = plan(text, zone="Europe/Berlin", now=NOW)
    except WhenError as refused:
        example = refused.example
    if planned is None:
        assert example
        return
    assert plan(str(planned), zone=planned.zone, now=NOW).when == planned.when
    found = next_after(planned, NOW, anchor=NOW)
    assert found is not None
    assert found > NOW
