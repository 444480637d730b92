"""Events, cursors of their sinks, checkpoints of rooms, and feedback."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from runtime.contract import Address, Identity, Reaction
from runtime.domain.events.checkpoints import Checkpoint
from runtime.domain.events.event import EVERYTHING, EventPage, Only
from runtime.domain.events.feedback import Feedback
from runtime.domain.events.sinks import Cursor
from runtime.store.protocol.leases import Duty


class Events(Protocol):
    """Sealed rows of the audit as events. Only reads."""

    async def page(self, after: int, *, limit: int = 100, only: Only = EVERYTHING) -> EventPage:
        """Events with a number above `after`, in order. It may be empty though there are more: go on from its `next`."""

    async def checkpoints(self, room: Address | None = None, *, limit: int = 200) -> list[Checkpoint]:
        """The last part on screen in each room, or in one with its threads; the newest first."""


class SinkCursors(Protocol):
    """Cursors of event sinks. What writes repeats the duty, and says so where that was lost."""

    async def cursors(self) -> list[Cursor]: ...

    async def begin_cursor(self, duty: Duty, sink: str) -> Cursor | None:
        """The cursor of a sink; that of a new one stands behind the newest event. None when the duty was lost."""

    async def sink_reached(self, duty: Duty, sink: str, number: int) -> bool:
        """Every event up to `number` was taken. False when the duty was lost."""

    async def sink_failed(self, duty: Duty, sink: str, why: str) -> Cursor | None:
        """The sink took nothing. Its cursor as it stays; None when the duty was lost."""

    async def sink_told(self, duty: Duty, sink: str) -> bool:
        """Note that operators are told of a failure; false where they were already."""

    async def leave_sink(self, duty: Duty) -> bool:
        """Give the duty for a sink up: another node, whose settings have it, may take it. False when it was lost."""

    async def drop_sinks(self, duty: Duty, known: Collection[str], before: datetime) -> list[str]:
        """Forget cursors that no node serves and that stand still since `before`, but those in `known`; which they were."""


class FeedbackBook(Protocol):
    """Ratings of the agent's messages by people."""

    async def note_reaction(self, reaction: Reaction) -> bool:
        """Note what a person put onto a message or took away; whether that changed anything."""

    async def feedback(self, since: datetime, *, room: Address | None = None, limit: int = 500) -> list[Feedback]:
        """Ratings since then that stand, of one room with its threads or of all; the newest first."""

    async def own_marks(self, actor: Identity, room: Address) -> dict[str, int]:
        """Value of each delivery in a room that somebody rated."""
