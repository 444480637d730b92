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
DATA: Final = b"data: "
LONGEST: Final = 2**20  # bytes of one event

Json = dict[str, Any]


class Chat:
    """One conversation on an open page: the event stream tells it the room after each change."""

    def __init__(self, session: aiohttp.ClientSession, origin: str, room: str, events: aiohttp.ClientResponse) -> None:
        self._session = session
        self._origin = origin
        self._messages = f"{origin}/api/rooms/{room}/messages"
        self._events = events
        self._seen: set[str] = set()

    async def ask(self, words: str) -> None:
        """Say `words`, and return when the reply is there."""
        await self.say(words)
        await self.reply()

    async def say(self, words: str) -> None:
        """Say `words`, and return when they are accepted."""
        fields = {"id": secrets.token_hex(16), "text": words, "files": []}
        async with self._session.post(self._messages, json=fields, headers={"Origin": self._origin}) as answer:
            answer.raise_for_status()

    async def reply(self) -> None:
        """Return when something of the agent's is there that was not before."""
        async with asyncio.timeout(PATIENCE):
            while not self._is_news(await self.told()):
                pass

    async def answer(self) -> None:
        """Return when an answer is there that was not before: what is shown of the way to it is none."""
        async with asyncio.timeout(PATIENCE):
            while not self._is_news(await self.told(), "final"):
                pass

    async def report(self) -> None:
        """Return when a report is there that was not before."""
        async with asyncio.timeout(PATIENCE):
            while not self._is_news(await self.told(), "report"):
                pass

    async def card(self) -> tuple[str, str]:
        """Approval and room, once the agent asks for one."""
        async with asyncio.timeout(PATIENCE):
            while True:
                room = await self.told()
                asked = [button for entry in room["entries"] for button in entry.get("buttons", ())]
                self._is_news(room)
                if asked:
                    return asked[0]["approval_id"], self._messages.rsplit("/", 2)[1]

    async def press(self, approval: str, room: str, choice: str) -> None:
        """Press a button of the card."""
        url = f"{self._origin}/api/approvals/{approval}"
        fields = {"id": secrets.token_hex(16), "room": room, "choice": choice}
        async with self._session.post(url, json=fields, headers={"Origin": self._origin}) as answer:
            answer.raise_for_status()

    async def told(self) -> Json:
        """The room after its next change. Errors: RuntimeError when the stream ends before."""
        async for line in self._events.content:
            if line.startswith(CHANGED):
                data = await self._events.content.readline()
                room: Json = json.loads(data.removeprefix(DATA))
                return room
        raise RuntimeError("the event stream ended before the reply")

    def _is_news(self, room: Json, kind: str = "") -> bool:
        """Whether it holds something of the agent's that was not there before; what is known comes in brief."""
        own = {entry["id"]: entry.get("kind", "") for entry in room["entries"] if entry.get("author") == "agent"}
        fresh = own.keys() - self._seen
        self._seen |= fresh
        return any(kind in ("", own[name]) for name in fresh)


class Page:
    """A person's browser: it holds the cookie that the link gave."""

    def __init__(self, session: aiohttp.ClientSession, origin: str) -> None:
        self._session = session
        self._origin = origin

    @asynccontextmanager
    async def chat(self, room: str = "") -> AsyncIterator[Chat]:
        """A conversation; without `room` a new one."""
        room = room or secrets.token_hex(8)
        async with self._session.get(f"{self._origin}/api/rooms/{room}/events") as events:
            events.raise_for_status()
            chat = Chat(self._session, self._origin, room, events)
            await chat.told()  # what is there when it opens
            yield chat


@asynccontextmanager
async def page(link: str) -> AsyncIterator[Page]:
    """The page, opened with a person's link."""
    parts = urlsplit(link)
    limits = aiohttp.TCPConnector(limit=0)  # a stream stays open for each chat
    patience = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE)
    jar = aiohttp.CookieJar(unsafe=True)  # cookies for an address without a name
    async with aiohttp.ClientSession(
        cookie_jar=jar, connector=limits, timeout=patience, read_bufsize=LONGEST
    ) as session:
        async with session.get(link, headers={"Sec-Fetch-Site": "none"}) as opened:
            opened.raise_for_status()
        yield Page(session, f"{parts.scheme}://{parts.netloc}")
