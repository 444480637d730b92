"""Zones and what they may be called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from runtime.calendar import WhenError, zone_named
from runtime.calendar.zones import changes, instant_of, stretch
from tests.unit.calendar.expressions import ZONES
from tests.unit.calendar.rule import changes as walked


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/BERLIN", "Europe/Berlin"),
        (" Berlin ", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("NEW_YORK", "America/New_York"),
        ("utc", "UTC"),
        ("Istanbul", "Europe/Istanbul"),  # also in Asia, with the same clocks
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("argentina/buenos aires", None),
        ("Port-au-Prince", "America/Port-au-Prince"),
        ("singapore", "Singapore"),
    ],
)
def test_a_zone_is_found_by_its_name_or_its_city(name: str, key: str | None) -> None:
    if key is None:
        with pytest.raises(WhenError, match="did you mean America/Argentina/Buenos_Aires"):
            zone_named(name)
        return
    assert zone_named(name).key == key


def test_every_zone_is_found_by_its_name_in_any_case() -> None:
    for key in ZONES:
        assert zone_named(key).key == zone_named(key.lower()).key == key


def test_a_name_of_several_zones_is_refused_with_all_of_them() -> None:
    with pytest.raises(WhenError, match='"central" is 2 time zones: Canada/Central, US/Central'):
        zone_named("central")


@pytest.mark.parametrize(
    "name", ["", "Nowhere", "../../etc/passwd", "/etc/localtime", "posix/UTC", "UTC+2", "Factory", "x" * 10_000, "\x00"]
)
def test_what_is_no_zone_is_refused_with_one_that_is(name: str) -> None:
    with pytest.raises(WhenError, match="no time zone called") as refused:
        zone_named(name)
    assert zone_named(refused.value.example.partition(",")[0]).key in ZONES
    assert len(str(refused.value)) < 300


def test_a_slip_is_told_the_nearest_name() -> None:
    with pytest.raises(WhenError, match="did you mean America/New_York"):
        zone_named("Nwe York")


@pytest.mark.parametrize(
    "key", ["Europe/Berlin", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Tokyo"]
)
@pytest.mark.parametrize("year", [2011, 2026, 2060])
def test_changes_of_clocks_are_found_to_the_minute(key: str, year: int) -> None:
    zone = zone_named(key)
    assert list(changes(zone, year)) == list(walked(zone, year))


def test_a_stretch_says_how_far_the_clocks_were_set() -> None:
    summer = stretch(zone_named("Berlin"), datetime(2026, 7, 1, tzinfo=UTC))
    assert summer.begins == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert summer.ends == datetime(2026, 10, 25, 1, tzinfo=UTC)
    assert summer.set_by == timedelta(hours=1)
    winter = stretch(zone_named("Berlin"), summer.ends)
    assert winter.set_by == -timedelta(hours=1)
    assert winter.ends == datetime(2027, 1, 1, tzinfo=UTC)  # cut there


def test_a_wall_that_is_skipped_is_later_and_one_that_comes_twice_the_first() -> None:
    berlin = zone_named("Berlin")
    assert instant_of(datetime(2026, 3, 29, 2, 30), berlin) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # noqa: DTZ001 - a wall has no zone
    assert instant_of(datetime(2026, 10, 25, 2, 30), berlin) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # noqa: DTZ001 - a wall has no zone
