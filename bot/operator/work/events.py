"""Events, checkpoints and feedback for operators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from bot.wiring.events.readers import FeedbackReaders
from runtime.contract import Address
from runtime.domain.events.event import Event, Only
from runtime.domain.events.feedback import Feedback
from runtime.http.errors import Refusal
from runtime.text.words import marked
from runtime.timeline.run_events import run_events
from runtime.timeline.trail import Thing

CUT_SHORT: Final = marked(
    "Events up to {gone:,} are no longer kept. The oldest is {oldest:,}: go on after {gone}, or after 0 for the oldest."
)
NOT_A_READER: Final = marked(
    "Feedback is for the people in feedback.readers of the settings, and you are none of them."
)


@dataclass(frozen=True, slots=True)
class EventOperations:
    """Reads for operators: they see every room."""

    context: OperatorContext

    async def page(self, after: int, limit: int, only: Only) -> View:
        page = await self.context.store.events.page(after, limit=limit, only=only)
        if page.is_cut(after):
            raise Refusal(410, CUT_SHORT.format(gone=page.oldest - 1, oldest=page.oldest))
        return {
            "events": [self.event(one) for one in page.events],
            "next": page.next,
            "oldest": page.oldest,
            "newest": page.head,
        }

    def event(self, one: Event) -> View:
        """An event as programs read it: the same to a command, a stream and a sink."""
        room = one.place.room
        return {
            "number": one.number,
            "at": one.at.isoformat(timespec="milliseconds"),
            "event": one.word,
            "who": self.context.mask(one.who),
            "about": self.context.mask(one.about),
            "detail": self.context.mask(one.detail),
            "room": self.context.called(Address.parse(room)) if room else "",
            "address": room,
            "session": one.place.session,
            "run": one.place.run,
        }

    async def of_run(self, run: str, after: int) -> list[View]:
        store = self.context.store
        trail = await store.traces.trail(run)
        if trail is None or trail.run is None:
            raise Refusal(404, marked("There is no run {run}.").format(run=run))
        return [
            {
                "number": one.number,
                "at": one.at.isoformat(timespec="milliseconds"),
                "event": one.word,
                "about": one.about,
                "text": one.text,
                "node": one.node,
            }
            for one in run_events(trail, now=store.now(), mask=self.context.mask)
            if one.number > after
        ]

    async def sinks(self) -> list[View]:
        head = (await self.context.store.audit.audit_head()).number
        return [
            {
                "sink": one.sink,
                "number": one.number,
                "behind": max(head - one.number, 0),
                "at": at(one.at),
                "failing_since": at(one.failing_since),
                "fault": self.context.mask(one.fault),
            }
            for one in await self.context.store.events.cursors()
        ]

    async def checkpoints(self, room: Address | None, limit: int) -> list[View]:
        await self.context.refresh()
        return [
            {
                "room": self.context.called(one.room),
                "address": self.context.named(one.room),
                "message": one.receipt,
                "shown_at": at(one.shown_at),
                "kind": one.kind.value,
                "delivery": one.delivery,
                "part": one.part,
                "run": one.run,
            }
            for one in await self.context.store.events.checkpoints(room, limit=limit)
        ]

    async def must_read_feedback(self, actor: Actor) -> None:
        """Errors: Refusal 403 for whoever is none of the readers. The command line on the machine may read all there is."""
        readers = FeedbackReaders(self.context.store.people, self.context.feedback_readers)
        if not actor.hand and not await readers.include(actor.person):
            raise Refusal(403, NOT_A_READER)

    async def feedback(self, days: int, room: Address | None, limit: int) -> list[View]:
        store = self.context.store
        rows = await store.feedback.feedback(store.now() - timedelta(days=days), room=room, limit=limit)
        return [self._rated(one) for one in rows]

    def _rated(self, one: Feedback) -> View:
        return {
            "at": at(one.at),
            "value": one.value.word,
            "person": one.person,
            "words": self.context.mask(one.words),
            "said": self.context.mask(one.said),
            "room": self.context.called(one.room),
            "address": self.context.named(one.room),
            "run": one.run,
            "delivery": one.delivery,
        }


@by_role
class EventsApi(PartialApi):
    """Events, their sinks, checkpoints and feedback."""

    async def events(
        self, after: int = 0, limit: int = 100, room: str = "", session: str = "", run: str = "", word: str = ""
    ) -> View:
        """Events behind a number, in order. Errors: Refusal 410, with the oldest number, where some of them are gone."""
        wanted = Only(
            session=session,
            room=str(await self._room_meant(room) or ""),
            run=await self._meant(run, Thing.RUN) if run else "",
            words=(word,) if word else (),
        )
        told = await self._events.page(after, limit, wanted)
        return {**told, "events": await self._entitled(told["events"])}

    async def run_events(self, run_id: str, after: int = 0) -> list[View]:
        """Events of one run behind a number of theirs."""
        return await self._events.of_run(await self._meant(run_id, Thing.RUN), after)

    async def event_sinks(self) -> list[View]:
        """Cursors of the sinks."""
        return await self._events.sinks()

    async def checkpoints(self, room: str = "", limit: int = 100) -> list[View]:
        """The last part on screen in each room."""
        return await self._entitled(await self._events.checkpoints(await self._room_meant(room), limit))

    async def feedback(self, days: int = 30, room: str = "", limit: int = 100) -> list[View]:
        """Ratings of the last days. Errors: Refusal 403 for whoever doesn't read it."""
        await self._events.must_read_feedback(self.actor)
        return await self._entitled(await self._events.feedback(days, await self._room_meant(room), limit))

    @property
    def _events(self) -> EventOperations:
        return EventOperations(self._context)
