"""Ends tasks at peers with the runs that gave them: what people stopped needn't be worked on elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.contract.agents.peers import PeerTask, PeerTasks
from runtime.errors import StoreError, ToolFailed
from tools.peers.client import PeerClient

log = structlog.get_logger("peers")

LOOK_INTERVAL: Final = timedelta(seconds=10)
FIRST_RETRY: Final = timedelta(seconds=20)
"""After a peer gave no answer; each further time twice as long."""
TRIES_MAX: Final = 6


class StoppedTasks:
    """Any number of nodes may look: a peer that is told twice ends its task once."""

    def __init__(self, clients: Mapping[str, PeerClient], book: PeerTasks, *, now: Callable[[], datetime]) -> None:
        self._clients = clients
        self._book = book
        self._now = now
        self._tries: dict[str, tuple[int, datetime]] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())
            await self.look()

    async def look(self) -> None:
        """Tell peers of the tasks that nobody waits for since a person stopped the run."""
        try:
            for kept in await self._book.stopped_peer_tasks():
                if self._tries.get(kept.key, (0, self._now()))[1] <= self._now():
                    await self._end(kept)
        except StoreError as error:
            log.debug("stopped tasks of peers are not looked at yet", reason=str(error))

    async def _end(self, kept: PeerTask) -> None:
        client = self._clients.get(kept.peer)
        try:
            if client:
                await client.cancel(kept.task)
                log.info("task of a peer cancelled", peer=kept.peer, task=kept.task)
            else:
                log.warning("task of a peer not cancelled", peer=kept.peer, reason="the settings name it no more")
        except ToolFailed as error:
            tried = self._tries.get(kept.key, (0, self._now()))[0] + 1
            if tried < TRIES_MAX:
                self._tries[kept.key] = tried, self._now() + FIRST_RETRY * 2 ** (tried - 1)
                return
            log.warning("task of a peer not cancelled", peer=kept.peer, task=kept.task, reason=str(error))
        self._tries.pop(kept.key, None)
        await self._book.keep_peer_task(replace(kept, task="", question=""))
