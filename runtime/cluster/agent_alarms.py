"""Tells operators of agents that are suspended, by a person or since their runs failed again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.chat import agents as words
from runtime.domain.agents.lifecycle import AgentState
from runtime.errors import Rejected, StoreError
from runtime.store.protocol.agents import AgentLives

log = structlog.get_logger("agents")

AGENTS_LOOKED_AT_EVERY: Final = timedelta(seconds=10)

Tell = Callable[[str, str], Awaitable[None]]
"""Posts a text for operators under an origin: once, however many nodes and processes do so. Errors: Rejected."""


class AgentAlarms:
    """One of each process; the outbox keeps one of what all tell."""

    def __init__(
        self,
        *,
        store: AgentLives,
        tell: Tell,
        is_wanted: Callable[[], bool] = lambda: True,
        every: timedelta = AGENTS_LOOKED_AT_EVERY,
    ) -> None:
        self._store = store
        self._tell = tell
        self._is_wanted = is_wanted
        self._every = every
        self._told: set[str] = set()

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except (StoreError, Rejected) as error:
                log.debug("agents are not looked at yet", reason=str(error))
            await asyncio.sleep(self._every.total_seconds())

    async def look(self) -> None:
        """Tell what nobody was told yet. Errors: StoreError, Rejected."""
        for row in await self._store.rows() if self._is_wanted() else ():
            mark = f"{row.name}:{row.changed_at:%Y%m%d%H%M%S%f}"
            if row.state is AgentState.SUSPENDED and mark not in self._told:
                log.warning("agent suspended", agent=row.name, reason=row.reason)
                await self._tell(f"agent-suspended:{mark}", words.for_operators(row.name, row.reason))
                self._told.add(mark)
