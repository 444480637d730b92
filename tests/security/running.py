"""One whole process for a suite, with a person of each role and a count of what was tried on it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from bot.operator.client import Client, connected
from bot.server.app import App, build
from bot.server.process import Ready, serving
from bot.settings.settings import Settings
from runtime.contract import Model, Role
from runtime.http.authentication import Authenticator
from tests.unit.bot.settings.test_settings import read

TEXT: Final = (
    'database_url = "sqlite:///:memory:"\n[web]\nport = 0\nhosts = ["bot.example.org"]\n'
    '[operators]\nroom = "web:main/alarms"\n'
    '[[hooks]]\nname = "deploys"\nto = "web:main/deploys"\nsecret = "sesame-open-sesame"\n'
    '[[schedules]]\nname = "morning"\nwhen = "0 9 * * 1-5"\nprompt = "Good morning."\nto = ["web:main/mornings"]\n'
    '[[heartbeats]]\nname = "beat"\nwhen = "0 9 * * 1-5"\ntool = "list_files"\nto = ["web:main/beating"]\n'
)
SECRET: Final = "sesame-open-sesame"
HEADERS: Final = {"X-Signalbox": "1"}


@dataclass
class Answer:
    status: int
    text: str
    headers: Mapping[str, str]
    cookies: Mapping[str, str]


@dataclass
class Running:
    """The process, and how each kind of visitor comes to it: nobody and a stranger with a made-up cookie among them."""

    app: App
    ready: Ready
    api: Client
    cookie: str
    session: aiohttp.ClientSession
    ways: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.ready.control.url

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    async def add(self, name: str, role: Role) -> None:
        if name not in {row["name"] for row in await self.api.people()}:  # an owner is there from the start
            await self.api.add_person(name, role.word)
        self.tokens[name] = (await self.api.link(name))["path"].removeprefix("/link/")
        self.ways[name] = {"Cookie": f"{self.cookie}={self.tokens[name]}"}

    async def ask(self, method: str, path: str, who: str = "nobody", body: object = None, **headers: str) -> Answer:
        """A request as the page makes it, unless `headers` say otherwise; an event stream is left after its head."""
        given = {
            **HEADERS,
            "Origin": self.url,
            **self.ways[who],
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        sent = {name: value for name, value in given.items() if value != "-"}
        url = URL(f"{self.url}{path}", encoded=True)
        async with self.session.request(method, url, headers=sent, json=body, allow_redirects=False) as answer:
            streams = answer.content_type == "text/event-stream"
            text = "" if streams else (await answer.read()).decode(errors="replace")
            cookies = {name: morsel.value for name, morsel in answer.cookies.items()}
            return Answer(answer.status, text, answer.headers, cookies)

    async def say(self, room: str, who: str, text: str = "hello there") -> Answer:
        event = f"event-{random.getrandbits(64):016x}"
        return await self.ask("POST", f"/api/rooms/{room}/messages", who, {"id": event, "text": text})


@asynccontextmanager
async def running(
    folder: Path, text: str = TEXT, model: Model | None = None, settings: Settings | None = None
) -> AsyncIterator[Running]:
    """Without `settings`, those of a file that says `text`."""
    made: list[App] = []

    async def make(settings: Settings) -> App:
        made.append(await build(settings, model=model))
        return made[-1]

    jar = aiohttp.DummyCookieJar()
    async with (
        serving(settings or read(folder, text), make=make, with_link=False) as ready,
        connected(ready.control) as api,
        aiohttp.ClientSession(cookie_jar=jar) as session,
    ):
        app = made[0]
        identity = await app.store.cluster.account_identity("web", "main", "")
        one = Running(app, ready, api, Authenticator(links=app.store.people, identity=identity).cookie, session)
        one.ways = {"nobody": {}, "stranger": {"Cookie": f"{one.cookie}=guessed"}}
        one.ways["holder"] = {"Authorization": f"Bearer {ready.control.token}"}
        for role in Role:
            await one.add(role.word, role)
        yield one


async def raw(url: str, *pieces: bytes) -> int:
    """The status of a request that no client would send; 0 where the connection just ends."""
    place = URL(url)
    reader, writer = await asyncio.open_connection(place.host, place.port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(30):
            head = await reader.readline()
    except ConnectionError:
        return 0
    finally:
        writer.close()
    return int(head.split()[1]) if head else 0
