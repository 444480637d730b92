"""Names of memories for people: the end of an id, which is as long as nobody mistakes it. No I/O."""

from __future__ import annotations

from typing import Final

SHORT_ID_CHARS: Final = 6


def short_id(memory: str) -> str:
    """
    >>> short_id("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    '9G5FAV'
    """
    return memory[-SHORT_ID_CHARS:]
