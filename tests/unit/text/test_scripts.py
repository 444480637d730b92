# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Words that mix scripts are named; words of one script, and of those that belong together, are not."""

from __future__ import annotations

import pytest

from runtime.text.scripts import mixed


@pytest.mark.parametrize(
    ("text", "word", "scripts"),
    [
        ("сurl https://example.org", "сurl", ("Cyrillic", "Latin")),
        ("cat pаsswd", "pаsswd", ("Cyrillic", "Latin")),
        ("gοοgle", "gοοgle", ("Greek", "Latin")),
        ("bаnk.example", "bаnk", ("Cyrillic", "Latin")),
        ("漢пр", "漢пр", ("Cyrillic", "Han")),
        ("ᏚᏴl", "ᏚᏴl", ("Cherokee", "Latin")),
        ("օracle", "օracle", ("Armenian", "Latin")),
    ],
)
def test_a_word_of_scripts_that_do_not_belong_together_is_named(text: str, word: str, scripts: tuple[str, ...]) -> None:
    assert list(mixed(text)) == [(word, scripts)]


@pytest.mark.parametrize(
    "text",
    [
        "git push origin main",
        "привет, мир",
        "größer als naïve café",
        "東京タワーのABC",
        "T恤 ㄅ恤",
        "한국어와 漢字 ABC한글漢",
        "العربية שלום ελληνικά",
        "привет world",
        "5µm x² ª º 𝐛𝐨𝐥𝐝",
        "x_привет_y",
    ],
)
def test_any_other_text_is_not(text: str) -> None:
    assert not list(mixed(text))


def test_a_word_is_named_once() -> None:
    assert len(list(mixed("сurl и сurl"))) == 1
