"""What the counted transactions have in common."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.metrics.counting.answers import Answers
from bot.metrics.labels import Account, Labels
from bot.metrics.meters import Meters
from runtime.contract import DeliveryId, RunId
from runtime.domain.ids import made_at
from runtime.store.sql.base import Base

NOTHING: Final = timedelta()


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Counting(Base):
    """A group of transactions over the same driver as `store`, whose outcomes are added to `meters`.

    Lags are counted from the time in an id, so they need no query and no memory, and hold over restarts and nodes as
    far as the clocks of the machines agree.
    """

    def __init__(
        self, store: Base, meters: Meters, labels: Labels, *, clock: Callable[[], datetime] = wall_clock
    ) -> None:
        super().__init__(store._driver, store._new_id)
        self._meters = meters
        self._labels = labels
        self._clock = clock
        self._answers = Answers()
        self._resumed: set[RunId] = set()
        self._roles: dict[str, int] = {}

    def _since(self, made: str) -> float | None:
        """Seconds since an id was made; None for one that tells no time."""
        at = made_at(made)
        return None if at is None else max(self._clock() - at, NOTHING).total_seconds()

    def _shown(self, account: Account, delivery: DeliveryId, ordinal: int) -> None:
        """A part is on screen; with the last one of an answer its message is answered."""
        self._meters.parts.add(*account, "shown")
        if (lag := self._since(delivery)) is not None:
            self._meters.shown_lag.observe(lag, *account)
        answer = self._answers.shown(delivery, ordinal)
        if answer and (lag := self._since(answer.run)) is not None:
            self._meters.answer_lag.observe(lag, *account, answer.way)
