"""How people speak and what they see, on the fake channel and on the web page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import uuid4

import aiohttp
from yarl import URL

from bot.testing.channel.adapter import REPEAT_MARK
from bot.testing.channel.driver import Driver
from tests.faults.app import TOKEN
from tests.faults.program import GLANCE, PATIENCE

SETTLED: Final = re.compile(r"(?:[✅❌⌛⚪] )?\**(Approved|Denied|Answered|Expired|Withdrawn)")
CARD: Final = re.compile(r"\**(May I|`?\w+`? was cut off)|" + SETTLED.pattern)
"""How approval cards begin, bold or as the platform draws it; the demo model never begins so."""


@dataclass(frozen=True, slots=True)
class Button:
    approval_id: str
    choice: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One message of the bot as people see it now."""

    text: str
    buttons: tuple[Button, ...] = ()
    marked: bool = False  # it says of itself that it is a repeat

    @property
    def is_card(self) -> bool:
        return CARD.match(self.text) is not None

    @property
    def is_settled_card(self) -> bool:
        return SETTLED.match(self.text) is not None


class Side(Protocol):
    """A channel from the people's side. What it takes, it hands to the bot however often that takes."""

    async def say(self, room: str, text: str) -> None: ...

    async def click(self, room: str, approval_id: str, choice: str, reason: str = "") -> None: ...

    async def seen(self, room: str) -> list[Seen]:
        """The bot's messages in `room`, in the order shown."""


class Reachable(Protocol):
    """A program that is started again whenever it died."""

    async def up(self) -> str:
        """Where it listens, as soon as it does."""


class FakeSide:
    """The platform repeats what is not acknowledged, and `stutter` delivers every event a second time anyway."""

    def __init__(self, driver: Driver, *, stutter: bool = True) -> None:
        self._driver = driver
        self._stutter = stutter

    async def say(self, room: str, text: str) -> None:
        event = await self._driver.say(text, room=room)
        if self._stutter:
            await self._driver.say(text, room=room, id=event["id"], message_id=event["message_id"])

    async def click(self, room: str, approval_id: str, choice: str, reason: str = "") -> None:
        event = await self._driver.click(approval_id, choice, room=room, reason=reason)
        if self._stutter:
            await self._driver.click(approval_id, choice, room=room, reason=reason, id=event["id"])

    async def seen(self, room: str) -> list[Seen]:
        posts = (await self._driver.screen()).posts
        return [seen(p.body.text, [Button(a, c) for a, c, _ in p.body.buttons]) for p in posts if p.room == room]


class WebSide:
    """The page: a request that was cut is repeated with the same id, and `stutter` cuts the first try of each."""

    def __init__(
        self, program: Reachable, http: aiohttp.ClientSession, *, stutter: bool = True, token: str = TOKEN
    ) -> None:
        self._program = program
        self._http = http
        self._stutter = stutter
        self._token = token
        self.refused = 0

    async def say(self, room: str, text: str) -> None:
        await self._post(f"/api/rooms/{room}/messages", {"text": text})

    async def click(self, room: str, approval_id: str, choice: str, reason: str = "") -> None:
        await self._post(f"/api/approvals/{approval_id}", {"room": room, "choice": choice, "reason": reason})

    async def fill(self, room: str, approval_id: str, choice: str, values: Mapping[str, str]) -> None:
        """Send the form behind a button."""
        await self._post(f"/api/approvals/{approval_id}", {"room": room, "choice": choice, "values": dict(values)})

    async def seen(self, room: str) -> list[Seen]:
        told = await self._call("GET", f"/api/rooms/{room}/timeline")
        return [
            seen(e["markdown"], [Button(b["approval_id"], b["choice"]) for b in e["buttons"]])
            for e in told["entries"]
            if e["author"] == "agent"
        ]

    async def _post(self, path: str, fields: dict[str, Any]) -> None:
        event = {"id": uuid4().hex, **fields}
        if self._stutter:
            await self._cut(path, event)
        await self._call("POST", path, event)

    async def _cut(self, path: str, event: dict[str, Any]) -> None:
        """Send the whole request, and hang up as the answer comes."""
        url = URL(await self._program.up())
        body = json.dumps(event).encode()
        cookies = self._http.cookie_jar.filter_cookies(url)
        head = [
            f"POST {path} HTTP/1.1",
            f"Host: {url.host}:{url.port}",
            f"Origin: {url}".rstrip("/"),
            "Cookie: " + "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items()),
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        try:
            reader, writer = await asyncio.open_connection(url.host, url.port)
            writer.write("\r\n".join([*head, "", ""]).encode() + body)
            await reader.read(1)
            writer.close()
        except OSError:
            return  # it is just being killed: then this try was lost on the way

    async def _call(self, method: str, path: str, event: object = None) -> Any:
        async with asyncio.timeout(PATIENCE):
            while True:
                url = await self._program.up()
                try:
                    return await self._try(method, url, path, event)
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(GLANCE)

    async def _try(self, method: str, url: str, path: str, event: object) -> Any:
        if not self._http.cookie_jar.filter_cookies(URL(url)):
            async with self._http.get(f"{url}/link/{self._token}", allow_redirects=False) as door:
                if door.status != 303:
                    raise aiohttp.ClientConnectionError("the owner's link is not there yet")
        async with self._http.request(method, url + path, json=event, headers={"Origin": url}) as answer:
            if answer.status == 503:
                self.refused += 1
                raise aiohttp.ClientConnectionError("not taken in")
            answer.raise_for_status()
            return await answer.json()


def seen(text: str, buttons: Sequence[Button]) -> Seen:
    plain = text.removeprefix(REPEAT_MARK)
    return Seen(plain, tuple(buttons), marked=plain != text)


@asynccontextmanager
async def web_side(program: Reachable, *, stutter: bool = True, token: str = TOKEN) -> AsyncIterator[WebSide]:
    """A browser with its cookies, by loopback address. `token` is its person's."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(total=20)) as http:
        yield WebSide(program, http, stutter=stutter, token=token)
