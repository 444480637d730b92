"""Cron expressions: what is understood, as what, and what is refused with words that help."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest
from cronsim import CronSim

from runtime.calendar import Cron, WhenError, instants, plan
from runtime.calendar.cron import cron_of, is_cron, values_of

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)  # a Sunday


def due(text: str, count: int = 3) -> list[str]:
    planned = plan(text, zone="UTC", now=NOW)
    return [f"{at:%a %Y-%m-%d %H:%M}" for at in instants(planned, NOW, anchor=NOW, most=count)]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("* * * * *", "* * * * *"),
        ("0 9 * * mon-fri", "0 9 * * 1-5"),
        ("00 09 * JAN Mon", "0 9 * 1 1"),
        ("  0\t9  *   * 1-5 ", "0 9 * * 1-5"),
        ("*/15 8-18/2 1,15 jan-jun/2 sun,sat", "*/15 8-18/2 1,15 1-6/2 0,6"),
        ("0 9 * * fri-sun", "0 9 * * 5-7"),
        ("0 9 * * sun-tue", "0 9 * * 0-2"),
        ("0 9 29 2 *", "0 9 29 2 *"),
        ("0 9 30,31 2,4 *", "0 9 30,31 2,4 *"),
        ("0 9 l * *", "0 9 L * *"),
        ("0 9 15,L * *", "0 9 15,L * *"),
        ("0 9 * * Mon#1,7#02", "0 9 * * 1#1,0#2"),
        ("0 9 * * friL", "0 9 * * 5L"),
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_an_expression_is_understood_in_one_way(text: str, canonical: str) -> None:
    assert str(cron_of(text)) == canonical
    assert cron_of(canonical) == cron_of(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("* * * *", "has 4 fields"),
        ("*", "has 1 field,"),
        ("* * * * * *", "seconds aren't supported"),
        ("* * * * * * *", "has 7 fields"),
        ("60 * * * *", "Minute: 60 is not between 0 and 59"),
        ("* 24 * * *", "Hour: 24 is not between 0 and 23"),
        ("* * 0 * *", "Day of the month: 0 is not between 1 and 31"),
        ("* * 32 * *", "Day of the month: 32 is not between 1 and 31"),
        ("* * * 0 *", "Month: 0 is not between 1 and 12"),
        ("* * * 13 *", "Month: 13 is not between 1 and 12"),
        ("* * * * 8", "Day of the week: 8 is not between 0 and 7"),
        ("0-60 * * * *", "60 is not between"),
        ("0 9 * * 1#6", "1 to 5 may stand behind #"),
        ("0 9 * * 1#0", "1 to 5 may stand behind #"),
        ("0 9 * * 8#1", "8 is not between 0 and 7"),
        ("0 9 1 * 1#1", "can't stand beside other days"),
        ("0 9 */2 * 5L", "can't stand beside other days"),
        ("0 9 * * 1#1,3", "can't stand beside other days"),
        ("0 9 L-3 * *", "is not understood"),
        ("0 L * * *", "is not understood"),
        ("5-1 * * * *", 'range "5-1" runs backwards'),
        ("* * * * fri-mon", "runs backwards"),
        ("* * * dec-jan *", "runs backwards"),
        ("*/0 * * * *", 'step of "*/0" is not between 1 and 59'),
        ("*/60 * * * *", 'step of "*/60" is not between 1 and 59'),
        ("* */24 * * *", "is not between 1 and 23"),
        ("5/15 * * * *", "5-59/15 has both"),
        ("1,,2 * * * *", 'an item of "1,,2" is empty'),
        ("1, * * * *", "is empty"),
        ("-1 * * * *", '"-1" is not understood'),
        ("1- * * * *", '"1-" is not understood'),
        ("*-5 * * * *", '"*-5" is not understood'),
        ("1-2-3 * * * *", "is not understood"),
        ("* * * * foo", 'Day of the week: "foo" is not understood'),
        ("* * * * monday", '"monday" is not understood'),
        ("mon * * * *", '"mon" is not understood'),
        ("* * ? * 1", "is not understood"),
        ("١ * * * *", "is not understood"),  # noqa: RUF001 - a digit, but not one of cron's
        ("0 0 30 2 *", "No year has day 30 of month 2"),
        ("0 0 31 4 *", "No year has day 31 of month 4"),
        ("0 0 31 2,4,6,9,11 *", "No year has day 31"),
        ("0 0 30-31 feb */2", "No year has day 30-31"),
        ("@reboot", "@reboot isn't a time"),
        ("@often", "isn't one of @hourly"),
        ("@daily 5", "isn't one of @hourly"),
        ("9 15", "has 2 fields"),
    ],
)
def test_what_is_wrong_is_refused_with_an_example_that_works(text: str, reason: str) -> None:
    assert is_cron(text)
    with pytest.raises(WhenError) as refused:
        plan(text, zone="UTC", now=NOW)
    assert reason in str(refused.value)
    example = refused.value.example.partition(", ")[0].split(" is ")[0].strip('"')
    assert isinstance(plan(example, zone="UTC", now=NOW).when, Cron)


def test_sunday_is_0_and_7() -> None:
    assert due("0 9 * * 0") == due("0 9 * * 7") == due("0 9 * * sun")
    assert due("0 9 * * 0", 1) == ["Sun 2026-11-29 09:00"]


def test_weekdays_count_from_sunday() -> None:
    assert due("0 9 * * 1-5", 6)[::5] == ["Mon 2026-11-23 09:00", "Mon 2026-11-30 09:00"]
    assert due("0 9 * * */2", 4) == [
        "Tue 2026-11-24 09:00",
        "Thu 2026-11-26 09:00",
        "Sat 2026-11-28 09:00",
        "Sun 2026-11-29 09:00",
    ]


def test_of_two_day_fields_either_will_do() -> None:
    assert due("0 9 1 * 1") == ["Mon 2026-11-23 09:00", "Mon 2026-11-30 09:00", "Tue 2026-12-01 09:00"]
    assert due("0 9 13 * fri") == ["Fri 2026-11-27 09:00", "Fri 2026-12-04 09:00", "Fri 2026-12-11 09:00"]
    assert "Sun 2026-12-13 09:00" in due("0 9 13 * fri", 4)


def test_a_field_that_begins_with_a_star_leaves_its_days_open() -> None:
    assert due("0 9 */2 * 1") == ["Mon 2026-11-23 09:00", "Mon 2026-12-07 09:00", "Mon 2026-12-21 09:00"]
    assert due("0 9 1 * */2") == ["Tue 2026-12-01 09:00", "Thu 2027-04-01 09:00", "Sat 2027-05-01 09:00"]


@pytest.mark.parametrize(
    "text", ["30 8 * * 1#1", "0 9 * * 2#2,4#5", "0 18 * * 5L", "0 0 L * *", "15 6 10,L 2 *", "0 9 L * 1"]
)
def test_days_that_depend_on_the_month_are_those_of_another_library(text: str) -> None:
    walls = islice(CronSim(text, NOW.replace(tzinfo=None)), 60)
    assert due(text, 60) == [f"{wall:%a %Y-%m-%d %H:%M}" for wall in walls]


def test_a_date_that_only_some_years_have_is_found_over_a_century() -> None:
    planned = plan("0 9 29 2 *", zone="Europe/Berlin", now=NOW)
    after = datetime(2093, 1, 1, tzinfo=UTC)
    assert [at.year for at in instants(planned, after, anchor=NOW, most=3)] == [2096, 2104, 2108]


def test_the_longest_wait_there_is_is_found() -> None:
    planned = plan("0 9 29 2 */6", zone="America/New_York", now=NOW)  # 29 February on a Saturday or Sunday
    years = [at.year for at in instants(planned, NOW, anchor=NOW, most=6)]
    assert years == [2032, 2048, 2060, 2076, 2088, 2116]


@pytest.mark.parametrize(
    ("field", "pattern"), [("*", True), ("*/2", True), ("0-23", True), ("8-18/2", True), ("8-18", False), ("2", False)]
)
def test_hours_are_a_pattern_or_times_that_somebody_chose(field: str, pattern: bool) -> None:
    assert values_of(cron_of(f"30 {field} * * *")).every_hour is pattern


@pytest.mark.parametrize(
    "phrase", ["every 5 minutes", "2026-12-24 18:00", "9am", "daily at 9", "monthly on the 1, 15 at 9", ""]
)
def test_a_phrase_is_no_expression(phrase: str) -> None:
    assert not is_cron(phrase)
