"""The web page without its browser: what it sends for a message, and how it finds the reply.

The only place that knows the page's API. Load and latency are measured through it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

PATIENCE: Final = 60.0  # seconds for one reply
CHANGED: Final = b"event: changed"


class Chat:
    """One conversation on an open page: the room's events tell it what is new."""

    def __init__(self, session: aiohttp.ClientSession, origin: str, room: str, events: aiohttp.ClientResponse) -> None:
        self._session = session
        self._origin = origin
        self._base = f"{origin}/api/rooms/{room}"
        self._events = events

    async def ask(self, words: str) -> None:
        """Say `words`, and return when the reply is there."""
        fields = {"id": secrets.token_hex(16), "text": words, "files": []}
        headers = {"Origin": self._origin}
        async with self._session.post(f"{self._base}/messages", json=fields, headers=headers) as answer:
            answer.raise_for_status()
        async with asyncio.timeout(PATIENCE):
            await self._reply()

    async def _reply(self) -> None:
        event = b""
        async for line in self._events.content:
            if line.startswith(b"data: ") and event.startswith(CHANGED) and self._news(json.loads(line[6:])):
                return
            event = line
        raise RuntimeError("the event stream ended before the reply")

    def _news(self, room: dict[str, Any]) -> bool:
        """Whether the agent said something that was not there before; what was comes without its author."""
        return any(entry.get("author") == "agent" for entry in room["entries"])


class Page:
    """A person's browser: it holds the cookie that the link gave."""

    def __init__(self, session: aiohttp.ClientSession, origin: str) -> None:
        self._session = session
        self._origin = origin

    @asynccontextmanager
    async def chat(self) -> AsyncIterator[Chat]:
        """A new conversation."""
        room = secrets.token_hex(8)
        async with self._session.get(f"{self._origin}/api/rooms/{room}/events") as events:
            events.raise_for_status()
            yield Chat(self._session, self._origin, room, events)


@asynccontextmanager
async def page(link: str) -> AsyncIterator[Page]:
    """The page, opened with a person's link."""
    parts = urlsplit(link)
    limits = aiohttp.TCPConnector(limit=0)  # a stream stays open for each chat
    patience = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE)
    jar = aiohttp.CookieJar(unsafe=True)  # cookies for an address without a name
    async with aiohttp.ClientSession(cookie_jar=jar, connector=limits, timeout=patience) as session:
        async with session.get(link) as opened:
            opened.raise_for_status()
        yield Page(session, f"{parts.scheme}://{parts.netloc}")
