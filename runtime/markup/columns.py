"""Rows of text in columns of a monospace font: how a table looks where there is no table."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from runtime.markup.tree import Align


def in_columns(rows: Sequence[Sequence[str]], aligns: Sequence[Align]) -> str:
    """`rows` under each other, the first as header over a line. All rows are as long as `aligns`; no cell has a line break."""
    taken = [list(map(width, row)) for row in rows]
    widths = list(map(max, zip(*taken, strict=True)))
    lines = ["  ".join(map(_padded, row, took, widths, aligns)).rstrip() for row, took in zip(rows, taken, strict=True)]
    return "\n".join([lines[0], "  ".join("-" * wide for wide in widths), *lines[1:]])


def width(text: str) -> int:
    """Columns `text` takes on a terminal: CJK and emoji take two, combining marks and joiners none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@lru_cache(maxsize=4096)  # a text has few kinds of characters, and is asked about each many times
def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, took: int, columns: int, align: Align) -> str:
    room = columns - took
    left = 0 if align in (Align.NONE, Align.LEFT) else room if align is Align.RIGHT else room // 2
    return " " * left + text + " " * (room - left)
