"""Presses of the page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sized
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from typing import Final
from urllib.parse import quote

import aiohttp
from aiohttp import web
from yarl import URL

from adapters.web.adapter import WebAdapter
from adapters.web.settings import WebSettings
from bot.testing.serve import serving
from runtime.contract import REASON, AdapterContext, Address, ChannelAdapter, Identity
from runtime.http.guard import install
from tests.security.presses import Press, Raw
from tests.security.wires.wire import Sent, Wire

PAGE: Final = "installation-1"


@dataclass
class WebWire:
    http: aiohttp.ClientSession
    name: str = "web"
    rooms: tuple[Address, Address] = (Address("web", PAGE, "room0001"), Address("web", PAGE, "room0002"))
    cards: list[str] = field(default_factory=list)
    has_form: bool = True
    has_alone: bool = True
    heard: Mapping[str, Sized] = field(default_factory=dict)
    identities: dict[str, Identity] = field(default_factory=dict)
    _base: str = ""
    _cookie: str = ""
    _numbers: count[int] = field(default_factory=count)
    _asked: dict[str, Raw] = field(default_factory=dict)

    def identity(self, name: str) -> Identity:
        return self.identities.get(name, Identity(f"web:main/{name}"))

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        return WebAdapter(WebSettings(), given, identity=PAGE)

    @asynccontextmanager
    async def reachable(self, adapter: ChannelAdapter) -> AsyncIterator[None]:
        assert isinstance(adapter, WebAdapter)
        app = web.Application()
        install(app, ())
        app.add_routes(adapter.routes())
        self._cookie = adapter.authenticator.cookie
        async with serving(app) as self._base:
            yield

    async def send(self, press: Press) -> Sent:
        approval, _, choice = press.payload.rpartition(":")
        event = f"event-{next(self._numbers):06}"
        asked: Raw = {
            "path": quote(approval.encode("utf-8", "surrogatepass"), safe=""),
            "json": {
                "id": event,
                "room": self.rooms[press.room].room,
                "choice": choice,
                "reason": press.reason or "",
                **({"values": press.values} if press.values is not None else {}),
                **({"reason": press.values[REASON]} if press.values and REASON in press.values else {}),
                **({"inbox": True} if press.alone else {}),
            },
            "headers": {"Origin": self._base, "X-Signalbox": "1", "Cookie": f"{self._cookie}={token_of(press.who)}"},
        }
        if press.twist:
            press.twist(asked)
        key = f"{self.identity(press.who)}#{event}"
        self._asked[key] = asked
        return await self._posted(key)

    async def again(self, sent: Sent) -> Sent:
        return await self._posted(sent.key)

    async def _posted(self, key: str) -> Sent:
        asked = self._asked[key]
        body = asked["data"] if "data" in asked else json.dumps(asked["json"]).encode()
        headers = {"Content-Type": "application/json", **asked["headers"]}
        url = URL(f"{self._base}/api/approvals/{asked['path']}", encoded=True)
        async with self.http.post(url, data=BytesIO(body), headers=headers) as answer:
            told = await answer.json(content_type=None) if answer.status == 200 else {}
            assert answer.status == 200 or 400 <= answer.status < 500, f"{key}: {answer.status}"
        return Sent(key, told.get("notice"))


def token_of(name: str) -> str:
    """The link of a person on the page."""
    return f"token-of-{name}"


@asynccontextmanager
async def page() -> AsyncIterator[Wire]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        yield WebWire(http)
