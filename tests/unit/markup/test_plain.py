"""What a reader without markup gets."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from runtime.markup import parse, to_plain
from runtime.markup.columns import width
from tests.unit.markup.shapes import GAPS, MARKS, markdown

WORD = st.text("abcdefghijklmnopqrstuvwxyz漢字한글яπ", min_size=2, max_size=8)


@given(st.lists(st.tuples(MARKS, WORD, GAPS), max_size=40))
@example([("|", "aa", "\n|"), ("|-|-|", "bb", "\n|"), ("|", "cc", "")])
def test_no_word_is_lost(pieces: list[tuple[str, str, str]]) -> None:
    """Words are kept whatever stands around them; an entity or an address may swallow one only by showing it."""
    text = "".join(mark.replace("&", "+") + word + gap for mark, word, gap in pieces)
    shown = to_plain(parse(text))
    missing = [word for _, word, _ in pieces if word not in shown and word.encode().hex() not in _unquoted(shown)]
    assert missing == []


def _unquoted(shown: str) -> str:
    """The bytes of `shown` as hex, its percent escapes undone: a word inside an address is percent-encoded."""
    quoted = re.sub(r"%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), shown)
    return quoted.encode("latin-1", "replace").hex()


@given(st.lists(WORD, min_size=1, max_size=30).map(" ".join))
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert to_plain(parse(text)) == text


@given(st.lists(st.lists(WORD, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=6))
def test_the_plain_twin_of_prose_lists_and_quotes_is_stable(lines: list[str]) -> None:
    text = "\n\n".join(lines) + "\n\n" + "\n".join(f"- {line}" for line in lines) + "\n\n> " + lines[0]
    once = to_plain(parse(text))
    assert to_plain(parse(once)) == once


@given(markdown)
def test_no_line_ends_in_blanks_that_a_table_or_list_added(text: str) -> None:
    assert "\r" not in to_plain(parse(text))


def test_tables_are_aligned_in_columns_of_the_screen() -> None:
    table = to_plain(parse("|name|size|\n|:-|-:|\n|漢字|1|\n|é🚦|12345|\n|plain|7|"))
    assert table.split("\n") == [
        "name    size",
        "-----  -----",
        "漢字       1",
        "é🚦    12345",
        "plain      7",
    ]


def test_columns_count_what_a_terminal_shows() -> None:
    assert [width("ab"), width("漢字"), width("e\u0301"), width("🚦")] == [2, 4, 1, 2]


def test_structure_stays_readable() -> None:
    source = "# Head\n\n- a\n  1. b\n\n> q ~~no~~ [l](https://x.io)\n\n```sh\nls\n```\n\n---"
    assert to_plain(parse(source)) == (
        "Head\n\n- a\n  1. b\n\n> q ~~no~~ l (https://x.io)\n\nsh:\n    ls\n\n" + "-" * 20
    )
