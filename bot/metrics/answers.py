"""Final deliveries on their way to the screen: whose message each answers, and how many parts it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from runtime.contract import DeliveryId, RunId

ANSWERS_REMEMBERED: Final = 10_000
"""Answers that are remembered. One that is forgotten is missing from the lag, and from nothing else."""

STRAIGHT: Final = "straight"  # begun, answered and shown by this process, without a stop in between
RESUMED: Final = "resumed"  # taken up again: after a question to a person, or after a cut
ADOPTED: Final = "adopted"  # written by another process, shown by this one


@dataclass(slots=True)
class Answer:
    """`parts` is 0 until it is rendered."""

    run: RunId
    way: str
    parts: int = 0


class Answers:
    """Answers as far as this process knows them; rows are the truth, and this is only for measuring."""

    def __init__(self, most: int = ANSWERS_REMEMBERED) -> None:
        self._open: dict[DeliveryId, Answer] = {}
        self._most = most

    def __len__(self) -> int:
        return len(self._open)

    def expect(self, delivery: DeliveryId, run: RunId, way: str, parts: int = 0) -> None:
        """An answer was written. What is known already stays, but for one that a courier read before its writer was told."""
        known = self._open.setdefault(delivery, Answer(run, way))
        known.parts = parts or known.parts
        if known.way == ADOPTED:
            known.way = way
        if len(self._open) > self._most:
            del self._open[next(iter(self._open))]

    def rendered(self, delivery: DeliveryId, parts: int) -> None:
        if answer := self._open.get(delivery):
            answer.parts = parts

    def shown(self, delivery: DeliveryId, ordinal: int) -> Answer | None:
        """A part is on screen; the answer if it was its last one, since parts are shown in order."""
        answer = self._open.get(delivery)
        return self._open.pop(delivery) if answer and ordinal == answer.parts else None

    def forget(self, delivery: DeliveryId) -> None:
        self._open.pop(delivery, None)
