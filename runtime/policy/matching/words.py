"""Matchers of texts, numbers and words of a list. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeGuard

from runtime.contract import Json
from runtime.policy.matchers import Matcher
from runtime.policy.matching.values import as_read, every, readings, some


@dataclass(frozen=True, slots=True)
class All:
    """Several conditions on one argument, all of which hold."""

    matchers: tuple[Matcher, ...]

    def __str__(self) -> str:
        return ", and ".join(map(str, self.matchers))

    def surely(self, value: Json) -> bool:
        return all(one.surely(value) for one in self.matchers)

    def perhaps(self, value: Json) -> bool:
        return all(one.perhaps(value) for one in self.matchers)


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text that begins with one of `beginnings`."""

    beginnings: tuple[str, ...]

    def __str__(self) -> str:
        return f"begins with {' or '.join(self.beginnings)}"

    def surely(self, value: Json) -> bool:
        return every(value, lambda one: isinstance(one, str) and one.startswith(self.beginnings))

    def perhaps(self, value: Json) -> bool:
        return some(value, lambda one: _may(one, self._begins))

    def _begins(self, text: str) -> bool:
        return text.startswith(self.beginnings)


@dataclass(frozen=True, slots=True)
class Glob:
    """A text that one of `globs` fits, from its beginning to its end."""

    globs: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(self.globs)

    def surely(self, value: Json) -> bool:
        return every(value, lambda one: isinstance(one, str) and self._fits(one))

    def perhaps(self, value: Json) -> bool:
        return some(value, lambda one: _may(one, self._fits))

    def _fits(self, text: str) -> bool:
        return any(fnmatchcase(text, glob) for glob in self.globs)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A word, number or switch that is one of `values`."""

    values: tuple[str | int | float | bool, ...]

    def __str__(self) -> str:
        return " or ".join(map(_shown, self.values))

    def surely(self, value: Json) -> bool:
        return every(value, lambda one: any(_same(one, each) for each in self.values))

    def perhaps(self, value: Json) -> bool:
        return some(value, self._may_be)

    def _may_be(self, value: Json) -> bool:
        if isinstance(value, dict):
            return True
        return value is not None and any(_same(value, each) or _folded(value) == _folded(each) for each in self.values)


@dataclass(frozen=True, slots=True)
class Range:
    """A number from `least` to `most`; without one of them there is no bound on that side."""

    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        if self.least is None or self.most is None:
            return f"at most {self.most:.15g}" if self.least is None else f"at least {self.least:.15g}"
        return f"from {self.least:.15g} to {self.most:.15g}"

    def surely(self, value: Json) -> bool:
        return every(value, lambda one: _is_number(one) and self._within(one))

    def perhaps(self, value: Json) -> bool:
        return some(value, self._may_be_within)

    def _within(self, number: float) -> bool:
        """False for what is no number at all (NaN)."""
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    def _may_be_within(self, value: Json) -> bool:
        number = _number_in(value)
        return value is not None and (number is None or self._within(number))


def _may(value: Json, fits: Callable[[str], bool]) -> bool:
    """True if a text fits as it is or as it is read; nobody can tell of anything else that is given."""
    return any(map(fits, readings(value))) if isinstance(value, str) else value is not None


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and not _is_nan(value)


def _is_nan(value: int | float) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _number_in(value: Json) -> float | None:
    """The number that a tool may read from a value; None where nobody can tell."""
    if _is_number(value):
        return value
    try:
        found = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return None if math.isnan(found) else found


def _same(value: Json, other: str | int | float | bool) -> bool:
    """Equal, and of one kind: `true` is not 1, and "1" is not either."""
    kinds = [str if isinstance(one, str) else bool if isinstance(one, bool) else float for one in (value, other)]
    return kinds[0] is kinds[1] and value == other


def _folded(value: Json) -> str:
    return as_read(_shown(value)).casefold()


def _shown(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
