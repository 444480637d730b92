"""Ratings of people on their way into the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import structlog

from runtime.contract import Reaction
from runtime.domain.events.feedback import rating_of
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate
from runtime.store.protocol.events import FeedbackBook

log = structlog.get_logger("feedback")


class Ratings:
    """Implements `contract.Rated`: emoji that rate nothing never reach the store, and words pass `door`. `begun` wakes
    whoever does the work of triggers."""

    def __init__(self, book: FeedbackBook, door: Door = OPEN_DOOR) -> None:
        self._book = book
        self.door = door
        self.begun: Callable[[], None] = lambda: None

    async def __call__(self, reaction: Reaction) -> bool:
        """Errors: StoreError."""
        if not any(rating_of(emoji) for emoji in (*reaction.added, *reaction.removed)):
            return False
        if reaction.words:
            words = self.door.clean(reaction.words, Gate.MESSAGE_IN, self.door.room(reaction.room))
            reaction = replace(reaction, words=words)
        changed = await self._book.note_reaction(reaction)
        if changed:
            self.begun()
            log.info("rated", address=str(reaction.room), added=len(reaction.added), removed=len(reaction.removed))
        return changed
