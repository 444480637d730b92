"""Answers that are shown while they are written: a secret that has only begun to come in is not shown. Pure."""

from __future__ import annotations

from typing import Final

from runtime.guard.findings import Gate
from runtime.guard.guard import Guard
from runtime.guard.held import SHORTEST

HELD_BACK: Final = 128
"""Characters at the end, where a value of our own is more than one word of ASCII."""


def preview(guard: Guard, text: str, room: str = "") -> str:
    """As much of an answer under way as may be shown.

    Its last word is held back once it is as long as a secret may be, since nobody can tell what becomes of it; where values
    that we hold have blanks in them, its last `HELD_BACK` characters are.
    """
    shown = guard.check(text, Gate.MODEL_REPLY, room).text
    if guard.held.has_blanks:
        return shown[:-HELD_BACK]
    letters = len(shown)
    while letters and "!" <= shown[letters - 1] <= "~":
        letters -= 1
    return shown[:letters] if len(shown) - letters >= SHORTEST else shown
