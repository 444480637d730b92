"""Regular expressions as programs that run in linear time: the usual syntax without what only backtracking can do. Pure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

PATTERN_MAX_CHARS: Final = 500
STEPS_MAX: Final = 300
"""Steps of a program; a counted repeat takes as many as it writes out."""
GROUPS_MAX: Final = 50
"""Groups within groups."""

Fits = Callable[[str], bool]


def is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


SIGN_KINDS: Final[Mapping[str, Fits]] = {
    "d": str.isdecimal,
    "w": is_word,
    "s": str.isspace,
}
"""Classes of a letter behind a backslash; the capital letter is all others."""
SIGNS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
CODES: Final = {"x": 2, "u": 4, "U": 8}
"""Hexadecimal digits behind such a letter."""
PLACES: Final = frozenset("AZbB")
FLAGS: Final = re.compile(r"\(\?([ims]+)\)")
COUNTED: Final = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
NAMED: Final = re.compile(r"\?P<\w+>|\?:")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: take a sign that `fits`, stand at a `place`, or go on at each of `to`; the last one is the match."""

    fits: Fits | None = None
    place: str = ""
    to: tuple[int, ...] = ()


Program = tuple[Step, ...]


@lru_cache(maxsize=256)
def program_of(pattern: str) -> Program:
    """Errors: ValueError says what is wrong with the pattern, or which part of it takes too long."""
    if len(pattern) > PATTERN_MAX_CHARS:
        raise ValueError(f"a regular expression of at most {PATTERN_MAX_CHARS} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"a regular expression; {error}") from None
    return _Writer(pattern).program()


@dataclass(slots=True)
class _Writer:
    """Writes the program of a pattern, which `re` has found to be one."""

    pattern: str
    at: int = 0
    depth: int = 0
    steps: list[Step] = field(default_factory=list)
    flags: str = ""

    def program(self) -> Program:
        if found := FLAGS.match(self.pattern):
            self.flags, self.at = found[1], found.end()
        self._either()
        self._add(Step())
        return tuple(self.steps)

    def _add(self, step: Step) -> int:
        if len(self.steps) == STEPS_MAX:
            raise ValueError(
                f"a shorter regular expression; with its repeats written out it has over {STEPS_MAX} steps"
            )
        self.steps.append(step)
        return len(self.steps) - 1

    def _refuse(self, what: str) -> ValueError:
        return ValueError(f"a regular expression without {what}, which may take forever (at character {self.at + 1})")

    def _next(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _either(self) -> None:
        """Branches up to the end of the group: each begins behind a fork and ends with a jump."""
        ends = []
        while True:
            fork = self._add(Step())
            self._sequence()
            if self._next() != "|":
                self.steps[fork] = Step(to=(fork + 1,))
                break
            self.at += 1
            ends.append(self._add(Step()))
            self.steps[fork] = Step(to=(fork + 1, len(self.steps)))
        for end in ends:
            self.steps[end] = Step(to=(len(self.steps),))

    def _sequence(self) -> None:
        while (sign := self._next()) and sign not in "|)":
            begin = len(self.steps)
            self._atom()
            least, most = self._counts()
            if (least, most) != (1, 1):
                self._repeat(begin, least, most)

    def _counts(self) -> tuple[int, int | None]:
        """Least and greatest number of times that the atom stands there. Lazy or not finds the same."""
        sign, counted = self._next(), COUNTED.match(self.pattern, self.at)
        if sign and sign in "*+?":
            found: tuple[int, int | None] = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
            self.at += 1
        elif counted and counted[0] not in ("{}", "{,}"):
            least = int(counted[1] or 0)
            found = least, (int(counted[3]) if counted[3] else None) if counted[2] else least
            self.at = counted.end()
        else:
            return 1, 1
        if self._next() == "+":
            raise self._refuse("possessive repeats")
        self.at += self._next() == "?"
        return found

    def _repeat(self, begin: int, least: int, most: int | None) -> None:
        """Write what stands at `begin` as often as wanted."""
        atom = self.steps[begin:]
        del self.steps[begin:]

        def once() -> None:
            by = len(self.steps) - begin
            for step in atom:
                self._add(Step(step.fits, step.place, tuple(one + by for one in step.to)))

        for _ in range(least):
            once()
        if most is None:
            loop = self._add(Step())
            once()
            self._add(Step(to=(loop,)))
            self.steps[loop] = Step(to=(loop + 1, len(self.steps)))
            return
        forks = []
        for _ in range(most - least):
            forks.append(self._add(Step()))
            once()
        for fork in forks:
            self.steps[fork] = Step(to=(fork + 1, len(self.steps)))

    def _atom(self) -> None:
        sign = self._next()
        self.at += 1
        match sign:
            case "(":
                self._group()
            case "[":
                self._take(self._class())
            case ".":
                self._take((lambda _: True) if "s" in self.flags else (lambda one: one != "\n"))
            case "^":
                self._add(Step(place="line" if "m" in self.flags else "A"))
            case "$":
                self._add(Step(place="end of line" if "m" in self.flags else "$"))
            case "\\" if self._next() in PLACES:
                self._add(Step(place=self._next()))
                self.at += 1
            case "\\":
                found = self._escape()
                self._take(found if callable(found) else self._one(found))
            case _:
                self._take(self._one(sign))

    def _take(self, fits: Fits) -> None:
        self._add(Step(fits=fits))

    def _one(self, wanted: str) -> Fits:
        if "i" in self.flags:
            return lambda sign: bool(_cases(sign) & _cases(wanted))
        return lambda sign: sign == wanted

    def _group(self) -> None:
        if self._next() == "?":
            named = NAMED.match(self.pattern, self.at)
            if named is None:
                raise self._refuse("looking around, conditions or flags inside")
            self.at = named.end()
        self.depth += 1
        if self.depth > GROUPS_MAX:
            raise ValueError(f"a regular expression with at most {GROUPS_MAX} groups within groups")
        self._either()
        self.depth -= 1
        self.at += 1

    def _escape(self) -> str | Fits:
        """The sign or class behind a backslash."""
        letter = self._next()
        self.at += 1
        if letter in CODES:
            digits = self.pattern[self.at : self.at + CODES[letter]]
            self.at += CODES[letter]
            return chr(int(digits, 16))
        if fits := SIGN_KINDS.get(letter.lower()):
            return (lambda sign: not fits(sign)) if letter.isupper() else fits
        if letter.isdecimal():
            raise self._refuse("references to groups, or octal codes")
        if letter == "N":
            raise ValueError("a regular expression without names of characters; write the character, or its code")
        return SIGNS.get(letter, letter)

    def _class(self) -> Fits:
        others = self._next() == "^"
        self.at += others
        parts = list(self._parts())
        self.at += 1

        def fits(sign: str) -> bool:
            signs = _cases(sign) if "i" in self.flags else {sign}
            return any(part(one) for part in parts for one in signs) is not others

        return fits

    def _parts(self) -> Iterator[Fits]:
        """Signs, ranges and classes up to the bracket; the first one may be that bracket."""
        is_first = True
        while is_first or self._next() != "]":
            is_first = False
            low = self._in_class()
            if callable(low):
                yield low
            elif self._next() == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                high = self._in_class()
                yield _between(low, str(high))
            else:
                yield _between(low, low)

    def _in_class(self) -> str | Fits:
        sign = self._next()
        self.at += 1
        if sign != "\\":
            return sign
        if self._next() == "b":
            self.at += 1
            return "\b"
        return self._escape()


def _between(low: str, high: str) -> Fits:
    return lambda sign: low <= sign <= high


def _cases(sign: str) -> set[str]:
    return {one for one in (sign, sign.lower(), sign.upper(), sign.casefold()) if len(one) == 1}
