"""A person at the web page, without a browser: the requests that the page makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import uuid4

import aiohttp

from tests.e2e.house import PATIENCE

T = TypeVar("T")
Json = dict[str, Any]

GLANCE: Final = 0.05  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Json

    @property
    def error(self) -> str:
        return str(self.body.get("error", ""))

    @property
    def notice(self) -> str:
        return str(self.body.get("notice") or "")


class Visitor:
    """Holds the cookie of one person's link."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self.http = http
        self.url = url

    async def get(self, path: str) -> Answer:
        async with self.http.get(self.url + path) as answer:
            return Answer(answer.status, await _object(answer))

    async def post(self, path: str, body: Json, **headers: str) -> Answer:
        async with self.http.post(self.url + path, json=body, headers={"Origin": self.url, **headers}) as answer:
            return Answer(answer.status, await _object(answer))

    async def say(self, room: str, text: str, *, event: str = "", files: Sequence[str] = ()) -> Json:
        """Say something that is taken in; the verdict."""
        body = {"id": event or uuid4().hex, "text": text, "files": list(files)}
        answer = await self.post(f"/api/rooms/{room}/messages", body)
        assert answer.status == 202, answer
        return answer.body

    async def click(self, room: str, approval: str, choice: str, reason: str = "", *, event: str = "") -> Answer:
        body = {"id": event or uuid4().hex, "room": room, "choice": choice, "reason": reason}
        return await self.post(f"/api/approvals/{approval}", body)

    async def entries(self, room: str) -> list[Json]:
        """What stands in the room; nothing where no conversation has begun that this person may read."""
        answer = await self.get(f"/api/rooms/{room}/timeline")
        if answer.status == 404:
            return []
        assert answer.status == 200, answer
        return list(answer.body["entries"])

    async def replies(self, room: str) -> list[str]:
        """What the agent said, without cards."""
        return [e["markdown"] for e in await self.entries(room) if e["author"] == "agent" and e["kind"] != "approval"]

    async def told(self, room: str, count: int = 1) -> list[str]:
        """The agent's replies once there are `count`."""

        async def look() -> list[str] | None:
            replies = await self.replies(room)
            return replies if len(replies) >= count else None

        return await until(look, f"{count} replies in {room}")

    async def settled(self, room: str) -> list[str]:
        """The agent's replies once nothing in the room is worked on."""

        async def look() -> list[str] | None:
            answer = await self.get(f"/api/rooms/{room}/timeline")
            return None if answer.body["busy"] else await self.replies(room)

        return await until(look, f"an end of the work in {room}")

    async def ask(self, room: str, text: str) -> str:
        """Say something and wait for the reply to it."""
        before = len(await self.replies(room))
        await self.say(room, text)

        async def look() -> str | None:
            replies = await self.replies(room)
            return replies[-1] if len(replies) > before else None

        return await until(look, f"a reply to {text!r}")

    async def cards(self, room: str, count: int = 1) -> list[Json]:
        """The cards of the room, oldest first, once there are `count` of them."""

        async def look() -> list[Json] | None:
            cards = [e for e in await self.entries(room) if e.get("kind") == "approval"]
            return cards if len(cards) >= count else None

        return await until(look, f"{count} cards")

    async def question(self, room: str, text: str) -> str:
        """Ask for something that needs a yes; the id of the approval."""
        before = [e for e in await self.entries(room) if e.get("kind") == "approval"]
        await self.say(room, text)
        return approval_of((await self.cards(room, len(before) + 1))[-1])


def approval_of(card: Json) -> str:
    """The id on an open card's buttons."""
    (approval,) = {button["approval_id"] for button in card["buttons"]}
    return str(approval)


@asynccontextmanager
async def visiting(link: str) -> AsyncIterator[Visitor]:
    """Somebody who opened `link`."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    jar = aiohttp.CookieJar(unsafe=True)  # for an address that is a number
    connector = aiohttp.TCPConnector(force_close=True)  # no connection is left over from a life that was killed
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=timeout, connector=connector) as http:
        async with http.get(link, headers={"Sec-Fetch-Site": "none"}) as page:
            assert page.status == 200, await page.text()
        yield Visitor(http, link.partition("/link/")[0])


async def until(look: Callable[[], Awaitable[T | None]], what: str, seconds: float = PATIENCE) -> T:
    """What `look` gives once it gives something. Errors: AssertionError names what did not come."""
    end = asyncio.get_running_loop().time() + seconds
    while (found := await look()) is None:
        assert asyncio.get_running_loop().time() < end, f"within {seconds:g} s there was no sign of {what}"
        await asyncio.sleep(GLANCE)
    return found


async def _object(answer: aiohttp.ClientResponse) -> Json:
    if answer.content_type != "application/json":
        return {"text": await answer.text()}
    body = await answer.json()
    return body if isinstance(body, dict) else {"rows": body}
