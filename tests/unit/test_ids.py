"""Ids fit every button, sort by the time they were made, and are not made twice."""

from __future__ import annotations

import time

import pytest

from runtime.ids import ALPHABET, LENGTH, new_id


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


def test_the_alphabet_sorts_as_it_counts() -> None:
    assert list(ALPHABET) == sorted(ALPHABET)
    assert len(set(ALPHABET)) == 62
