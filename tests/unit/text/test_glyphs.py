# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Nothing that is shown hides anything, and what is shown is of one text alone."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.text.glyphs import (
    COMBINING_MAX,
    INDENT,
    INSIDE,
    hidden,
    in_a_line,
    in_full,
    legible,
    meant,
    shortened,
    visible,
)

TRICKY = ["a", " ", "\t", "\n", "⟨", "⟩", "⟨U+202E⟩", " spaces⟩", "9", "\u202e", "\u200b", "\u0301", "\u2800", "\ufe0f"]
TRICKY += ["❤", "\u20e3", "\u200d", " " * (INSIDE + 1), " " * (INDENT + 1), "\n" * 5, "\r", "\0", "\ud800", "\u3164"]
texts = st.one_of(st.text(), st.lists(st.sampled_from(TRICKY), max_size=12).map("".join))


@given(texts, st.booleans())
def test_what_is_shown_decodes_to_the_text(text: str, one_line: bool) -> None:
    assert meant(visible(text, one_line=one_line)) == text


@given(texts)
def test_on_one_line_there_is_one_line(text: str) -> None:
    assert "\n" not in visible(text, one_line=True)


@given(texts)
def test_what_is_shown_hides_nothing_itself(text: str) -> None:
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown if c not in "\n\t "} & {
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
        "Zs",
        "Zl",
        "Zp",
    }
    assert all(len(line) - len(line.lstrip()) <= INDENT and line == line.rstrip() for line in shown.split("\n"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la  ~/x", "ls -la  ~/x"),
        ("if x:\n    y", "if x:\n    y"),
        ("größe 字 مرحبا é 😀 ❤️ 1️⃣", "größe 字 مرحبا é 😀 ❤️ 1️⃣"),
        ("a" + " " * 120 + "b", "a⟨120 spaces⟩b"),
        ("a\n\n\n\n\n\nb", "a\n⟨5 empty lines⟩\nb"),
        ("a \nb\n", "a⟨U+0020⟩\nb⟨U+000A⟩"),
        ("a\u200b\u200b\u200bb", "a⟨U+200B ×3⟩b"),
        ("a\ufe0fb", "a⟨U+FE0F⟩b"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("\u3008U+202E\u3009 \u3008書\u3009", "⟨U+3008⟩U+202E\u3009 \u3008書\u3009"),
        ("e" + "\u0301" * 9, "e" + "\u0301" * COMBINING_MAX + "⟨U+0301 ×5⟩"),
        ("a\t\tb\tc", "a⟨U+0009 ×2⟩b\tc"),
    ],
)
def test_what_has_a_glyph_stays_and_what_has_none_is_a_code(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_of_a_long_text_both_ends_are_shown_and_how_much_is_between() -> None:
    text = "echo " + "x" * 60_000 + " && rm -rf ~"
    assert shortened(text, 30) == f"echo {'x' * 15} ⟨59,987 characters left out⟩ & rm -rf ~"


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.lists(st.text())), max_size=3))
def test_arguments_are_shown_so_that_they_can_be_told_apart(values: dict[str, object]) -> None:
    shown, language = in_full(json.dumps(values))
    if language == "json":
        assert json.loads(meant(shown)) == values
    else:
        assert [meant(shown)] == list(values.values())
        assert not shown.startswith("{")
    assert "\n" not in in_a_line(json.dumps(values))


KEPT = [
    "1\ufe0f\u20e3",
    "❤\ufe0f",
    "👨\u200d👩\u200d👧",
    "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    "می\u200cخ",
    "ไทย\u200bไทย",
    "a\u00a0b\u202fc",
]
CODED = ["a\u202eb", "\u2066a", "x\u200by", "a\u200db", "a\ufe0fb", "a\U000e0041", "a\x07b", "a\u3164", "\ufeffa"]


@pytest.mark.parametrize("text", KEPT)
def test_a_sentence_keeps_what_scripts_and_emoji_need(text: str) -> None:
    assert legible(text) == text


@pytest.mark.parametrize("text", CODED)
def test_a_sentence_shows_what_turns_or_hides(text: str) -> None:
    assert legible(text) != text
    assert meant(legible(text)) == text


JOINED = [
    "👨\u200d👩\u200d👧",
    "❤\ufe0f\u200d🔥",
    "🏃🏽\u200d♀\ufe0f\u200d➡\ufe0f",
    "👩🏾\u200d🚀",
    "👁\ufe0f\u200d🗨\ufe0f",
    "👩\u200d❤\ufe0f\u200d💋\u200d👩",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "می\u200cخواهم",
    "क्\u200dष",
    "ক্\u200cত",
]


@pytest.mark.parametrize("text", JOINED)
def test_joiners_stay_where_emoji_and_scripts_need_them(text: str) -> None:
    assert (visible(text), hidden(visible(text))) == (text, 0)
    assert visible(f"rm {text} x") == f"rm {text} x"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("👨\u200d👨\u200d👨", 2),
        ("👩\u200drm", 1),
        ("می\u200c\u200cخ", 2),
        ("\u200cمی", 1),
        ("می\u200d", 1),
        ("म\u200dی", 1),
        ("a\u200cb", 1),
        ("\U0001f3f4\U000e0041\U000e007f", 2),
        ("👨\u200d👩\u200d👧\u200d👩", 1),
        ("🏃\u200d🔥", 1),
    ],
)
def test_joiners_are_shown_anywhere_else(text: str, count: int) -> None:
    assert (meant(visible(text)), hidden(visible(text))) == (text, count)


@pytest.mark.parametrize(
    ("text", "count"),
    [("a \nb\n", 0), ("a" + " " * 99 + "b", 0), ("e" + "\u0301" * 9, 0), ("⟨U+41⟩", 0), ("a\rb\0", 2)],
)
def test_only_what_nobody_would_see_is_counted(text: str, count: int) -> None:
    assert hidden(visible(text)) == count
