"""A chat platform of its own process, in four kinds that differ in how an uncertain send can be settled.

    key     a send repeated with its idempotency key gives the earlier message
    lookup  the history carries the marker of each message
    probe   neither; but ids grow in each room, and a probe tells whether exactly this body is shown under an id
    none    nothing can be told

    POST   /rooms/{room}/messages  {text, buttons, form, key?, marker?} -> {id}
    PATCH  /messages/{id}          {text, buttons, form} -> {id}
    GET    /rooms/{room}/messages  the history, oldest first (key and lookup)
    PUT    /messages/{id}/probe    {text, buttons, form} -> {state: "not modified" | "different" | "not found"}
    GET    /events?after=N&wait=S  what people did after N, waiting up to S seconds for it; N is thereby acknowledged
    POST   /notices                {event, text}: a private word to whoever caused the event

and for the test that drives it: POST /inject, POST /faults, DELETE /faults, GET /visible.

    python -m bot.testing.channel.server --port 0 --kind key --journal FILE
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from enum import StrEnum
from math import isinf
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.testing.channel.board import Board, Body, Post
from bot.testing.channel.faults import Do, Fault, Faults
from bot.testing.serve import abort, serve_until_told


class ChannelKind(StrEnum):
    KEY = "key"
    LOOKUP = "lookup"
    PROBE = "probe"
    NONE = "none"


HISTORY = frozenset({ChannelKind.KEY, ChannelKind.LOOKUP})
DRIVER_PATHS = frozenset({"/inject", "/faults", "/visible"})


class Channel:
    """The platform. `sends` counts the send requests that arrived, whatever became of them; what is in `under_way` was cut and is
    applied once a test calls it."""

    def __init__(self, *, kind: ChannelKind, journal: Path | None = None) -> None:
        self.kind = kind
        self.board = Board(journal)
        self.faults = Faults()
        self.sends = 0
        self.under_way: list[Callable[[], Post | None]] = []
        self._news = asyncio.Event()

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._refuse_while_away], client_max_size=16 * 1024**2)
        app.add_routes(
            [
                web.post("/rooms/{room}/messages", self._send),
                web.get("/rooms/{room}/messages", self._history),
                web.patch("/messages/{id}", self._edit),
                web.put("/messages/{id}/probe", self._probe),
                web.get("/events", self._events),
                web.post("/notices", self._notice),
                web.post("/inject", self._inject),
                web.post("/faults", self._add_fault),
                web.delete("/faults", self._lift_faults),
                web.get("/visible", self._visible),
            ]
        )
        return app

    @web.middleware
    async def _refuse_while_away(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.faults.away and request.path not in DRIVER_PATHS:
            return web.json_response({"error": "away"}, status=503)
        return await handler(request)

    # What a bot may call.

    async def _send(self, request: web.Request) -> web.Response:
        self.sends += 1
        room, raw = request.match_info["room"], await request.json()
        body = Body.of(raw)
        key = raw.get("key") if self.kind is ChannelKind.KEY else None
        marker = raw.get("marker") if self.kind is ChannelKind.LOOKUP else None
        fault = self.faults.strike("send", body.form)
        return self._under(fault, request, lambda: self.board.post(room, body, key=key, marker=marker))

    async def _edit(self, request: web.Request) -> web.Response:
        body = Body.of(await request.json())
        fault = self.faults.strike("edit", body.form)
        return self._under(fault, request, lambda: self.board.edit(request.match_info["id"], body))

    def _under(self, fault: Fault | None, request: web.Request, apply: Callable[[], Post | None]) -> web.Response:
        """Apply and answer, unless `fault` says otherwise."""
        match fault:
            case None:
                return answer(apply())
            case Fault(Do.CUT_BEFORE):
                return abort(request)
            case Fault(Do.CUT_AFTER):
                apply()
                return abort(request)
            case Fault(Do.CUT_LATE, seconds) if isinf(seconds):
                self.under_way.append(apply)
                return abort(request)
            case Fault(Do.CUT_LATE, seconds):
                asyncio.get_running_loop().call_later(seconds, apply)
                return abort(request)
            case Fault():
                return refusal(fault)

    async def _history(self, request: web.Request) -> web.Response:
        if self.kind not in HISTORY:
            return web.json_response({"error": "no history here"}, status=403)
        posts = [post.to_record() for post in self.board.room(request.match_info["room"])]
        return web.json_response({"messages": [{name: p[name] for name in p if name != "key"} for p in posts]})

    async def _probe(self, request: web.Request) -> web.Response:
        if self.kind is not ChannelKind.PROBE:
            return web.json_response({"error": "no probe here"}, status=403)
        message_id = request.match_info["id"]
        post = self.board.posts.get(message_id)
        if post is not None and post.body == Body.of(await request.json()):
            return web.json_response({"state": "not modified"})
        return web.json_response({"state": "different" if self.board.is_given(message_id) else "not found"})

    async def _events(self, request: web.Request) -> web.Response:
        """Without `after` everything unacknowledged comes again, so a bot need not remember where it was."""
        self.board.acknowledge(int(request.query.get("after", "0")))
        if not self.board.waiting():
            await self._wait_for_news(float(request.query.get("wait", "25")))
        return web.json_response({"events": self.board.waiting()[:100]})

    async def _wait_for_news(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    async def _notice(self, request: web.Request) -> web.Response:
        raw = await request.json()
        self.board.notice(str(raw["event"]), str(raw["text"]))
        return web.json_response({})

    # What a test may call.

    async def _inject(self, request: web.Request) -> web.Response:
        event = self.board.inject(await request.json())
        self._wake()
        return web.json_response(event)

    def _wake(self) -> None:
        """Answer everyone who waits for events."""
        self._news.set()
        self._news = asyncio.Event()

    async def _add_fault(self, request: web.Request) -> web.Response:
        self.faults.add(await request.json())
        if self.faults.away:
            self._wake()
        return web.json_response({})

    async def _lift_faults(self, request: web.Request) -> web.Response:
        self.faults.lift()
        return web.json_response({})

    async def _visible(self, request: web.Request) -> web.Response:
        messages = [{**post.to_record(), "version": post.version} for post in self.board.posts.values()]
        told = {"notices": self.board.notices, "sends": self.sends, "acked": self.board.acked}
        return web.json_response({"messages": messages, **told})


def answer(post: Post | None) -> web.Response:
    if post is None:
        return web.json_response({"error": "not found"}, status=404)
    return web.json_response({"id": post.id})


def refusal(fault: Fault) -> web.Response:
    statuses: dict[Do, tuple[int, str]] = {
        Do.ERROR: (500, "server error"),
        Do.BUSY: (429, "too many requests"),
        Do.FORBIDDEN: (403, "this room is closed"),
        Do.FORM: (400, "form rejected"),
    }
    status, error = statuses[fault.do]
    headers = {"Retry-After": f"{fault.seconds:g}"} if fault.do is Do.BUSY else None
    return web.json_response({"error": error}, status=status, headers=headers)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A fake chat platform.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--kind", type=ChannelKind, choices=list(ChannelKind), default=ChannelKind.KEY)
    parser.add_argument("--journal", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    asyncio.run(serve_until_told(Channel(kind=given.kind, journal=given.journal).app(), given.port))


if __name__ == "__main__":
    main()
