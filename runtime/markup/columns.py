"""Rows of text in columns of a monospace font: how a table looks where there is no table."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from runtime.markup.tree import Align


def in_columns(rows: Sequence[Sequence[str]], aligns: Sequence[Align]) -> str:
    """`rows` under each other, the first as header over a line. All rows are as long as `aligns`; no cell has a line break."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_padded(*cell) for cell in zip(row, widths, aligns, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * wide for wide in widths), *lines[1:]])


def width(text: str) -> int:
    """Columns `text` takes on a terminal: CJK and emoji take two, combining marks and joiners none."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, columns: int, align: Align) -> str:
    room = columns - width(text)
    left = {Align.RIGHT: room, Align.CENTER: room // 2}.get(align, 0)
    return " " * left + text + " " * (room - left)
