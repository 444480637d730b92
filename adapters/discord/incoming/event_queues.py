"""Events of the gateway that are not taken in yet: in order within a channel, side by side between channels.

The gateway has no acknowledgement, so an event is kept here until it is stored. What is lost by a kill, or for want of
room, is read from the history.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

Work = Callable[[], Awaitable[None]]
"""Takes one event in, as often as it takes."""

log = logging.getLogger(__name__)

QUEUE_MAX_EVENTS: Final = 5000
"""Events that wait: some tens of megabytes. A server that writes more while the store is away is read again."""


class EventQueues:
    """One lane a channel. While held, what comes waits, so that what was missed can go before it."""

    def __init__(self, group: asyncio.TaskGroup, *, most: int = QUEUE_MAX_EVENTS) -> None:
        self._group = group
        self._most = most
        self._waiting: dict[str, deque[Work]] = {}
        self._after: dict[str, deque[Work]] = {}  # what came while held
        self._running: set[str] = set()
        self._count = 0
        self._held = False

    @property
    def is_full(self) -> bool:
        return self._count >= self._most

    def put(self, lane: str, work: Work) -> None:
        """Behind what waits there already."""
        lanes = self._after if self._held else self._waiting
        lanes.setdefault(lane, deque()).append(work)
        self._count += 1
        self._start(lane)

    def hold(self) -> None:
        """Nothing new begins until `release`; what was begun goes on to its end."""
        self._held = True

    def release(self, missed: Mapping[str, Work]) -> None:
        """Go on; in each lane of `missed` that goes behind what waited before `hold`, and before what came since."""
        self._held = False
        for lane, work in missed.items():
            self._waiting.setdefault(lane, deque()).append(work)
            self._count += 1
        for lane, works in self._after.items():
            self._waiting.setdefault(lane, deque()).extend(works)
        self._after.clear()
        for lane in list(self._waiting):
            self._start(lane)

    def _start(self, lane: str) -> None:
        if not self._held and lane not in self._running:
            self._running.add(lane)
            self._group.create_task(self._run(lane))

    async def _run(self, lane: str) -> None:
        waiting = self._waiting[lane]
        while waiting and not self._held:
            work = waiting.popleft()
            await self._surely(work)
            self._count -= 1
        self._running.discard(lane)
        if not waiting:
            self._waiting.pop(lane, None)

    async def _surely(self, work: Work) -> None:
        """A bug of ours costs one event, not the account."""
        try:
            await work()
        except Exception:
            log.exception("an event of Discord was not taken in")
