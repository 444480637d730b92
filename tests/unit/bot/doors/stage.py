"""The REST API on a stage: the real doors behind the real guard, over conversations and people in lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final, cast

from aiohttp import ClientSession, DummyCookieJar, web
from aiohttp.test_utils import TestServer

from bot.auth.layer import NO_AUTH, AuthLayer
from bot.doors.routes import DOOR_PATHS, door_routes
from bot.operator.context import OperatorContext
from runtime.contract import Address, Author, Entry, FoundEntry, Identity, Person, PersonId, Role, RoomMark
from runtime.domain.programs.token import ProgramToken
from runtime.http.authentication import Authenticator
from runtime.http.guard import install
from runtime.store.store import Store
from tests.unit.web.stage import IDENTITY, FakeHistory, FakeLinks, FakeNotifier, FakeSink, HandClock

AT: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
OURS: Final = {"X-Signalbox": "1"}
OWN_HOST: Final = "bot.example.org"
NAMED_ROOM: Final = "alarms"
"""The settings send something there."""


class KeptTokens:
    """Tokens of programs, by their secrets."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[ProgramToken, Person]] = {}

    def add(self, name: str, role: Role) -> str:
        person = Person(PersonId(name), name, role)
        self.kept[f"sbx_{name}"] = (ProgramToken(name=name, role=role), person)
        return f"sbx_{name}"

    async def token_of(self, secret: str) -> tuple[ProgramToken, Person] | None:
        return self.kept.get(secret)

    async def note_use(self, name: str) -> None:
        """Uses aren't looked at here."""


class KeptShelf:
    """Marks that people made, and where was looked for words."""

    def __init__(self) -> None:
        self.marks: list[tuple[Identity, str, RoomMark]] = []
        self.asked: list[tuple[list[str], str]] = []
        self.restored: list[tuple[Identity, str, str]] = []

    async def mark_room(self, owner: Identity, address: Address, mark: RoomMark) -> None:
        self.marks.append((owner, address.room, mark))

    async def restore_room(self, owner: Identity, name: str, address: Address) -> bool:
        self.restored.append((owner, name, address.room))
        return len(self.restored) == 1

    async def find(self, addresses: Sequence[Address], wanted: str) -> list[FoundEntry]:
        self.asked.append(([one.room for one in addresses], wanted))
        return [FoundEntry(one, "e1", Author.AGENT, "", AT, f"before\n\n{wanted} after") for one in addresses]


@dataclass
class DoorStage:
    """The site, and who may ask it."""

    history: FakeHistory = field(default_factory=FakeHistory)
    links: FakeLinks = field(default_factory=FakeLinks)
    tokens: KeptTokens = field(default_factory=KeptTokens)
    shelf: KeptShelf = field(default_factory=KeptShelf)
    auth: AuthLayer = NO_AUTH
    url: str = ""
    session: ClientSession | None = None

    def spoke(self, name: str, room: str, text: str = "hello") -> None:
        """Somebody began a conversation."""
        address = Address("web", IDENTITY, room)
        self.history.owners[address] = Identity(f"web:main/{name.lower()}")
        self.history.entries[address] = [Entry("s1", Author.PERSON, name, AT, text)]

    def cookie(self, link: str) -> dict[str, str]:
        return {"Cookie": f"{Authenticator(links=self.links, identity=IDENTITY).cookie}={link}"}

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: object = None
    ) -> tuple[int, dict[str, Any]]:
        """A request with just these headers."""
        assert self.session
        async with self.session.request(method, self.url + path, headers=headers, json=body) as answer:
            told = await answer.json(content_type=None) if "json" in answer.content_type else {}
            return answer.status, told

    async def by(self, link: str, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """A request as the page sends it."""
        return await self.ask(method, path, {**self.cookie(link), **OURS, "Sec-Fetch-Site": "same-origin"}, body)

    def context(self) -> OperatorContext:
        notifier = FakeNotifier()
        clock = HandClock()
        store = SimpleNamespace(history=self.history, programs=self.tokens, shelf=self.shelf)
        return OperatorContext(
            store=cast(Store, store),
            sink=FakeSink(self.history, notifier),
            links=self.links,
            notifier=notifier,
            web_account=IDENTITY,
            now=clock,
            new_id=lambda: f"id{clock.at.timestamp()}",
            control_token="control",
            named=lambda address: str(replace(address, account="main")),
            is_named=lambda address: address.room == NAMED_ROOM,
            agents=lambda: [{"name": "main"}],
            auth=self.auth,
        )


@asynccontextmanager
async def doors_served(stage: DoorStage | None = None) -> AsyncIterator[DoorStage]:
    stage = stage or DoorStage()
    site = web.Application()
    install(site, [OWN_HOST], webhooks=DOOR_PATHS)
    site.add_routes(door_routes(stage.context()))
    async with TestServer(site) as server, ClientSession(cookie_jar=DummyCookieJar()) as session:
        stage.url, stage.session = str(server.make_url("")).rstrip("/"), session
        yield stage
