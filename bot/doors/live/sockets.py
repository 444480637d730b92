"""WebSocket twin of a message's stream: the same events as JSON, each of at most 64 KiB."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Final

from aiohttp import WSMsgType, web

from bot.doors.callers import Caller
from bot.doors.live.growing import Growing, GrowingAnswers
from bot.doors.streams import STREAM_LIFE, STREAM_WRITE
from runtime.domain.programs.followed import Followed

SOCKET_BYTES_MAX: Final = 64 * 1024
SOCKET_BEAT: Final = timedelta(seconds=10)
PROGRESS_MAX_CHARS: Final = 10_000
"""Characters of a text that is being said: its end."""
Event = dict[str, Any]
BEAT_EVENT: Final[Event] = {"event": "beat"}


def is_upgrade(request: web.Request) -> bool:
    """True where a client asks for a WebSocket."""
    return request.headers.get("Upgrade", "").lower() == "websocket"


class SocketListener:
    """Sends `message` and `progress` as objects with their `event`. What is too large comes without its text."""

    beat_each: timedelta = SOCKET_BEAT
    ends_at_questions: bool = False

    def __init__(self, socket: web.WebSocketResponse, told: Callable[[Followed], Event]) -> None:
        self._socket = socket
        self._told = told
        self._last: Followed | None = None
        self._live = ""
        self._number = 0

    async def tell(self, growing: Growing) -> None:
        if growing.found != self._last:
            self._last, self._number = growing.found, self._number + 1
            await self._send({"event": "message", "number": self._number, "data": self._told(growing.found)})
        if growing.live and growing.live != self._live:
            self._live = growing.live
            await self._send({"event": "progress", "data": {"text": growing.live[-PROGRESS_MAX_CHARS:]}})

    async def beat(self) -> None:
        await self._send(BEAT_EVENT)

    async def _send(self, event: Event) -> None:
        await send_event(self._socket, event)


async def send_event(socket: web.WebSocketResponse, event: Event) -> None:
    """Send it; what is too large comes without its texts, and says so."""
    text = json.dumps(event, ensure_ascii=False)
    if len(text.encode()) > SOCKET_BYTES_MAX:
        less = {"data": {**event["data"], "text": "", "cut": True}} if "data" in event else {"cut": True}
        kept = event if "data" in event else {"event": event["event"], "number": event.get("number")}
        text = json.dumps({**kept, **less}, ensure_ascii=False)
    async with asyncio.timeout(STREAM_WRITE.total_seconds()):
        await socket.send_str(text)


async def over_socket(
    request: web.Request, growing: GrowingAnswers, caller: Caller, signal_id: str, told: Callable[[Followed], Event]
) -> web.WebSocketResponse:
    """Serve until the message is over, or for `STREAM_LIFE`."""
    return await with_socket(
        request, lambda socket: growing.follow(caller, signal_id, SocketListener(socket, told), STREAM_LIFE)
    )


async def with_socket(
    request: web.Request, follow: Callable[[web.WebSocketResponse], Coroutine[Any, Any, None]]
) -> web.WebSocketResponse:
    """Serve a socket until `follow` is over or the client leaves. It may say nothing on its side."""
    socket = web.WebSocketResponse(max_msg_size=SOCKET_BYTES_MAX, heartbeat=SOCKET_BEAT.total_seconds())
    await socket.prepare(request)
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(_until_left(socket))
        following = group.create_task(follow(socket))
        await asyncio.wait({reading, following}, return_when=asyncio.FIRST_COMPLETED)
        following.cancel()
        reading.cancel()
    await socket.close()
    return socket


async def _until_left(socket: web.WebSocketResponse) -> None:
    async for message in socket:
        if message.type is WSMsgType.ERROR:
            return
