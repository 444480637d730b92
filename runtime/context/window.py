"""The window of a model: how many tokens it reads at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

WINDOW_TOKENS: Final = 128_000
"""Of a model that nobody says more of."""

LEAST_TOKENS: Final = 1_000
"""No refusal makes a window smaller than this."""


class Window:
    """As it is known: `find` looks it up when it is first asked for, and a vendor that refuses a request corrects it."""

    def __init__(self, find: Callable[[], int] = lambda: WINDOW_TOKENS) -> None:
        self._find = find

    @cached_property
    def tokens(self) -> int:
        return self._find()

    def refuse(self, sent: int) -> None:
        """The vendor refused a request that we held for `sent` tokens."""
        self.tokens = max(LEAST_TOKENS, min(self.tokens, sent))
