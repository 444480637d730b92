"""Ids: 22 characters that sort by the millisecond in which they were made."""

from __future__ import annotations

import os
import time
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of their code points
LENGTH: Final = 22


def new_id() -> str:
    """A fresh id: 48 bits of time, 80 bits of chance (nobody guesses one), in base 62.

    Shape:  22 letters and digits: short enough for every platform's button beside a choice.
    """
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    letters = []
    for _ in range(LENGTH):
        value, rest = divmod(value, 62)
        letters.append(ALPHABET[rest])
    return "".join(reversed(letters))
