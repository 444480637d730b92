"""Regular expressions as a condition. They run in time that grows with the text alone, so that none can hang. Pure.

Backtracking, as in `re`, may take years for 40 characters. Here all ways through a pattern are gone at once, a character
at a time: the longest text that is read takes half a second at most, and mostly a few milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from runtime.contract import Json
from runtime.policy.matching.regex_programs import Program, is_word, program_of
from runtime.policy.matching.values import TEXTS_KEPT, every, is_long, readings, some


@dataclass(frozen=True, slots=True)
class Regex:
    """A text in which one of `patterns` is found."""

    patterns: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(f"/{one}/" for one in self.patterns)

    def surely(self, value: Json) -> bool:
        return not is_long(value) and every(value, lambda one: isinstance(one, str) and self._is_in(one))

    def perhaps(self, value: Json) -> bool:
        return is_long(value) or some(value, self._may_be_in)

    def _may_be_in(self, value: Json) -> bool:
        if not isinstance(value, str):
            return value is not None
        return any(map(self._is_in, readings(value)))

    def _is_in(self, text: str) -> bool:
        return any(is_in(one, text) for one in self.patterns)


@lru_cache(maxsize=TEXTS_KEPT)
def is_in(pattern: str, text: str) -> bool:
    return found(program_of(pattern), text)


def found(program: Program, text: str) -> bool:
    """True if the program matches somewhere in the text."""
    known: dict[tuple[int, str], bool] = {}
    last, here = len(program) - 1, set[int]()
    for at in range(len(text) + 1):
        here = _ways(program, {0, *here}, text, at)
        if last in here or at == len(text):
            return last in here
        here = {step + 1 for step in here if _takes(program, step, text[at], known)}
    return False


def _takes(program: Program, step: int, sign: str, known: dict[tuple[int, str], bool]) -> bool:
    fits = program[step].fits
    if fits is None:
        return False
    if (step, sign) not in known:
        known[step, sign] = fits(sign)
    return known[step, sign]


def _ways(program: Program, begun: set[int], text: str, at: int) -> set[int]:
    """All steps that are reached from `begun` without taking a sign."""
    seen, open_ = set(begun), list(begun)
    while open_:
        number = open_.pop()
        step = program[number]
        to = (number + 1,) if step.place and _stands(step.place, text, at) else step.to
        for one in to:
            if one not in seen:
                seen.add(one)
                open_.append(one)
    return seen


def _stands(place: str, text: str, at: int) -> bool:
    match place:
        case "A":
            return at == 0
        case "Z":
            return at == len(text)
        case "$":
            return at == len(text) or (at == len(text) - 1 and text[at] == "\n")
        case "line":
            return at == 0 or text[at - 1] == "\n"
        case "end of line":
            return at == len(text) or text[at] == "\n"
        case _:
            sides = (at > 0 and is_word(text[at - 1]), at < len(text) and is_word(text[at]))
            return (sides[0] is not sides[1]) is (place == "b")
