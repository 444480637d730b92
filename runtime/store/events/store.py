"""Events, cursors of sinks, checkpoints and feedback, as objects of the store.

Reading them and noting a reaction is loaded with its first use: most processes have nobody who does.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from runtime.contract import Address, Identity, Reaction
from runtime.domain.events.checkpoints import Checkpoint
from runtime.domain.events.event import EVERYTHING, EventPage, Only
from runtime.domain.events.feedback import Feedback
from runtime.domain.events.sinks import Cursor
from runtime.store.events.checkpoints import checkpoints
from runtime.store.events.cursors import begin_cursor, cursors, drop_unserved, fail, leave, reach, tell
from runtime.store.protocol import Duty
from runtime.store.sql.base import Base


class EventStore(Base):
    """Implements `protocol.events.Events` and `SinkCursors`."""

    async def page(self, after: int, *, limit: int = 100, only: Only = EVERYTHING) -> EventPage:
        from runtime.store.events.reading import page

        return await self._driver.read(lambda: page(after, limit, only))

    async def checkpoints(self, room: Address | None = None, *, limit: int = 200) -> list[Checkpoint]:
        return await self._driver.read(lambda: checkpoints(room, limit))

    async def cursors(self) -> list[Cursor]:
        return await self._driver.read(cursors)

    async def begin_cursor(self, duty: Duty, sink: str) -> Cursor | None:
        now = self.now()
        return await self._driver.write(lambda: begin_cursor(duty, sink, now))

    async def sink_reached(self, duty: Duty, sink: str, number: int) -> bool:
        now = self.now()
        return await self._driver.write(lambda: reach(duty, sink, number, now))

    async def sink_failed(self, duty: Duty, sink: str, why: str) -> Cursor | None:
        now = self.now()
        return await self._driver.write(lambda: fail(duty, sink, why, now))

    async def sink_told(self, duty: Duty, sink: str) -> bool:
        return await self._driver.write(lambda: tell(duty, sink))

    async def leave_sink(self, duty: Duty) -> bool:
        return await self._driver.write(lambda: leave(duty))

    async def drop_sinks(self, duty: Duty, known: Collection[str], before: datetime) -> list[str]:
        return await self._driver.write(lambda: drop_unserved(duty, known, before))


class FeedbackStore(Base):
    """Implements `protocol.events.FeedbackBook`."""

    async def note_reaction(self, reaction: Reaction) -> bool:
        from runtime.store.events.feedback import react

        now = self.now()
        return await self._driver.write(lambda: react(reaction, now, self._new_id))

    async def feedback(self, since: datetime, *, room: Address | None = None, limit: int = 500) -> list[Feedback]:
        from runtime.store.events.feedback import standing

        return await self._driver.read(lambda: standing(since, room, limit))

    async def own_marks(self, actor: Identity, room: Address) -> dict[str, int]:
        from runtime.store.events.feedback import own_marks

        return await self._driver.read(lambda: own_marks(actor, room))
