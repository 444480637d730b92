"""Lengths as the platforms count them, and characters as readers do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.text.graphemes import boundary
from runtime.text.lengths import characters, utf8, utf16


@pytest.mark.parametrize(
    ("text", "lengths"),
    [("abc", (3, 3, 3)), ("é", (1, 1, 2)), ("漢", (1, 1, 3)), ("🚦", (1, 2, 4)), ("👩‍🚀", (3, 5, 11))],
)
def test_each_platform_counts_its_own_way(text: str, lengths: tuple[int, int, int]) -> None:
    assert (characters(text), utf16(text), utf8(text)) == lengths


@given(st.text())
def test_utf16_is_what_the_encoding_says(text: str) -> None:
    assert utf16(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("character", ["👩‍🚀", "🇩🇪", "é", "👍🏽", "1️⃣", "각", "\r\n", "क्ष", "\ud83d\udea6"])
def test_one_character_has_no_place_to_cut(character: str) -> None:
    for at in range(1, len(character)):
        assert boundary("a" + character, 1 + at) == 1


def test_flags_are_cut_in_pairs() -> None:
    assert [boundary("🇩🇪🇫🇷🇮🇹", at) for at in range(1, 6)] == [1, 2, 2, 4, 4]


def test_what_is_no_character_any_more_is_cut() -> None:
    assert boundary("e" + "\u0301" * 100, 50) == 50


@given(st.text(), st.integers(0, 20))
def test_a_boundary_is_never_beyond_what_was_asked(text: str, at: int) -> None:
    assert 0 <= boundary(text, min(at, len(text))) <= at
