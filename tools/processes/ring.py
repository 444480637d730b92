"""The newest output of a process, in memory that doesn't grow with it. Pure."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

RING_BYTES: Final = 200_000


@dataclass(frozen=True, slots=True)
class Piece:
    """Output since it was last read. `lost`: bytes before it that nobody read in time; `more`: bytes that wait after it."""

    text: str
    lost: int = 0
    more: int = 0


class Ring:
    """Keeps the last `size` bytes, and how far they were read. Invalid UTF-8 is replaced."""

    def __init__(self, size: int = RING_BYTES) -> None:
        self._size = size
        self._kept = bytearray()
        self._begins = 0  # the place of the first byte kept, counted from the start of all output
        self._read = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    @property
    def written(self) -> int:
        """Bytes in all."""
        return self._begins + len(self._kept)

    @property
    def unread(self) -> int:
        return self.written - self._read

    def feed(self, data: bytes) -> None:
        self._kept += data
        # Cutting only at twice the size makes the copying linear in what is fed.
        if len(self._kept) > 2 * self._size:
            self._cut()

    def take(self, most: int) -> Piece:
        """The next piece that nobody read yet, of at most `most` bytes.

        >>> ring = Ring(4)
        >>> ring.feed(b"abcdef")
        >>> ring.take(3), ring.take(3)
        (Piece(text='cde', lost=2, more=1), Piece(text='f', lost=0, more=0))
        """
        self._cut()
        lost = max(0, self._begins - self._read)
        if lost:
            self._decoder.reset()
        start = max(self._read, self._begins) - self._begins
        data = bytes(self._kept[start : start + most])
        self._read = self._begins + start + len(data)
        return Piece(self._decoder.decode(data), lost, self.unread)

    def _cut(self) -> None:
        surplus = len(self._kept) - self._size
        if surplus > 0:
            del self._kept[:surplus]
            self._begins += surplus
