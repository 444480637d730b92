"""Long text cut to its head and its tail."""

from __future__ import annotations

import unicodedata
from typing import Final

ZWJ: Final = "\u200d"
SEARCH: Final = 64
"""Characters to move a cut at most; a longer chain of combining characters is no text anyone reads."""


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
        return text[: _back_to_border(text, max(limit, 0))]
    head = _back_to_border(text, (room + 1) // 2)
    tail = _on_to_border(text, len(text) - room // 2)
    return text[:head] + _cut_line(tail - head) + text[tail:]


def _cut_line(count: int) -> str:
    return f"\n… {count:,} characters left out …\n"


def _back_to_border(text: str, at: int) -> int:
    return next((i for i in range(at, max(at - SEARCH, 0) - 1, -1) if is_border(text, i)), at)


def _on_to_border(text: str, at: int) -> int:
    return next((i for i in range(at, min(at + SEARCH, len(text)) + 1) if is_border(text, i)), at)


def is_border(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` leaves every visible character whole."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    return not (
        before + after == "\r\n"
        or ZWJ in (before, after)
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # a skin tone belongs to the emoji before it
        or "\U000e0020" <= after <= "\U000e007f"  # so do the tags that spell a region's flag
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or _splits_flag(text, at)
    )


def _splits_flag(text: str, at: int) -> bool:
    """Two regional letters make a flag: a cut is wrong after an odd number of them."""
    letters = 0
    while letters < at and _is_regional(text[at - 1 - letters]):
        letters += 1
    return letters % 2 == 1 and _is_regional(text[at])


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
