"""Long text is cut to head and tail, and nothing a reader sees as one character is split."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.text.glyphs import bound, clip, head
from runtime.text.graphemes import is_boundary

CUT = re.compile(r"\n… ([\d,]+) characters left out …\n")

CLUSTERS = [
    "a",
    "\r\n",
    "e\u0301",
    "👩‍👩‍👧",
    "👍🏽",
    "🇩🇪",
    "☀️",
    "🏴\U000e0067\U000e0062\U000e007f",
    "漢",
    "\ud83d\ude00",
    "1️⃣",
    "각",
    "क्ष",
]


def pieces(text: str) -> tuple[str, int, str]:
    found = CUT.search(text)
    assert found
    return text[: found.start()], int(found[1].replace(",", "")), text[found.end() :]


@given(st.text(), st.integers(min_value=0, max_value=200))
def test_the_limit_holds_for_any_text(text: str, limit: int) -> None:
    assert len(bound(text, limit)) <= limit or not text


@given(st.text())
def test_text_within_the_limit_stays_as_it_is(text: str) -> None:
    assert bound(text, len(text)) is text


def test_eighty_thousand_characters_keep_head_and_tail() -> None:
    text = "".join(f"{number:08}" for number in range(10_000))
    cut = bound(text, 50_000)
    head, left_out, tail = pieces(cut)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + left_out + len(tail) == 80_000
    assert "… 30,032 characters left out …" in cut
    assert len(cut) == 50_000


@given(st.lists(st.sampled_from(CLUSTERS), min_size=80, max_size=200), st.integers(min_value=50, max_value=120))
def test_no_visible_character_is_split(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    if len(text) <= limit:
        return
    head, left_out, tail = pieces(bound(text, limit))
    assert len(head) + left_out + len(tail) == len(text)
    borders = {0}
    for cluster in clusters:
        borders.add(max(borders) + len(cluster))
    assert len(head) in borders
    assert len(text) - len(tail) in borders


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_border_is_only_around_a_character(cluster: str) -> None:
    assert not any(is_boundary("x" + cluster + "x", at + 1) for at in range(1, len(cluster)))


def test_flags_in_a_row_are_cut_between_them() -> None:
    assert [at for at in range(5) if is_boundary("🇩🇪🇫🇷", at)] == [0, 2, 4]


def test_a_limit_too_small_for_the_cut_gives_the_head() -> None:
    assert bound("abcdefgh" * 10, 5) == "abcde"
    assert bound("e\u0301" * 10, 1) == ""


@given(st.lists(st.sampled_from(CLUSTERS), max_size=60), st.integers(min_value=10, max_value=80))
def test_a_clipped_text_ends_with_a_whole_character(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    clipped = clip(text, limit)
    assert len(clipped) <= limit
    wholes = {"".join(clusters[:count]) for count in range(len(clusters) + 1)}
    assert clipped == text if len(text) <= limit else clipped.removesuffix("…") in wholes


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_a_head_is_the_beginning_and_no_longer_than_asked(text: str, limit: int) -> None:
    assert text.startswith(head(text, limit))
    assert len(head(text, limit)) <= limit
