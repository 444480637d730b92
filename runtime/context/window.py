"""The window of a model: how many tokens it reads at once."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from typing import Final

WINDOW_TOKENS: Final = 128_000
"""Of a model that nobody says more of."""

LEAST_TOKENS: Final = 1_000
"""No refusal makes a window smaller than this."""


class Source(StrEnum):
    """Origin of a window's size."""

    SET = "set"  # by the settings
    LISTED = "listed"  # LiteLLM's list of models has it
    ASSUMED = "assumed"  # nobody says more of this model
    REFUSED = "refused"  # a vendor refused what was larger


class Window:
    """As it is known: `find` looks it up when it is first asked for, and a vendor that refuses a request corrects it.

    `origin` tells where `find` has it from.
    """

    def __init__(
        self, find: Callable[[], int] = lambda: WINDOW_TOKENS, origin: Callable[[], Source] = lambda: Source.ASSUMED
    ) -> None:
        self._find = find
        self._origin = origin
        self._is_refused = False

    @property
    def source(self) -> Source:
        return Source.REFUSED if self._is_refused else self._origin()

    @cached_property
    def tokens(self) -> int:
        return self._find()

    def refuse(self, sent: int) -> None:
        """The vendor refused a request that we held for `sent` tokens."""
        self.tokens, before = max(LEAST_TOKENS, min(self.tokens, sent)), self.tokens
        self._is_refused |= self.tokens < before
