"""The two ends of a text that may be far too long to keep."""

from __future__ import annotations

import codecs
from typing import Final

from runtime.text.graphemes import boundary, boundary_after


def joined(head: str, tail: str, note: str, *, after: str = "") -> str:
    """`head`, a line with `note`, and `tail`; no character is torn from its marks. `after` is what followed `head`."""
    end = boundary(head + after, len(head))
    start = boundary_after(f"x{tail}", 1) - 1  # as if a letter were before it: marks and joiners are left out
    return f"{head[:end]}\n[… {note} …]\n{tail[start:]}"


class Ends:
    """The first and the last characters of a stream of UTF-8, in memory that does not grow with the stream.

    Invalid bytes are replaced. The text is at most `limit` characters, the note about the cut included.
    """

    NOTE: Final = 80  # room for the note's own characters

    def __init__(self, limit: int) -> None:
        self._half = max((limit - self.NOTE) // 2, 1)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._head = ""
        self._tail = ""
        self._after = ""  # the character that follows the head, once it is cut away
        self._cut = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        room = self._half - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        # Cutting only at twice the size makes the copying linear in what is fed.
        if len(self._tail) > 2 * self._half:
            self._trim()

    def text(self) -> str:
        """The kept text, with a line in the middle on how much was left out. Ends the stream."""
        self.feed(b"", final=True)
        self._trim()
        if not self._cut:
            return self._head + self._tail
        return joined(self._head, self._tail, f"{self._cut:,} characters cut", after=self._after)

    def _trim(self) -> None:
        surplus = len(self._tail) - self._half
        if surplus > 0:
            self._after = self._after or self._tail[0]
            self._cut += surplus
            self._tail = self._tail[surplus:]
