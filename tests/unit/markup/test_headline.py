"""A text's first line stands alone, and nothing is lost between it and the rest."""

from __future__ import annotations

import pytest

from runtime.markup import parse, to_plain
from runtime.markup.headline import headline


@pytest.mark.parametrize(
    ("text", "first", "rest"),
    [
        ("# Sales\n\n| a | b |\n| - | - |\n| 1 | 2 |", "Sales", "1"),
        ("All is well.\nTwo are open.\n\n- one\n- two", "All is well.", "Two are open."),
        ("All is *well*\\\nTwo are **open**.", "All is well", "Two are open."),
        ("**All\nis well**\nand so on", "All\nis well", "and so on"),
        ("All is well.", "All is well.", ""),
        ("Sales\n=====\n\nmore", "Sales", "more"),
        ("- one\n- two", "", "two"),
        ("", "", ""),
    ],
)
def test_the_first_heading_or_line_is_the_headline(text: str, first: str, rest: str) -> None:
    above, below = (to_plain(part).strip() for part in headline(parse(text)))
    assert above == first
    assert rest in below
    assert bool(rest) == bool(below)


def test_no_word_is_lost() -> None:
    text = "# One\n\nTwo three\nfour `five` **six\nseven**\n\n1. eight\n2. nine\n\n> ten\n\n```\neleven\n```"
    above, below = headline(parse(text))
    words = f"{to_plain(above)} {to_plain(below)}".lower().split()
    assert [word for word in words if word.isalpha()] == [
        *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
    ]
