"""Every zone of the world over a year: as another library says where no clock is set, as the rule says where one is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Final
from zlib import crc32
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from runtime.calendar import instants, next_after, plan
from tests.sample import sample
from tests.unit.calendar.expressions import ZONES
from tests.unit.calendar.rule import HOURS, changes, due, window

YEAR: Final = 2026
BEGINS: Final = datetime(YEAR, 1, 1, tzinfo=UTC)
ENDS: Final = datetime(YEAR + 1, 1, 1, tzinfo=UTC)
LEAST: Final = timedelta(microseconds=1)
GROUPS: Final = 8

# (expression, whether its hours are a pattern), around changes of clocks, which are mostly between 22:00 and 04:00
NIGHTLY: Final = [
    ("30 2 * * *", False),
    ("0 2 * * *", False),
    ("0 3 * * *", False),
    ("10 0 * * *", False),
    ("0 0 * * *", False),
    ("45 23 * * *", False),
    ("15,45 0,1,2,3 * * *", False),
    ("*/20 1-3 * * *", False),
    ("30 1 1,15,29 * sun", False),
    ("5 22-23 * * 6", False),
    ("*/30 * * * *", True),
    ("17 * * * *", True),
    ("7 */2 * * *", True),
    ("30 0-23 * * *", True),
    ("0 1-5/2 * * *", True),
    ("*/25 */3 * * */2", True),
]
# Over a year, a few dozen times each.
YEARLY: Final = [
    "30 9 * * 1",
    "0 12 1,15 * *",
    "45 17 13 * fri",
    "0 6 */10 * *",
    "20 8 * 2-11/3 wed",
    "0 0 31 * *",
    "59 23 29 2,3 0",
    "10 10,20 1-7 * *",
    "5 4 */2 * 7",
    "0 7 * jan,jul mon-fri",
]


def ours(text: str, zone: str, begins: datetime, ends: datetime) -> list[datetime]:
    planned = plan(text, zone=zone, now=begins)
    return list(instants(planned, begins - LEAST, anchor=begins, most=10_000, until=ends))


def theirs(text: str, zone: ZoneInfo, begins: datetime, ends: datetime) -> Iterator[datetime]:
    for at in CronSim(text, (begins - timedelta(minutes=1)).astimezone(zone)):
        if at.astimezone(UTC) > ends:
            return
        yield at.astimezone(UTC)


def differences(key: str, nightly: Sequence[tuple[str, bool]], yearly: Sequence[str]) -> Iterator[str]:
    zone = ZoneInfo(key)
    moments = list(changes(zone, YEAR))
    for change in moments:
        around = window(zone, change)
        for text, pattern in nightly:
            if ours(text, key, around.begins, around.ends) != due(text, around, pattern=pattern):
                yield f"{text} in {key} around {change}"
    for text in yearly:
        pair = [
            [at for at in found if all(abs(at - change) > HOURS for change in moments)]
            for found in (ours(text, key, BEGINS, ENDS), theirs(text, zone, BEGINS, ENDS))
        ]
        if pair[0] != pair[1]:
            yield f"{text} in {key} over the year"


@pytest.mark.parametrize("group", sample(range(GROUPS), 2))
def test_a_sample_of_expressions_in_every_zone_over_a_year(group: int) -> None:
    found: list[str] = []
    for number, key in enumerate(ZONES):
        if number % GROUPS == group:
            turn = crc32(key.encode())
            nightly = [NIGHTLY[(turn + step) % len(NIGHTLY)] for step in (0, 5)]
            found += differences(key, nightly, [YEARLY[turn % len(YEARLY)]])
    assert found == []


@pytest.mark.parametrize(
    "key", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Antarctica/Troll"]
)
def test_every_expression_in_some_zones_over_a_year(key: str) -> None:
    assert list(differences(key, NIGHTLY, YEARLY)) == []


@pytest.mark.soak
@pytest.mark.timeout(900)  # seconds; about two hundred
def test_every_expression_in_every_zone_over_a_year() -> None:
    assert [difference for key in ZONES for difference in differences(key, NIGHTLY, YEARLY)] == []


def test_the_next_instant_is_found_within_a_millisecond() -> None:
    slow = []
    for text in (*YEARLY, *(text for text, _ in NIGHTLY)):
        planned = plan(text, zone="Europe/Berlin", now=BEGINS)
        best = []
        for _ in range(3):  # the machine may have other things to do
            began = process_time()
            found = list(instants(planned, BEGINS, anchor=BEGINS, most=50))
            best.append((process_time() - began) / len(found))
        assert next_after(planned, found[-1], anchor=BEGINS)
        slow += [f"{text}: {min(best) * 1e6:.0f} µs"] if min(best) > 0.001 else []
    assert slow == []
