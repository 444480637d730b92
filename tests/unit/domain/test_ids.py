"""Ids fit every button, sort by the time they were made, and are not made twice."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from runtime.domain.ids import ALPHABET, LENGTH, made_at, new_id, value_of


def test_an_id_is_22_letters_and_digits() -> None:
    for _ in range(1000):
        made = new_id()
        assert len(made) == LENGTH == 22
        assert set(made) <= set(ALPHABET)


def test_a_part_of_a_long_delivery_still_has_an_id_of_25_characters() -> None:
    assert len(f"{new_id()}.99") <= 25


def test_no_id_is_made_twice() -> None:
    assert len({new_id() for _ in range(50_000)}) == 50_000


def test_ids_sort_by_the_millisecond_in_which_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [1_700_000_000_000]
    monkeypatch.setattr(time, "time_ns", lambda: at[0] * 1_000_000)
    made = []
    for _ in range(2000):
        at[0] += 1
        made.append(new_id())
    assert made == sorted(made)


def test_ids_sort_far_beyond_our_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for year in (1970, 2026, 2100, 5000, 10_000):
        monkeypatch.setattr(time, "time_ns", lambda year=year: (year - 1970) * 31_556_952 * 10**9)
        made.append(new_id())
    assert made == sorted(made)
    assert {len(i) for i in made} == {LENGTH}


def test_an_id_tells_when_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_123_456_789)
    assert made_at(new_id()) == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)


def test_equal_values_are_equal_ids() -> None:
    made = [new_id() for _ in range(1000)]
    assert len({value_of(one) for one in made}) == 1000
    assert all(value is not None and 0 < value < 1 << 128 for value in map(value_of, made))


@pytest.mark.parametrize("other", ["", "run-1", "z" * 22, "0" * 21 + "-", "0" * 23])
def test_what_was_not_made_here_tells_nothing(other: str) -> None:
    assert value_of(other) is None
    assert made_at(other) is None


def test_the_alphabet_sorts_as_it_counts() -> None:
    assert list(ALPHABET) == sorted(ALPHABET)
    assert len(set(ALPHABET)) == 62
