"""A plain mask for what only operators read: settings, logs, tracebacks. It tells nothing of what it hides. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from runtime.guard.held import SHORTEST, coded_forms, finder, written_forms
from runtime.guard.shapes import SHORTEST_WORD, long_words_of, shapes_in

HIDDEN: Final = "********"


class Mask:
    """Call it with a text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        long = [value for value in values if len(value) >= SHORTEST]
        forms = {form for value in long for form in written_forms(value)}
        coded = {form for value in long for form in coded_forms(value) if len(form) >= SHORTEST_WORD} - forms
        self._forms = {form: finder(form) for form in sorted(forms, key=len, reverse=True)}  # longer ones hold others
        self._coded = sorted(coded, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for form, found in self._forms.items():
            if form in text:
                text = found.sub(HIDDEN, text)
        words = long_words_of(text)
        for form in self._coded if words else ():  # in hex and base64 it is one long word, and few lines have any
            if form in words:
                text = text.replace(form, HIDDEN)
        return hide(text, words)


def hide(text: str, words: str | None = None) -> str:
    """`text` without what looks like a secret. `words` are its long words, where they are known; more of them do no harm."""
    shown, end = [], 0
    known = long_words_of(text) if words is None else words
    for one in sorted(shapes_in(text, known), key=lambda found: found.start):
        if one.end > end:
            shown += [text[end : one.start], HIDDEN] if one.start >= end else []
            end = one.end
    return "".join([*shown, text[end:]]) if end else text
