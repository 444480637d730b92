"""Ids: 22 characters that sort by the millisecond in which they were made."""

from __future__ import annotations

import hashlib
import os
import time
from datetime import UTC, datetime, timedelta
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of their code points
LENGTH: Final = 22


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
CHANCE: Final = 80  # bits
DIGITS: Final = {letter: digit for digit, letter in enumerate(ALPHABET)}


def new_id() -> str:
    """A fresh id: 48 bits of time, 80 bits of chance (nobody guesses one), in base 62.

    Shape:  22 letters and digits: short enough for every platform's button beside a choice.
    """
    return _written((time.time_ns() // 1_000_000) << CHANCE | int.from_bytes(os.urandom(10), "big"))


def _written(value: int) -> str:
    letters = []
    for _ in range(LENGTH):
        value, rest = divmod(value, 62)
        letters.append(ALPHABET[rest])
    return "".join(reversed(letters))


def value_of(made: str) -> int | None:
    """The 128 bits of an id; None for one that `new_id` did not make."""
    if len(made) != LENGTH:
        return None
    value = 0
    for letter in made:
        if (digit := DIGITS.get(letter)) is None:
            return None
        value = value * 62 + digit
    return value if value < 1 << 128 else None


def first_at(at: datetime) -> str:
    """The smallest id that could be made at `at`: each that was made later is greater."""
    return _written(((at - EPOCH) // timedelta(milliseconds=1)) << CHANCE)


def made_at(made: str) -> datetime | None:
    """Time an id was made, in UTC to the millisecond, by the clock of the process that made it; None as for `value_of`."""
    value = value_of(made)
    return None if value is None else EPOCH + timedelta(milliseconds=value >> CHANCE)


def derived(of: str, key: str) -> str:
    """An id that is the same whenever it is made of the same two: with the time of `of`, an id, and digits of `key`.

    >>> derived(first_at(EPOCH), "a") == derived(first_at(EPOCH), "a") != derived(first_at(EPOCH), "b")
    True
    """
    time_bits = (value_of(of) or 0) >> CHANCE
    return _written(time_bits << CHANCE | int(digest(f"{of} {key}")[: CHANCE // 4], 16))


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal: what tells whether two are the same."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
