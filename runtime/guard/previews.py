"""Answers that are shown while they are written: a secret that has only begun to come in is not shown."""

from __future__ import annotations

from typing import Final

from runtime.guard.findings import Gate
from runtime.guard.guard import Checked, Guard
from runtime.guard.held import SHORTEST
from runtime.guard.shapes import PRIVATE_KEY_BEGINS

HELD_BACK: Final = 128
"""Characters at the end, where a value of our own is more than one word of ASCII."""

SETTLED: Final = 2_000
"""Characters from which on the first part of what came is looked at no more."""


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

    def __call__(self, text: str) -> str:
        """As much of it as may be shown."""
        if not text.startswith(self._begun):
            self._begun = self._settled = ""  # another model began anew
        rest = text[len(self._begun) :]
        if len(rest) > SETTLED:
            rest = self._settle(rest)
        return self._settled + self._held_back(self._clean(rest))

    def _settle(self, rest: str) -> str:
        """The rest, once whole words that nothing can be added to are done with."""
        cut = rest.rfind(" ", 0, len(rest) - HELD_BACK) + 1
        if not cut or PRIVATE_KEY_BEGINS in rest or self._is_across(rest, cut):
            return rest
        self._begun += rest[:cut]
        self._settled += self._clean(rest[:cut])
        return rest[cut:]

    def _is_across(self, rest: str, cut: int) -> bool:
        """True where a value with blanks in it, or one and the name before it, would be cut."""
        whole, *halves = map(self._check, (rest, rest[:cut], rest[cut:]))
        if whole.is_withheld:
            return not any(half.is_withheld for half in halves)
        return whole.text != "".join(half.text for half in halves)

    def _clean(self, text: str) -> str:
        return self._check(text).text

    def _check(self, text: str) -> Checked:
        return self._guard.check(text, Gate.MODEL_REPLY, self._room)

    def _held_back(self, shown: str) -> str:
        if self._guard.held.has_blanks:
            return shown[:-HELD_BACK]
        letters = len(shown)
        while letters and "!" <= shown[letters - 1] <= "~":
            letters -= 1
        return shown[:letters] if len(shown) - letters >= SHORTEST else shown
