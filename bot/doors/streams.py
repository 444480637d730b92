"""Streams of server-sent events: bounded in number and in time, with a sign of life while nothing happens."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

from aiohttp import web

from bot.doors.callers import Caller
from runtime.http.errors import Refusal

STREAMS_PER_TOKEN: Final = 1_000
STREAMS_PER_PERSON: Final = 128
"""Of somebody at the page, as many as of their pages: the connections are for everybody, and no owner bounds what they ask."""
STREAM_BEAT: Final = timedelta(seconds=10)
STREAM_LIFE: Final = timedelta(minutes=30)
STREAM_WRITE: Final = timedelta(seconds=30)
"""A client that takes nothing for so long is gone."""
STREAM_OPENS: Final = {"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
STILL_HERE: Final = b": still here\n\n"
TOO_MANY_STREAMS: Final = "{whose} {most:,} streams open, which is the limit."
Event = dict[str, Any]


class Streams:
    """Open streams of each token, counted."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @contextmanager
    def opened(self, caller: Caller) -> Iterator[None]:
        """Errors: Refusal 429."""
        name = caller.token.name
        most = STREAMS_PER_PERSON if caller.at_page else STREAMS_PER_TOKEN
        if self._open[name] >= most:
            whose = "You have" if caller.at_page else "This token has"
            raise Refusal(429, TOO_MANY_STREAMS.format(whose=whose, most=most), Retry_After="10")
        self._open[name] += 1
        try:
            yield
        finally:
            self._open[name] -= 1


async def begun(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers=STREAM_OPENS)
    await response.prepare(request)
    return response


async def sent(response: web.StreamResponse, data: bytes) -> None:
    """Write, or give up on a client that reads nothing. Errors: TimeoutError, ConnectionError."""
    async with asyncio.timeout(STREAM_WRITE.total_seconds()):
        await response.write(data)


def framed(events: Iterable[Event], *, named: bool = False) -> bytes:
    """Events on the wire; `named` ones begin with their type."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n")
    return "".join(lines).encode()
