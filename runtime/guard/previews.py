"""Answers that are shown while they are written: a secret that has only begun to come in is not shown."""

from __future__ import annotations

from string import ascii_letters, digits, punctuation
from typing import Final

from runtime.guard.findings import Gate
from runtime.guard.guard import Checked, Guard
from runtime.guard.held import SHORTEST
from runtime.guard.shapes import PRIVATE_KEY_BEGINS, PRIVATE_KEY_ENDS

HELD_BACK: Final = 128
"""Characters at the end, where a value of our own is more than one word of ASCII."""

SETTLED: Final = 2_000
"""Characters from which on the first part of what came is looked at no more."""

GROWN: Final = 1.25
"""As much longer an answer without a place to cut is before it's looked at again. Else a word without an end, such as a file in
base64, would be gone through from its first letter on with each piece that comes."""

WORD_LETTERS: Final = ascii_letters + digits + punctuation


class Preview:
    """One answer under way. Call it with all of its text so far.

    Its last word is held back once it is as long as a secret may be, since nobody can tell what becomes of it; where values
    that we hold have blanks in them, its last `HELD_BACK` characters are.
    """

    def __init__(self, guard: Guard, room: str = "") -> None:
        self._guard = guard
        self._room = room
        self._begun = ""
        self._settled = ""
        self._shown = ""
        self._whole = 0
        self._enough = 0.0

    def __call__(self, text: str) -> str:
        """As much of it as may be shown."""
        if len(text) < self._whole or not text.startswith(self._begun):
            self._begun = self._settled = ""  # another model began anew
            self._enough = 0.0
        self._whole = len(text)
        if len(text) >= self._enough:
            self._shown = self._looked_at(text)
        return self._shown

    def _looked_at(self, text: str) -> str:
        rest = text[len(self._begun) :]
        if len(rest) > SETTLED:
            rest = self._settle(rest)
        self._enough = len(self._begun) + len(rest) * GROWN if len(rest) > SETTLED else 0.0
        return self._settled + self._held_back(self._check(rest).text)

    def _settle(self, rest: str) -> str:
        """The rest, once whole words that nothing can be added to are done with."""
        end = len(rest) - HELD_BACK
        cut = max(rest.rfind(" ", 0, end), rest.rfind("\n", 0, end)) + 1
        is_key = rest.rfind(PRIVATE_KEY_BEGINS) > rest.rfind(PRIVATE_KEY_ENDS, 0, cut)
        if not cut or is_key or self._is_across(rest, cut):
            return rest
        self._begun += rest[:cut]
        self._settled += self._check(rest[:cut]).text
        return rest[cut:]

    def _is_across(self, rest: str, cut: int) -> bool:
        """True where a value with blanks in it, or one and the name before it, would be cut."""
        whole, *halves = map(self._check, (rest, rest[:cut], rest[cut:]))
        if whole.is_withheld:
            return not any(half.is_withheld for half in halves)
        return whole.text != "".join(half.text for half in halves)

    def _check(self, text: str) -> Checked:
        return self._guard.check(text, Gate.MODEL_REPLY, self._room)

    def _held_back(self, shown: str) -> str:
        if self._guard.held.has_blanks:
            return shown[:-HELD_BACK]
        words = shown.rstrip(WORD_LETTERS)
        return words if len(shown) - len(words) >= SHORTEST else shown
