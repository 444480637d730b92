"""Event sinks: places that are told what happens, in order and at least once.

A cursor is committed once a sink took a batch, so a kill in between means that the batch comes again. A sink that takes
nothing keeps its cursor, is tried again later and later, and after a while operators are told.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

import structlog

from runtime.contract import Address, Now
from runtime.domain.events.event import Event, EventPage, Only
from runtime.domain.events.sinks import CURSOR_KEPT, SINK_ROLE_PREFIX, Cursor, retry_delay
from runtime.errors import BotError, Rejected, StoreError
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol import Duty
from runtime.store.protocol.events import Events, SinkCursors

log = structlog.get_logger("events")

EVENT_SINKS_ROLE: Final = "event sinks"
"""Of looking after the places of sinks that are gone."""
SINK_LOOK_INTERVAL: Final = timedelta(seconds=1)
TIDY_INTERVAL: Final = timedelta(hours=1)
EVENTS_A_BATCH: Final = 100
SINK_TIMEOUT: Final = timedelta(seconds=20)
SINK_ANSWER_MAX_BYTES: Final = 2_000
SINK_FAULT_MAX_CHARS: Final = 200
SINK_TOLD: Final = (
    "**The event sink {sink} takes nothing since {since:%Y-%m-%d %H:%M} UTC**: {fault} It keeps its place, and gets all of "
    "it once it answers. How far it has got: `signalbox doctor`."
)


class SinkFailed(BotError):
    """A sink did not take a batch. The sentence says why."""


class Outlet(Protocol):
    """A place for events."""

    async def take(self, sink: str, events: Sequence[Mapping[str, Any]]) -> None:
        """Hand events over, in order. Errors: SinkFailed: none of them counts as taken."""


class EventBook(Events, SinkCursors, Protocol):
    """Events with the cursors of sinks."""


@dataclass(frozen=True, slots=True, eq=False)
class SinkPlan:
    """A sink as the settings have it: each is one of its own. Of `words` it gets those events that they fit."""

    name: str
    words: tuple[str, ...]
    outlet: Outlet


class EventSinks:
    """Serves every sink. Any number of nodes may run it: for each sink one has the duty, of those whose settings have it."""

    def __init__(
        self,
        *,
        sinks: Sequence[SinkPlan],
        book: EventBook,
        door: Door,
        called: Callable[[Address], str],
        take: Callable[[str], Awaitable[Duty | None]],
        tell: Callable[[str, str], Awaitable[None]],
        now: Now,
    ) -> None:
        self._sinks = tuple(sinks)
        self._book = book
        self._door = door
        self._called = called
        self._take = take
        self._tell = tell
        self._now = now
        self._changed = asyncio.Event()

    def change(self, sinks: Sequence[SinkPlan]) -> None:
        """Serve these from now on. One that is the same object as before goes on undisturbed."""
        self._sinks = tuple(sinks)
        self._changed.set()

    async def run(self) -> None:
        """Serve until cancelled. Each sink on its own: one that hangs keeps no other waiting."""
        at_work: dict[SinkPlan, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tidy())
            while True:
                self._changed.clear()
                for sink in at_work.keys() - self._sinks:
                    await self._end(sink, at_work.pop(sink))
                for sink in self._sinks:
                    if sink not in at_work:
                        at_work[sink] = group.create_task(self._keep(sink))
                await self._changed.wait()

    async def _end(self, sink: SinkPlan, task: asyncio.Task[None]) -> None:
        """A sink left the settings, or is another one there. Its place stays for a while."""
        task.cancel()
        await asyncio.wait([task])
        try:
            if duty := await self._take(role_of(sink.name)):
                await self._book.leave_sink(duty)
        except StoreError as error:
            log.warning("the duty for an event sink is not given up", sink=sink.name, reason=str(error))

    async def _tidy(self) -> None:
        """Forget how far sinks had got that no node's settings have any more."""
        while True:
            await asyncio.sleep(TIDY_INTERVAL.total_seconds())
            try:
                before = self._now() - CURSOR_KEPT
                if any(one.at < before for one in await self._book.cursors()):
                    await self._drop(before)
            except StoreError as error:
                log.debug("event sinks wait", reason=str(error))

    async def _drop(self, before: datetime) -> None:
        if duty := await self._take(EVENT_SINKS_ROLE):
            for name in await self._book.drop_sinks(duty, [one.name for one in self._sinks], before):
                log.warning("the place of an event sink is forgotten: no settings have it", sink=name)

    async def _keep(self, sink: SinkPlan) -> None:
        failures = 0
        while True:
            wait = retry_delay(failures) if failures else SINK_LOOK_INTERVAL
            await asyncio.sleep(wait.total_seconds())
            try:
                failures = 0 if await self.serve(sink) else failures + 1
            except StoreError as error:
                log.debug("an event sink waits", sink=sink.name, reason=str(error))

    async def serve(self, sink: SinkPlan) -> bool:
        """Bring a sink as far as it goes, if that is this node's duty; False when it took nothing of what there was."""
        cursor = next((one for one in await self._book.cursors() if one.sink == sink.name), None)
        if cursor and (await self._next(cursor, sink)).next <= cursor.number:
            return True  # nothing is new, which costs no write
        duty = await self._take(role_of(sink.name))
        cursor = await self._book.begin_cursor(duty, sink.name) if duty else None
        while duty and cursor is not None and (page := await self._next(cursor, sink)).next > cursor.number:
            try:
                if page.events:
                    await sink.outlet.take(sink.name, [self._clean(one) for one in page.events])
            except SinkFailed as error:
                await self._failed(duty, cursor, str(error))
                return False
            if cursor.failing_since:
                log.warning("an event sink takes events again", sink=sink.name)
            kept = await self._book.sink_reached(duty, sink.name, page.next)
            cursor = Cursor(sink.name, page.next, self._now()) if kept else None
        return True

    async def _next(self, cursor: Cursor, sink: SinkPlan) -> EventPage:
        return await self._book.page(cursor.number, limit=EVENTS_A_BATCH, only=Only(words=sink.words))

    def _clean(self, event: Event) -> Mapping[str, Any]:
        """The event as it goes out: texts in it passed the leak guard once more, as for anything that is handed on."""
        address = Address.parse(event.place.room) if event.place.room else None
        room = self._door.room(address)

        def clean(text: str) -> str:
            return str(self._door.clean(text, Gate.HANDED_ON, room)) if text else ""

        return {
            "number": event.number,
            "at": event.at.isoformat(timespec="milliseconds"),
            "event": event.word,
            "who": clean(event.who),
            "about": clean(event.about),
            "detail": clean(event.detail),
            "room": clean(self._called(address)) if address else "",
            "address": event.place.room,
            "session": event.place.session,
            "run": event.place.run,
        }

    async def _failed(self, duty: Duty, before: Cursor, why: str) -> None:
        """Keep its place, and tell operators once it took nothing for long."""
        fault = str(self._door.clean(why, Gate.HANDED_ON))[:SINK_FAULT_MAX_CHARS]
        told = log.debug if before.failing_since else log.warning
        told("an event sink takes nothing", sink=before.sink, reason=fault)
        cursor = await self._book.sink_failed(duty, before.sink, fault)
        if cursor and cursor.failing_since and cursor.is_to_be_told(self._now()):
            text = SINK_TOLD.format(sink=cursor.sink, since=cursor.failing_since, fault=fault)
            try:
                await self._tell(f"event-sink:{cursor.sink}:{int(cursor.failing_since.timestamp())}", text)
            except Rejected:
                return  # their room is not known yet: at the next failure
            await self._book.sink_told(duty, cursor.sink)


def role_of(sink: str) -> str:
    return f"{SINK_ROLE_PREFIX}{sink}"


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Value of the header with the signature. The time is signed too, as webhooks of others do it, against replays."""
    return f"sha256={hmac.digest(secret.encode(), stamp.encode() + b'.' + body, 'sha256').hex()}"


def body_of(sink: str, events: Sequence[Mapping[str, Any]]) -> bytes:
    """Body of one request: equal batches are equal bytes."""
    return json.dumps({"sink": sink, "events": list(events)}, ensure_ascii=False, separators=(",", ":")).encode()
