"""Keys of one model, used in turn: the next one where a vendor refuses one, or it has had too many requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

HIDDEN_TOKENS: Final = 8
"""Tokens that were used last; calls that began with an older one are over."""


class Keys:
    """The keys of one model in this process. A key that was refused comes last until all others are refused too."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = tuple(keys) or ("",)
        self._at = 0
        self._refused: set[str] = set()
        self._lent: deque[str] = deque(maxlen=HIDDEN_TOKENS)

    @property
    def current(self) -> str:
        """The key to use now; empty where there is none."""
        return self._keys[self._at]

    def turn_over(self, key: str, *, refused: bool) -> None:
        """Go on from `key`, which another call may have done already."""
        if refused:
            self._refused.add(key)
        if key != self.current:
            return
        order = [*range(self._at + 1, len(self._keys)), *range(self._at)]
        fresh = [at for at in order if self._keys[at] not in self._refused]
        self._at = next(iter(fresh or order), self._at)

    def accept(self, key: str) -> None:
        """`key` was answered: it is good."""
        self._refused.discard(key)

    def hide(self, token: str) -> None:
        """Leave out of errors what was lent in place of a key, too."""
        if token not in self._lent:
            self._lent.append(token)

    def hidden(self, text: str) -> str:
        """`text` without any of the keys."""
        for key in filter(None, (*self._keys, *self._lent)):
            text = text.replace(key, "[key]")
        return text

    def __len__(self) -> int:
        return len(self._keys)
