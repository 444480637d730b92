"""Cutting a document into parts that a search finds and an answer cites. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

CHUNK_MAX_CHARS: Final = 1_600
OVERLAP_CHARS: Final = 320
"""Characters that a part repeats of the one before it, so that a sentence across the border is found whole."""
BORDER_FROM_CHARS: Final = 800
"""A part ends at the last border behind so many characters: before a heading, else behind an empty line."""
HEADING: Final = re.compile(r"(#{1,6})\s+(\S.*)")
HEADING_MAX_CHARS: Final = 200
"""Characters of a line that may be a heading."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document, from its first line to its last one, counted from 1. `heading` is the path of headings above."""

    heading: str
    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, or a part of one that is longer than a chunk."""

    line: int
    text: str
    heading: str
    begins: bool = False  # a heading stands here
    closes: bool = False  # an empty line


def chunks(text: str) -> Iterator[Chunk]:
    """Parts of a document, in order; none of one without words.

    >>> [(part.heading, part.first_line, part.last_line) for part in chunks("# Leave\\n\\nThirty days.")]
    [('Leave', 1, 3)]
    """
    pieces = list(_pieces(text))
    start = 0
    while start < len(pieces):
        end = _end(pieces, start)
        if found := _chunk(pieces[start:end]):
            yield found
        start = _overlap(pieces, start, end) if end < len(pieces) else end


def heading_of(line: str) -> tuple[int, str] | None:
    """Depth and title of a heading of Markdown; None for any other line. Its time grows with the line alone.

    >>> heading_of("## Leave ##"), heading_of("#1 is Ada")
    ((2, 'Leave'), None)
    """
    found = HEADING.fullmatch(line) if line.startswith("#") and len(line) <= HEADING_MAX_CHARS else None
    return (len(found[1]), found[2].rstrip(" \t#") or found[2].rstrip()) if found else None


def _pieces(text: str) -> Iterator[_Piece]:
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        heading = heading_of(line)
        if heading:
            above = [(level, title) for level, title in above if level < heading[0]] + [heading]
        path = " > ".join(title for _, title in above)
        for part in _parts(line):
            yield _Piece(number, part, path, begins=heading is not None, closes=not line.strip())


def _parts(line: str) -> Iterator[str]:
    """A line in parts that fit, cut at a blank where there is one in the second half."""
    while len(line) > CHUNK_MAX_CHARS:
        blank = line.rfind(" ", CHUNK_MAX_CHARS // 2, CHUNK_MAX_CHARS)
        cut = blank + 1 if blank > 0 else CHUNK_MAX_CHARS
        yield line[:cut]
        line = line[cut:]
    yield line


def _end(pieces: Sequence[_Piece], start: int) -> int:
    """The index behind the last piece of the part that begins at `start`."""
    size, end, border, heading_at = 0, start, 0, 0
    while end < len(pieces) and (size + len(pieces[end].text) + 1 <= CHUNK_MAX_CHARS + 1 or end == start):
        # A heading right below another one stays with it.
        if size >= BORDER_FROM_CHARS and pieces[end].begins and (not heading_at or size - heading_at > OVERLAP_CHARS):
            border, heading_at = end, size
        size += len(pieces[end].text) + 1
        end += 1
        if size >= BORDER_FROM_CHARS and pieces[end - 1].closes and not heading_at:
            border = end
    return border if border and end < len(pieces) else end


def _overlap(pieces: Sequence[_Piece], start: int, end: int) -> int:
    """Index at which the next part begins: a little before the end of this one, unless a heading begins it."""
    if pieces[end].begins:
        return end
    size, at = 0, end
    while at > start + 1 and size + len(pieces[at - 1].text) + 1 <= OVERLAP_CHARS:
        size += len(pieces[at - 1].text) + 1
        at -= 1
    return at


def _chunk(pieces: Sequence[_Piece]) -> Chunk | None:
    """None for blanks alone."""
    lines: list[str] = []
    before = 0
    for piece in pieces:
        if piece.line == before:
            lines[-1] += piece.text
        else:
            lines.append(piece.text)
        before = piece.line
    text = "\n".join(lines)
    if not text.strip():
        return None
    heading = next((piece.heading for piece in pieces if not piece.closes), "")
    return Chunk(heading, pieces[0].line, pieces[-1].line, text)
