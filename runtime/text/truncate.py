"""Text cut to its head, or to its head and its tail; no character that a reader sees is cut in two."""

from __future__ import annotations

from runtime.text.graphemes import FARTHEST, boundary, boundary_after


def bound(text: str, limit: int) -> str:
    r"""`text` if it has at most `limit` characters, else its head and tail around a line that names the cut.

    Shape: never longer than `limit`; a limit too small for that line gives the head alone. What a reader sees as one
    character (a CRLF, an accent, a joined emoji, a flag) is kept or left out as a whole.

    >>> bound("0123456789" * 10, 60)
    '0123456789012345\n… 69 characters left out …\n567890123456789'
    """
    if len(text) <= limit:
        return text
    room = limit - len(_cut_line(len(text)))
    if room < 2:
        return head(text, limit)
    first = head(text, (room + 1) // 2)
    tail = boundary_after(text, len(text) - room // 2)
    return first + _cut_line(tail - len(first)) + text[tail:]


def clip(text: str, limit: int) -> str:
    """`text` if it has at most `limit` characters, else its head and an ellipsis, together no longer.

    >>> clip("0123456789", 6)
    '01234…'
    """
    return text if len(text) <= limit else head(text, limit - 1) + "…"


def head(text: str, limit: int) -> str:
    """The beginning of `text`, at most `limit` characters."""
    at = max(limit, 0)
    return text[: boundary(text, at, max(at - FARTHEST, 0) - 1)] if len(text) > at else text


def _cut_line(count: int) -> str:
    return f"\n… {count:,} characters left out …\n"
