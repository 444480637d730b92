"""The watchdog: ends a process that is stuck, though the store answers.

That is one that lost its place among the nodes and takes no new one, or one that says of an account that it will be tried
again and doesn't. Such a process looks alive, and does nothing or is never ready. No way to there is known; if there is one,
a start anew is what helps, and whatever starts processes (systemd, a container's runtime) does that after exit code 1. An
outage of the store never counts.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from runtime.domain.clock import steady
from runtime.errors import StoreError

WATCHDOG_FILE: Final = "watchdog.json"
WATCHDOG_INTERVAL: Final = timedelta(seconds=1)
STORE_ANSWER_TIMEOUT: Final = timedelta(seconds=15)
"""How long the store may answer a process that is no node."""
TELLS: Final = timedelta(seconds=2)
"""How long `/healthz` tells before the process ends."""

log = structlog.get_logger("watchdog")


@dataclass(frozen=True, slots=True)
class Ended:
    """The last process that a watchdog ended."""

    at: datetime
    reason: str


class Watchdog:
    """Is told when the process is no node any more, and when it is one again.

    `check` raises StoreError while the store does not answer; `overdue` tells what else should have gone on by now; `place` is
    the folder where the reason is kept for `doctor`.
    """

    def __init__(
        self,
        *,
        check: Callable[[], Awaitable[object]],
        place: Path,
        overdue: Callable[[], str | None] = lambda: None,
        patience: timedelta = STORE_ANSWER_TIMEOUT,
        every: timedelta = WATCHDOG_INTERVAL,
        tells: timedelta = TELLS,
        end: Callable[[int], object] = os._exit,
        clock: Callable[[], float] = steady,
    ) -> None:
        self._check = check
        self._place = place
        self._overdue = overdue
        self._patience = patience
        self._every = every
        self._tells = tells
        self._end = end
        self._clock = clock
        self._is_lost = False
        self._waited = 0.0
        self.reason: str | None = None

    def lost(self) -> None:
        self._is_lost = True

    def joined(self) -> None:
        self._is_lost, self._waited = False, 0.0

    def trouble(self) -> str | None:
        """The reason this process takes on no work at the moment, for `/readyz`; None if it does."""
        return "This process lost its place among the nodes and is joining again." if self._is_lost else None

    async def run(self) -> None:
        """Look until cancelled, or until the process ends."""
        while True:
            began = self._clock()
            await asyncio.sleep(self._every.total_seconds())
            if self._is_lost or self._overdue():
                await self._look(self._clock() - began)
            else:
                self._waited = 0.0

    async def _look(self, passed: float) -> None:
        if not await self._answers():
            self._waited = 0.0
            return
        self._waited += min(passed, 2 * self._every.total_seconds())  # while it was frozen nobody could join
        if self._waited >= self._patience.total_seconds() and (reason := self._stuck()):
            await self._bite(reason)

    def _stuck(self) -> str | None:
        """The reason this process must end, or None."""
        if self._is_lost:
            what, undone = "lost its place among the nodes", "its joining again"
        elif overdue := self._overdue():
            what, undone = f'says "{overdue}"', "its trying that again"
        else:
            return None
        waited = f"for {self._patience.total_seconds():g} seconds the database answered it without {undone}"
        return f"This process {what}, and {waited}. It will exit and be restarted."

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(self._every.total_seconds()):
                await self._check()
        except (StoreError, TimeoutError):
            return False
        return True

    async def _bite(self, reason: str) -> None:
        self.reason = reason
        log.error("this process is stuck and ends", reason=self.reason, tasks=", ".join(sorted(set(_tasks()))))
        with suppress(OSError):
            told = json.dumps({"at": datetime.now(UTC).isoformat(), "reason": self.reason})
            (self._place / WATCHDOG_FILE).write_text(told, encoding="utf-8")
        await asyncio.sleep(self._tells.total_seconds())
        self._end(1)


def _tasks() -> Iterator[str]:
    """Names of what is still under way: one of them did not end."""
    for task in asyncio.all_tasks():
        yield getattr(task.get_coro(), "__qualname__", task.get_name())


def last_end(place: Path) -> Ended | None:
    """Time and reason of the last process of this folder that a watchdog ended; None if none is recorded."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads((place / WATCHDOG_FILE).read_text(encoding="utf-8"))
        return Ended(datetime.fromisoformat(told["at"]), str(told["reason"]))
    return None
