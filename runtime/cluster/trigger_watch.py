"""Triggers for messages, as this node knows them: from memory for each message, from the store when another node tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import structlog

from runtime.cluster.notifier import REST, Listener
from runtime.domain.triggers.matching import MessageTriggers
from runtime.domain.triggers.trigger import EventTrigger
from runtime.errors import StoreError

log = structlog.get_logger("triggers")


class Book(Protocol):
    async def for_messages(self) -> list[EventTrigger]: ...


class TriggerWatch:
    """Keeps `take` up to date, in each process."""

    def __init__(self, *, book: Book, take: Callable[[MessageTriggers | None], None], rung: Listener) -> None:
        self._book = book
        self._take = take
        self._rung = rung
        self._known = MessageTriggers()

    async def look(self) -> None:
        """Read anew; the same ones stay compiled. Errors: StoreError."""
        found = MessageTriggers(await self._book.for_messages())
        if found != self._known:
            self._known = found
            self._take(found if found.triggers else None)

    async def run(self) -> None:
        """Never returns."""
        while True:
            await self._rung.within(REST.total_seconds())
            try:
                await self.look()
            except StoreError as error:
                log.debug("triggers are not looked at yet", reason=str(error))
