"""Remarks on a card about what a call's text hides: invisible characters, and words that look like others. Pure."""

from __future__ import annotations

from itertools import islice
from typing import Final

from runtime.markup.moments import several
from runtime.text.glyphs import clip, hidden, in_full
from runtime.text.naming import listed
from runtime.text.scripts import mixed

WORDS_NAMED: Final = 3
WORD_MAX_CHARS: Final = 40


def remarks(arguments: str) -> str:
    """Sentences about a call's arguments, for above its buttons; empty where there is nothing to say."""
    shown, _ = in_full(arguments)
    count = hidden(shown)
    codes = "a code" if count == 1 else "codes"
    said = [f"Contains {several(count, 'invisible character')}, shown as {codes}."] if count else []
    said += [
        f"`{clip(word, WORD_MAX_CHARS)}` mixes {listed(scripts)} letters."
        for word, scripts in islice(mixed(shown), WORDS_NAMED)
    ]
    return " ".join(said)
