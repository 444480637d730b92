"""Events of an open page: the room after each lasting change, and live progress. Best effort, bounded.

It is told the room after each (re)connect too, so nothing that it misses in between stays missing.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Any, Final

from aiohttp import web
from pydantic_core import to_json

from adapters.web.rooms import Rooms
from adapters.web.window import Window, instant, page_size
from runtime.contract import (
    PEOPLE,
    QUESTIONS,
    Address,
    Advancing,
    History,
    Identity,
    Notifier,
    Progress,
    Resting,
    Speaking,
    Stopping,
    Thinking,
    View,
    Working,
    room_topic,
)
from runtime.errors import StoreError
from runtime.http.authentication import Authenticator
from runtime.http.errors import Refusal
from runtime.text.glyphs import in_a_line, legible
from runtime.text.words import marked, say

HEARTBEAT: Final = timedelta(seconds=15)
FRAME: Final = timedelta(milliseconds=50)  # between two states of a text that is being spoken
WRITE_LIMIT: Final = timedelta(seconds=30)  # a page that takes nothing for so long is gone
UNHURRIED: Final = 16 * 1024  # bytes that a connection takes at once, of a page that took all before
BACKLOG: Final = 100  # progress events a slow page may be behind; the oldest go first
ARGUMENTS_SHOWN: Final = 400  # characters of a tool's arguments
TEXT_SHOWN: Final = 50_000  # characters of a text that is being spoken: its end
STREAMS: Final = 128  # open at once by one person: a page holds one, and the connections are for everybody
ROOMS_IN_MIND: Final = 1_000  # rooms whose last progress is kept for pages that open later
TOO_MANY: Final = marked("You have {number} pages open here, which is the limit. Close one, then open this one again.")

BEAT: Final = b": still here\n\n"
QUESTIONS_CHANGED: Final = b"event: questions\ndata: {}\n\n"
RETRY: Final = b"retry: 1000\n\n"  # milliseconds until the browser connects again


class Feed:
    """Events that one page has not been sent yet. Progress may be dropped, "changed" may not."""

    def __init__(self) -> None:
        self._progress: deque[Progress] = deque(maxlen=BACKLOG)
        self._changed = False
        self._doubted = False
        self._asked = False
        self._woken = asyncio.Event()
        self._urgent = asyncio.Event()
        self.closed = False

    def push(self, event: Progress) -> None:
        if isinstance(event, Speaking) and self._progress and isinstance(self._progress[-1], Speaking):
            self._progress.pop()  # the newer one says all that the older said
        self._progress.append(event)
        self._wake(urgent=not isinstance(event, Speaking))

    def hear(self, topic: str) -> None:
        """Something happened that the page is told of."""
        if topic == PEOPLE:
            self.doubt()
        elif topic == QUESTIONS:
            self.ask()
        else:
            self.change()

    def change(self) -> None:
        self._changed = True
        self._wake(urgent=True)

    def doubt(self) -> None:
        """Somebody's link may have become void."""
        self._doubted = True
        self._wake(urgent=True)

    def ask(self) -> None:
        """Tell the page that other questions may wait for people by now."""
        self._asked = True
        self._wake(urgent=True)

    def close(self) -> None:
        self.closed = True
        self._wake(urgent=True)

    async def wait(self) -> None:
        """Until there is something to take, or a heartbeat is due."""
        await self._woken.wait()

    def beat(self) -> None:
        """A heartbeat is due."""
        self._wake(urgent=False)

    async def rest(self) -> None:
        """A frame's time between two states of a text; what is more than a state of it cuts the rest short."""
        try:
            async with asyncio.timeout(FRAME.total_seconds()):
                await self._urgent.wait()
        except TimeoutError:
            return

    def take_change(self) -> bool:
        """True if something lasting changed since the last time this was asked."""
        changed, self._changed = self._changed, False
        return changed

    def take_doubt(self) -> bool:
        """True if links changed since the last time this was asked."""
        doubted, self._doubted = self._doubted, False
        return doubted

    def take_questions(self) -> bool:
        """True if questions changed since the last time this was asked."""
        asked, self._asked = self._asked, False
        return asked

    def take_progress(self) -> list[Progress]:
        """All progress not sent yet."""
        taken = list(self._progress)
        self._progress.clear()
        if not (self._changed or self._asked or self._doubted):
            self._woken.clear()
            self._urgent.clear()
        return taken

    def _wake(self, *, urgent: bool) -> None:
        self._woken.set()
        if urgent:
            self._urgent.set()


class Events:
    """The pages that listen, by room."""

    def __init__(self, *, authenticator: Authenticator, rooms: Rooms, history: History, notifier: Notifier) -> None:
        self._authenticator = authenticator
        self._history = history
        self._rooms = rooms
        self._notifier = notifier
        self._feeds: dict[Address, set[Feed]] = {}
        self._latest: dict[Address, Progress] = {}
        self._open: dict[Identity, set[asyncio.Transport]] = {}

    def progress(self, address: Address, event: Progress) -> None:
        self._latest.pop(address, None)
        if not isinstance(event, Resting):
            self._latest[address] = event
            if len(self._latest) > ROOMS_IN_MIND:
                del self._latest[next(iter(self._latest))]
        for feed in self._feeds.get(address, ()):
            feed.push(event)

    def close(self) -> None:
        """End every stream, so that the server need not wait for pages to leave."""
        for feed in [feed for feeds in self._feeds.values() for feed in feeds]:
            feed.close()

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """GET /api/rooms/{room}/events. Errors: Refusal 429 for one more than a person may have open."""
        visitor, address = await self._rooms.open(request)
        return await self._told(
            request, visitor.identity, address, Window(instant(request, "since"), page_size(request))
        )

    async def inbox(self, request: web.Request) -> web.StreamResponse:
        """GET /api/inbox/events: when to look, for a page without a room. Errors: as of `stream`."""
        visitor = await self._authenticator.visitor(request)
        return await self._told(request, visitor.identity, self._rooms.inbox, Window(None))

    async def _told(self, request: web.Request, who: Identity, address: Address, window: Window) -> web.StreamResponse:
        headers = {"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        way = request.transport
        feed = self._enter(who, way, address)
        try:
            await self._stream(request, response, feed, address, window)
        except (ConnectionError, TimeoutError, Refusal, StoreError):
            pass  # the page is gone, its link is void or the store is away: it comes back by itself, or shall not
        finally:
            self._leave(who, way, address, feed)
        return response

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, feed: Feed, address: Address, window: Window
    ) -> None:
        with self._notifier.calling(feed.hear, room_topic(address), PEOPLE, QUESTIONS):  # before the room is read
            await response.prepare(request)
            await response.write(RETRY)
            with beating(feed):
                await self._send(request, response, feed, address, window)

    def _enter(self, who: Identity, way: asyncio.Transport | None, address: Address) -> Feed:
        # A page that left is noticed by its stream when something is written to it; here it counts no more at once.
        here = {one for one in self._open.get(who, ()) if not one.is_closing()}
        if len(here) >= STREAMS:
            raise Refusal(429, say(TOO_MANY, number=STREAMS))
        self._open[who] = here | ({way} if way else set())
        feed = Feed()
        if address == self._rooms.inbox:  # which is no room: there is nothing to read
            feed.ask()
        else:
            feed.change()
        if (latest := self._latest.get(address)) is not None:
            feed.push(latest)
        self._feeds.setdefault(address, set()).add(feed)
        return feed

    def _leave(self, who: Identity, way: asyncio.Transport | None, address: Address, feed: Feed) -> None:
        if left := self._open.pop(who, set()) - {way}:
            self._open[who] = left
        feeds = self._feeds[address]
        feeds.discard(feed)
        if not feeds:
            del self._feeds[address]

    async def _send(
        self, request: web.Request, response: web.StreamResponse, feed: Feed, address: Address, window: Window
    ) -> None:
        checked = monotonic()
        while True:
            await feed.wait()
            if feed.closed:
                return
            if feed.take_doubt():
                await self._look_again(request, address, fresh=True)
            news = [_changed(window.told(await self._view(address, window)))] if feed.take_change() else []
            news += [QUESTIONS_CHANGED] * feed.take_questions()
            progress = feed.take_progress()  # also what came while the room was read: each write costs the page a turn
            if not (progress or news) or monotonic() - checked >= HEARTBEAT.total_seconds():
                await self._look_again(request, address)  # a new link shuts out the pages of the old one
                checked = monotonic()
            await _write(request.transport, response, b"".join([*_frames(progress), *news]) or BEAT)
            if progress and isinstance(progress[-1], Speaking):
                await feed.rest()

    async def _look_again(self, request: web.Request, address: Address, *, fresh: bool = False) -> None:
        """Errors: Refusal once the link is void, or the role no longer opens the room."""
        if address == self._rooms.inbox:
            await self._authenticator.visitor(request, fresh=fresh)
        else:
            await self._rooms.open(request, fresh=fresh)

    async def _view(self, address: Address, window: Window) -> View:
        view = await self._history.view(address, limit=window.reach)
        return await self._history.view(address) if window.needs_more(view) else view


@contextmanager
def beating(feed: Feed) -> Iterator[None]:
    """A heartbeat each `HEARTBEAT`, by one timer: one for each wait cost a message more than the wait itself."""
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()

    def beat_later() -> None:
        timers[:] = [loop.call_later(HEARTBEAT.total_seconds(), beat)]

    def beat() -> None:
        feed.beat()
        beat_later()

    beat_later()
    try:
        yield
    finally:
        timers[0].cancel()


async def _write(way: asyncio.Transport | None, response: web.StreamResponse, data: bytes) -> None:
    """Errors: TimeoutError for a page that takes nothing; where little is written and all before is taken, nobody waits."""
    if way is not None and not way.get_write_buffer_size() and len(data) < UNHURRIED:
        await response.write(data)
        return
    async with asyncio.timeout(WRITE_LIMIT.total_seconds()):
        await response.write(data)


def _frames(progress: Iterable[Progress]) -> list[bytes]:
    return [b"event: progress\ndata: " + json.dumps(_told(event)).encode() + b"\n\n" for event in progress]


def _changed(room: dict[str, Any]) -> bytes:
    return b"event: changed\ndata: " + to_json(room) + b"\n\n"


def _told(event: Progress) -> dict[str, Any]:
    match event:
        case Thinking():
            return {"kind": "thinking"}
        case Speaking(text):
            return {"kind": "speaking", "text": legible(text[-TEXT_SHOWN:])}
        case Working(tool, arguments, ended):
            return {"kind": "working", "tool": tool, "arguments": in_a_line(arguments, ARGUMENTS_SHOWN), "ended": ended}
        case Advancing(tool, arguments, words):
            given = in_a_line(arguments, ARGUMENTS_SHOWN)
            return {"kind": "advancing", "tool": tool, "arguments": given, "words": legible(words)}
        case Stopping():
            return {"kind": "stopping"}
        case Resting():
            return {"kind": "resting"}
