"""Choices without buttons: an emoji, a word with a code, or an answer to the card."""

from __future__ import annotations

from typing import Final

import pytest

from runtime.contract import ApprovalId, Button, Choice
from signalbox_matrix.choices import (
    CHOICES_KEY,
    as_json,
    code_of,
    hint,
    named,
    offered,
    offers,
    pressed,
    whole_id,
    written,
)
from signalbox_matrix.choices import answered as by_answer

ONE: Final = ApprovalId("0354ZwM001YzyMN2DRU5KC")
TWO: Final = ApprovalId("0354ZwM001YzyMN2DRU5KD")
CARD: Final = offers([Button(ONE, Choice.APPROVE, "Approve"), Button(ONE, Choice.DENY, "Deny")])


def test_a_code_has_four_letters_that_nobody_mistakes_and_is_the_cards_own() -> None:
    assert len(code_of(ONE)) == 4
    assert not set(code_of(ONE)) & set("IO01")
    assert code_of(ONE) != code_of(TWO)


@pytest.mark.parametrize("emoji", ["✅", "✅\ufe0f"])
def test_an_emoji_is_the_choice_with_or_without_its_coloured_form(emoji: str) -> None:
    found = pressed(CARD, emoji)
    assert found
    assert found.choice == Choice.APPROVE
    assert pressed(CARD, "👍") is None


def test_words_with_the_code_name_a_choice_in_any_case() -> None:
    wish = written(f"Approve {code_of(ONE).lower()}")
    assert wish
    found = named(wish, CARD)
    assert found
    assert (found.approval, found.choice) == (ONE, Choice.APPROVE)
    assert named(wish, offers([Button(TWO, Choice.APPROVE, "Approve")])) is None


@pytest.mark.parametrize(
    ("text", "choice", "reason"),
    [
        ("approve", Choice.APPROVE, ""),
        ("Approve", Choice.APPROVE, ""),
        ("deny too risky", Choice.DENY, "too risky"),
        (f"deny {code_of(ONE)} too risky", Choice.DENY, "too risky"),
    ],
)
def test_an_answer_to_the_card_needs_no_code(text: str, choice: Choice, reason: str) -> None:
    found = by_answer(text, CARD)
    assert found
    assert (found[0].choice, found[1]) == (choice, reason)


@pytest.mark.parametrize("text", ["approve it only if it is safe", "yes", "why?", "approved", "delete everything", ""])
def test_other_words_decide_nothing(text: str) -> None:
    assert by_answer(text, CARD) is None


def test_a_list_of_several_questions_is_answered_by_codes_alone() -> None:
    several = offers([Button(ONE, Choice.APPROVE, "Approve"), Button(TWO, Choice.APPROVE, "Approve")])
    assert [offer.emoji for offer in several] == ["✅", ""]
    assert by_answer("approve", several[1:]) is not None
    assert by_answer("approve now", several) is None
    wish = written(f"approve {code_of(TWO)}")
    assert wish
    found = named(wish, several)
    assert found
    assert found.approval == TWO
    assert code_of(ONE) in hint(several)
    assert code_of(TWO) in hint(several)


def test_a_whole_id_is_taken_as_it_is_written() -> None:
    wish = written(f"approve {ONE}")
    assert wish
    assert whole_id(wish) == ONE
    short = written("approve ABCD")
    assert short
    assert whole_id(short) == ""


def test_choices_live_in_the_card_and_what_is_malformed_is_none() -> None:
    assert offered({CHOICES_KEY: as_json(CARD)}) == CARD
    for broken in (None, "x", [["a"]], [1], {"a": 1}):
        assert offered({CHOICES_KEY: broken}) == ()
