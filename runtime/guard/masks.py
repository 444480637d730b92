"""A plain mask for what only operators read: settings, logs, tracebacks. It tells nothing of what it hides. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from runtime.guard.held import SHORTEST, finder, written_forms
from runtime.guard.shapes import long_words_of, shapes_in

HIDDEN: Final = "********"


class Mask:
    """Call it with a text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if len(value) >= SHORTEST for form in written_forms(value)}
        self._forms = {form: finder(form) for form in sorted(forms, key=len, reverse=True)}  # longer ones hold others

    def __call__(self, text: str) -> str:
        for form, found in self._forms.items():
            if form in text:
                text = found.sub(HIDDEN, text)
        return hide(text)


def hide(text: str) -> str:
    """`text` without what looks like a secret."""
    shown, end = [], 0
    for one in sorted(shapes_in(text, long_words_of(text)), key=lambda found: found.start):
        if one.end > end:
            shown += [text[end : one.start], HIDDEN] if one.start >= end else []
            end = one.end
    return "".join([*shown, text[end:]]) if end else text
