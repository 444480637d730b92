"""Event delivery of the fake Slack: over sockets or by signed requests, repeated until acknowledged."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from tests.fakes.slack_board import Board, Event
from tests.fakes.slack_faults import Faults

MOST_SOCKETS: Final = 10
RETRIED: Final = "events_api"
"""Slack repeats events. What a person did in a form or with a command fails before their eyes instead."""


@dataclass(slots=True, eq=False)
class Link:
    """One websocket. `deaf`: nothing comes out of it any more. `mute`: its pings are answered, and no event comes."""

    team: str
    ws: web.WebSocketResponse
    deaf: bool = False
    mute: bool = False


@dataclass(slots=True)
class Pace:
    """`retries` are the waits after which an event that was not acknowledged comes again; then it never does."""

    ack_within: float = 3.0
    retries: Sequence[float] = (0.2, 1.0, 3.0, 10.0, 60.0)
    ping: float = 5.0


@dataclass(slots=True)
class Delivery:
    """Every event of every workspace. `hooks`: by workspace, where its HTTP requests go, instead of sockets."""

    board: Board
    faults: Faults
    pace: Pace = field(default_factory=Pace)
    hooks: dict[str, str] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    opened: int = 0
    hello: bool = True
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)
    _turn: Any = field(default_factory=count)
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)

    def tell(self, event: Event) -> None:
        """Begin to tell it."""
        for _ in range(2 if self.faults.twice else 1):
            task = asyncio.get_running_loop().create_task(self._until_acknowledged(event))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self, *_: object) -> None:
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for link in self.links:
            await link.ws.close()

    async def _until_acknowledged(self, event: Event) -> None:
        waits = self.pace.retries if event.kind == RETRIED else ()
        for attempt, wait in enumerate((0.0, *waits)):
            await asyncio.sleep(wait)
            try:
                async with asyncio.timeout(self.pace.ack_within):
                    answer = await self._try(event, attempt)
            except (TimeoutError, aiohttp.ClientError, ConnectionError):
                continue
            if answer is not None:
                self.board.acknowledge(event.id, answer)
                return

    async def _try(self, event: Event, attempt: int) -> Any:
        """The app's answer; None if it did not accept."""
        if hook := self.hooks.get(event.team):
            # Slack promises no order; but what people do one after the other is seldom told the other way round.
            async with nullcontext() if attempt else self._line:
                return await post(hook, event, attempt)
        links = [link for link in self.links if link.team == event.team and not link.ws.closed]
        if not links:
            return None
        return await self._envelope(links[next(self._turn) % len(links)], event, attempt)

    async def _envelope(self, link: Link, event: Event, attempt: int) -> Any:
        envelope = str(uuid.uuid4())
        answer = self._waiting[envelope] = asyncio.get_running_loop().create_future()
        try:
            if not (link.deaf or link.mute):
                await link.ws.send_json(
                    {
                        "envelope_id": envelope,
                        "type": event.kind,
                        "payload": event.payload,
                        "accepts_response_payload": event.kind != RETRIED,
                        **({"retry_attempt": attempt, "retry_reason": "timeout"} if attempt else {}),
                    }
                )
            return await answer
        finally:
            del self._waiting[envelope]

    # ------------------------------------------------------------------------------------------------- sockets

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One socket, from its hello to its end."""
        ws = web.WebSocketResponse(autoping=False, max_msg_size=0)
        await ws.prepare(request)
        link = Link(request.query["team"], ws)
        self.links.append(link)
        self.opened += 1
        ping = asyncio.get_running_loop().create_task(self._ping(link))
        try:
            if self.hello:
                await ws.send_json(
                    {"type": "hello", "num_connections": len(self.links), "connection_info": {"app_id": "A1"}}
                )
            if len(self.links) > MOST_SOCKETS:
                await ws.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await self._receive(link)
        finally:
            ping.cancel()
            self.links.remove(link)
        return ws

    async def _receive(self, link: Link) -> None:
        async for message in link.ws:
            if message.type is WSMsgType.PING and not link.deaf:
                await link.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                raw = json.loads(message.data)
                answer = self._waiting.get(raw["envelope_id"])
                if answer is not None and not answer.done():
                    answer.set_result(raw.get("payload") or {})

    async def _ping(self, link: Link) -> None:
        while not link.ws.closed:
            await asyncio.sleep(self.pace.ping)
            if not link.deaf and not link.ws.closed:
                await link.ws.ping(b"Ping from the fake Slack")

    async def drop(self) -> None:
        """Cut every socket, as a dying network does."""
        for link in self.links:
            if link.ws._req is not None and link.ws._req.transport is not None:
                link.ws._req.transport.abort()

    def deafen(self, *, mute: bool = False) -> None:
        """The sockets that are open stay so, and nothing comes out of them any more; or no event."""
        for link in self.links:
            link.deaf, link.mute = not mute, mute

    async def disconnect(self, reason: str, *, close: bool = True) -> None:
        """Slack asks for a new socket; then it closes the old one."""
        for link in [*self.links]:
            await link.ws.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "fake"}})
            if close:
                await link.ws.close()


async def post(url: str, event: Event, attempt: int) -> Any:
    """The signed HTTP request of `event`; what the app answered, None unless it was 200."""
    body, content_type = request_body(event)
    headers = {**signature(secret_of(event.team), body), "Content-Type": content_type}
    if attempt:
        headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": "http_error"}
    async with aiohttp.ClientSession() as http, http.post(url, data=body.encode(), headers=headers) as answer:
        if answer.status != 200:
            return None
        return (await answer.json() if answer.content_type == "application/json" else None) or {}


def request_body(event: Event) -> tuple[str, str]:
    """The body of the HTTP request and its type: JSON for events, a form for what people press and type."""
    match event.kind:
        case "events_api":
            return json.dumps(event.payload), "application/json"
        case "interactive":
            return urlencode({"payload": json.dumps(event.payload)}), "application/x-www-form-urlencoded"
        case _:
            return urlencode(event.payload), "application/x-www-form-urlencoded"


def secret_of(team: str) -> str:
    """The signing secret of the app in `team`."""
    return f"signing-secret-of-{team}"


def signature(secret: str, body: str, *, at: float | None = None) -> Mapping[str, str]:
    """The headers that prove that a request comes from Slack."""
    stamp = str(int(time.time() if at is None else at))
    proof = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={proof}"}
