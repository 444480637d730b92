"""Sentences on cards are short: whoever decides reads them in a chat, between other things."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from runtime.chat import modes
from runtime.chat.cards import listing, open_cards, settled_cards
from runtime.markup.moments import in_words
from runtime.policy.tool_forms import warning
from runtime.store.operations.after_restore import Origin
from runtime.store.operations.after_restore import _warning as asked_again
from tests.drawings.situations import situations
from tools.sandbox.external import External

WORDS_MAX = 20
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
ENDS = re.compile(r"[.!?](?:\s|$)| · |\n")


def sentences(text: str) -> Iterator[str]:
    """Our sentences: a value or a block of the call counts as one word, a fact between dots as a sentence."""
    yield from filter(None, map(str.strip, ENDS.split(CODE.sub("code", in_words(text)))))


@pytest.mark.parametrize("name", situations())
def test_of_a_card(name: str) -> None:
    card = situations()[name]
    for sentence in sentences(card.text):
        assert len(sentence.split()) <= WORDS_MAX, sentence


@pytest.mark.parametrize(
    "text",
    [
        open_cards.NOBODY_HERE,
        open_cards.NOBODY_REACHED,
        listing.ONE_ANSWER,
        modes.NO_TRUST,
        External.caution,
        asked_again(Origin("b1", datetime(2026, 3, 1, tzinfo=UTC), "1.0")),
        warning(json.dumps({"description": "a"}), json.dumps({"description": "b", "idempotent": True})),
        settled_cards.came(json.loads(settled_cards.with_undo(settled_cards.RUNNING, "cut", "Ada")), home=True)[0],
    ],
)
def test_of_what_may_stand_on_one(text: str) -> None:
    for sentence in sentences(text):
        assert len(sentence.split()) <= WORDS_MAX, sentence
