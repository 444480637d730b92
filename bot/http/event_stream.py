"""Events as a stream (server-sent events): each with its number, so that whoever was cut goes on where they were."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from aiohttp import web

from bot.http.entrance import Entrance
from bot.http.operator_api import POSITION_MAX_DIGITS
from bot.operator.context import OperatorContext
from bot.operator.views import View
from runtime.errors import StoreError
from runtime.http.errors import Refusal

EVENT_STREAM: Final = "/console/api/events/stream"
LOG_STREAM: Final = "/console/api/logs/stream"
STREAM_LOOK_INTERVAL: Final = timedelta(seconds=1)
"""Between two looks where all that there was is told: rows are sealed within a second."""
STREAM_SIGN_INTERVAL: Final = timedelta(seconds=15)
"""Longest silence: below the idle limit of common proxies."""
STREAMS_MOST: Final = 32
TOO_MANY_STREAMS: Final = f"{STREAMS_MOST} programs follow the events already."
BAD_LAST_EVENT: Final = "Last-Event-ID must be the number of an event."

Look = Callable[[int], Awaitable[View]]


class EventStream:
    """Everybody who follows the events, or the log, of this process."""

    def __init__(self, context: OperatorContext, entrance: Entrance) -> None:
        self._context = context
        self._entrance = entrance
        self._open = 0

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(EVENT_STREAM, self.events, allow_head=False),
            web.get(LOG_STREAM, self.logs, allow_head=False),
        ]

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Errors: Refusal 400 for a wrong number, 410 for one that is too old, 429 for one stream too many."""
        return await self._serve(request, self._look(request))

    async def logs(self, request: web.Request) -> web.StreamResponse:
        """Lines of this node's log as they come. Errors: Refusal, as above."""
        return await self._serve(request, self._look_at_logs(request))

    async def _serve(self, request: web.Request, look: Look) -> web.StreamResponse:
        after = _position(request)
        first = await look(after)
        if self._open >= STREAMS_MOST:
            raise Refusal(429, TOO_MANY_STREAMS)
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        self._open += 1
        try:
            await response.prepare(request)
            await _told(response, first, look)
        except (ConnectionError, Refusal, StoreError):
            pass  # it left, may no longer see them, or the store is away: it comes back with the last number it saw
        finally:
            self._open -= 1
        return response

    def _look_at_logs(self, request: web.Request) -> Look:
        level, text, trace, room = (request.query.get(name, "") for name in ("level", "text", "trace", "room"))

        async def look(after: int) -> View:
            actor = await self._entrance.actor(request)
            from bot.operator.operations import Operations

            told = await Operations(self._context, actor).logs(after, 500, level, text, trace, room)
            lines = [{"number": line["number"], "event": "line", "line": line} for line in told["lines"]]
            return {"events": lines, "next": told["next"], "newest": told["newest"]}

        return look

    def _look(self, request: web.Request) -> Look:
        room, session, run, word = (request.query.get(name, "") for name in ("room", "session", "run", "word"))

        async def look(after: int) -> View:
            # Asked anew each time: whoever lost the right sees no more.
            actor = await self._entrance.actor(request)
            from bot.operator.operations import Operations  # with the first that follows them

            do = Operations(self._context, actor)
            return await do.events(after, 500, room, session, run, word)

        return look


async def _told(response: web.StreamResponse, page: View, look: Look) -> None:
    """Write what happens until whoever listens leaves."""
    quiet = timedelta()
    while True:
        for event in page["events"]:
            await response.write(_frame(event))
            quiet = timedelta()
        if page["next"] >= page["newest"]:  # also where something was new: a look may itself have been logged
            if quiet >= STREAM_SIGN_INTERVAL:
                await response.write(b": still here\n\n")
                quiet = timedelta()
            await asyncio.sleep(STREAM_LOOK_INTERVAL.total_seconds())
            quiet += STREAM_LOOK_INTERVAL
        page = await look(page["next"])


def _frame(event: View) -> bytes:
    said = json.dumps(event, ensure_ascii=False)
    return f"id: {event['number']}\nevent: {event['event']}\ndata: {said}\n\n".encode()


def _position(request: web.Request) -> int:
    text = request.headers.get("Last-Event-ID") or request.query.get("after", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= POSITION_MAX_DIGITS):
        raise Refusal(400, BAD_LAST_EVENT)
    return int(text)
