"""Remarks on a card about what a call's text hides: invisible characters, and words that look like others. Pure."""

from __future__ import annotations

from itertools import islice
from typing import Final

from runtime.text.glyphs import clip, hidden, in_full
from runtime.text.scripts import mixed
from runtime.text.words import listed, say, say_many

WORDS_NAMED: Final = 3
WORD_MAX_CHARS: Final = 40


def remarks(arguments: str) -> str:
    """Sentences about a call's arguments, for above its buttons; empty where there is nothing to say."""
    shown, _ = in_full(arguments)
    count = hidden(shown)
    said = [
        say_many(
            "Contains {number} invisible character, shown as a code.",
            "Contains {number} invisible characters, shown as codes.",
            count,
        )
    ]
    said = said if count else []
    said += [
        say("`{word}` mixes {scripts} letters.", word=clip(word, WORD_MAX_CHARS), scripts=listed(scripts))
        for word, scripts in islice(mixed(shown), WORDS_NAMED)
    ]
    return " ".join(said)
