"""A watch over what is condensed and which circles are ended: it counts, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runtime.contract import Address


class LoopWatch:
    """Sees nothing. One that counts says what it wants to see. A method is cheap and never raises."""

    def condensed(self, step: str) -> None:
        """A request was made smaller, by this step at most: trim, repeat, extract or summary."""

    def summarised(self, kind: str, seconds: float) -> None:
        """A summary was made in so long: by the model, or an extract, since the model's was of no use."""

    def summary_failed(self) -> None:
        """The model gave no summary of use; an extract takes its place."""

    def guarded(self, gate: str, detector: str, action: str) -> None:
        """The leak guard found something at a gate, and did this about it."""

    def ended_by_guard(self) -> None:
        """A run that went round in circles was ended."""


UNWATCHED: Final = LoopWatch()


@dataclass(frozen=True, slots=True)
class LoopNotices:
    """Calls of the loop for others: `asked` after a question went up, `changed` for a room in which a summary now stands,
    `ready` where a lane has something to do, `watched` where a run waits for an event."""

    asked: Callable[[], None] = lambda: None
    changed: Callable[[Address], None] = lambda _: None
    ready: Callable[[], None] = lambda: None
    watched: Callable[[], None] = lambda: None
    watch: LoopWatch = UNWATCHED
