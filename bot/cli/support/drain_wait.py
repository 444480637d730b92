"""The wait for a node that was asked to leave: until it is gone, and never for longer than it may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from runtime.errors import BotError

if TYPE_CHECKING:
    from bot.operator.views import View

LOOK_SECONDS: Final = 1.0
GRACE_SECONDS: Final = 30.0
"""How much longer than its time a node may take to be gone."""
SILENT_SECONDS: Final = 3.0
"""Nothing is said about a wait that is over by then."""
SAID_EVERY: Final = 30.0
"""Seconds after which it is said once more what is waited for."""
UNHEARD: Final = "what the nodes do can't be read"


class StillThere(BotError):
    """The node is not gone, though its time is over."""


class DrainWait:
    """Waits for a node to be gone. `nodes` lists them, and `tell` is told what is waited for and since when."""

    def __init__(
        self,
        nodes: Callable[[], Sequence[View]],
        tell: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._nodes = nodes
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._told, self._told_at = "", clock()

    def until_gone(self, asked: View) -> str:
        """Words for one that is gone. Errors: StillThere; BotError where it died."""
        name, began = asked["name"], self._clock()
        ends_at = began + asked["within_seconds"] + GRACE_SECONDS
        while True:
            row, trouble = self._look(asked["id"])
            if not trouble:
                match row:
                    case None | {"state": "left"}:
                        return f"{name} is gone."
                    case {"state": "lost"}:
                        raise BotError(f"{name} died while it drained. What it had at work goes on elsewhere.")
                    case {"drain_left_seconds": int() | float() as left}:  # somebody may give it more time, or less
                        bound = self._clock() + left + GRACE_SECONDS
                        ends_at = bound if left else min(ends_at, bound)
                    case _:
                        pass
            waits = f"{name}: {trouble or ', '.join(_left(row or {}))}"
            since = f"asked to leave {_length(self._clock() - began)} ago"
            if self._clock() > ends_at:
                raise StillThere(f"{waits}. It was {since}, and its time is over. Its log says why.")
            self._say(waits, f"{waits} ({since}, at most {_length(max(ends_at - self._clock(), 0))} more).")
            self._sleep(LOOK_SECONDS)

    def _look(self, id: str) -> tuple[View | None, str]:
        """Its row; and what is wrong where nobody can tell: it may be the one that we ask, and just end."""
        try:
            return next((one for one in self._nodes() if one["id"] == id), None), ""
        except BotError as error:
            return None, f"{UNHEARD} ({error})"

    def _say(self, waits: str, words: str) -> None:
        now = self._clock()
        if now - self._told_at >= (SILENT_SECONDS if waits != self._told else SAID_EVERY):
            self._told, self._told_at = waits, now
            self._tell(words)


def _left(row: View) -> Iterator[str]:
    """Work and roles that a node still has."""
    if runs := row.get("at_work"):
        yield f"{runs} {'run' if runs == 1 else 'runs'} at work"
    if held := [*row.get("accounts", ()), *row.get("roles", ())]:
        yield f"it still has {' and '.join(held)}"
    if not runs and not held:
        yield "it has nothing any more, and is about to end"
    if row.get("state") == "late" and row.get("beat_at"):
        yield f"it has given no sign since {row['beat_at']}"


def _length(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
