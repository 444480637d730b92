"""Tokens that vendors count for one of our own, of each conversation: they differ by its language and by the vendor."""

from __future__ import annotations

from typing import Final

from runtime.contract import SessionKey

SCALE_BOUNDS: Final = (1.0, 2.5)
"""Of what a vendor counts for one of our tokens. One that tells less is not believed: its window may be as small as told."""

SCALED_FROM_TOKENS: Final = 1_000
"""Of small requests a vendor's count tells little."""

SESSIONS_MAX: Final = 4_096
"""That are remembered; of others the store knows what was counted last."""


class Scales:
    """Scales of conversations, as the last answers of their vendors told. None for one that is not known."""

    def __init__(self) -> None:
        self._scales: dict[SessionKey, float] = {}

    def of(self, session: SessionKey) -> float | None:
        return self._scales.get(session)

    def learn(self, session: SessionKey, estimated: int, counted: int) -> None:
        """A vendor counted `counted` tokens of a request that we held for `estimated`."""
        if estimated < SCALED_FROM_TOKENS or counted <= 0:
            return
        least, most = SCALE_BOUNDS
        self._scales.pop(session, None)  # the newest last
        self._scales[session] = min(most, max(least, counted / estimated))
        if len(self._scales) > SESSIONS_MAX:
            del self._scales[next(iter(self._scales))]
