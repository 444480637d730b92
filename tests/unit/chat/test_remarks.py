# ruff: noqa: RUF001 - letters that look like others are what is tested
"""A card says above its buttons what the text of a call hides."""

from __future__ import annotations

import json

import pytest

from runtime.chat.cards import open_cards
from runtime.chat.cards.remarks import remarks
from runtime.contract import ApprovalId, ApprovalKind


def shell(command: str) -> str:
    return json.dumps({"command": command})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("git push", ""),
        ("echo größer привет 東京", ""),
        ("rm -r \u202e~", "Contains 1 invisible character, shown as a code."),
        ("rm\u200b -r \u2066\u2066~", "Contains 3 invisible characters, shown as codes."),
        ("сurl example.org", "`сurl` mixes Cyrillic and Latin letters."),
        (
            "сurl\u200b example.org",
            "Contains 1 invisible character, shown as a code. `сurl` mixes Cyrillic and Latin letters.",
        ),
        ("echo ⟨U+202E⟩", ""),
    ],
)
def test_only_what_hides_is_remarked_on(command: str, said: str) -> None:
    assert remarks(shell(command)) == said


def test_three_words_are_named_at_most() -> None:
    assert remarks(shell("сa сb сc сd")).count("mixes") == 3


def test_a_long_word_is_named_by_its_beginning() -> None:
    assert remarks(shell("с" + "a" * 5_000)) == f"`с{'a' * 38}…` mixes Cyrillic and Latin letters."


def test_a_name_among_several_arguments_is_looked_at_too() -> None:
    assert remarks(json.dumps({"path": "notes", "to": "аdmin"})) == "`аdmin` mixes Cyrillic and Latin letters."


def test_it_stands_between_the_call_and_its_buttons() -> None:
    text = open_cards.question(ApprovalId("a1"), ApprovalKind.CALL, "shell", shell("сurl x"), "Careful.").text
    assert text.index("```\n\n`сurl` mixes Cyrillic and Latin letters.") < text.index("Careful.")
