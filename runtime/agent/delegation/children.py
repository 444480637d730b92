"""Children of runs, as tools and people look after them; and the end of those that nobody else ends."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from runtime.contract import Address, Child, RunId
from runtime.store.protocol import Below, Runs

log = structlog.get_logger("agent")


class ChildRuns:
    """Any number of nodes may look: the store lets one of them end each child.

    `stop` ends a run wherever it is at work, `nudge` has a room's courier look, and `ready` wakes whoever works on lanes.
    """

    def __init__(
        self,
        *,
        store: Runs,
        stop: Callable[[RunId], object],
        nudge: Callable[[Address], object],
        ready: Callable[[], None],
    ) -> None:
        self._store = store
        self._stop = stop
        self._nudge = nudge
        self._ready = ready

    async def children_of(self, run: RunId) -> list[Child]:
        return await self._store.children_of(run)

    async def stop(self, parent: RunId, child: RunId, by: str) -> bool:
        """End a child of `parent`, and all below it; whether it was at work. Errors: StoreError."""
        ended = await self._store.stop_child(parent, child, by)
        if ended is not None:
            self._tell(ended)
        return ended is not None

    async def look(self) -> None:
        """End children whose time is over, and see to it that each end was told. Errors: StoreError."""
        ended = await self._store.end_left_children()
        if ended != Below():
            log.info("children ended by a look", live=len(ended.live))
        self._tell(ended)

    def _tell(self, ended: Below) -> None:
        for run in ended.live:
            self._stop(run)
        for room in ended.told:
            self._nudge(room)
        if ended.woken:
            self._ready()
