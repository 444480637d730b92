"""Browsers whose person has shown just now that it is them: for what a browser that is signed in should not do by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from runtime.domain.ids import digest

CONFIRMED_FOR: Final = timedelta(minutes=10)
CONFIRMED_MAX: Final = 1_000
"""Browsers in mind; the oldest is asked anew."""


class Confirmations:
    """Browsers whose person has opened their link, or signed in anew, within the last minutes. Kept by this process alone."""

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._at: dict[str, float] = {}

    def opened(self, token: str) -> None:
        """A browser got this token, or showed once more where it has it from."""
        self.confirm(digest(token))

    def confirm(self, session: str) -> None:
        """`session` is the digest of what a browser holds."""
        if len(self._at) >= CONFIRMED_MAX:
            self._at = {one: at for one, at in self._at.items() if self._is_young(at)}
        if len(self._at) >= CONFIRMED_MAX:
            del self._at[next(iter(self._at))]
        self._at[session] = self._ticks()

    def left(self, session: str) -> timedelta:
        """Time for which it still counts; nothing where it doesn't."""
        at = self._at.get(session)
        if at is None or not self._is_young(at):
            return timedelta(0)
        return CONFIRMED_FOR - timedelta(seconds=self._ticks() - at)

    def _is_young(self, at: float) -> bool:
        return self._ticks() - at < CONFIRMED_FOR.total_seconds()
