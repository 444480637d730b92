"""The web channel on a stage: the real adapter behind a real server, with hand-made neighbours."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import BinaryIO

from aiohttp import ClientSession, CookieJar, web
from aiohttp.test_utils import TestServer

from adapters.web.adapter import WebAdapter
from adapters.web.settings import WebSettings
from runtime.contract import (
    BOUNDLESS,
    AdapterContext,
    Address,
    Author,
    Button,
    Clicked,
    Content,
    Delivery,
    DeliveryId,
    Entry,
    Identity,
    Kind,
    Outcome,
    Person,
    PersonId,
    Reaction,
    ReadClosed,
    ReadInbox,
    Role,
    Room,
    Said,
    Seen,
    Signal,
    SignalId,
    Space,
    Verdict,
    View,
    WorkBehind,
    empty_inbox,
    none_closed,
    room_topic,
)
from runtime.errors import StoreError
from runtime.http.guard import install
from runtime.workspace.safe_fs import reading

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)
IDENTITY = "installation-1"
ADAS_ROOM = "room01"
"""Ada has spoken there before."""


class HandClock:
    """A clock that goes one second a look, so that everything has its own time."""

    def __init__(self, start: datetime = NOON) -> None:
        self.at = start

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


class FakeNotifier:
    def __init__(self) -> None:
        self._waiting: set[tuple[frozenset[str], asyncio.Queue[str]]] = set()
        self._called: list[tuple[Callable[[str], None], tuple[str, ...]]] = []

    def notify(self, topic: str) -> None:
        for topics, queue in self._waiting:
            if topic in topics:
                queue.put_nowait(topic)
        for told, topics_told in list(self._called):
            if topic in topics_told:
                told(topic)

    @contextmanager
    def calling(self, told: Callable[[str], None], *topics: str) -> Iterator[None]:
        self._called.append(entry := (told, topics))
        try:
            yield
        finally:
            self._called.remove(entry)

    async def listen(self, *topics: str) -> AsyncIterator[str]:
        entry = (frozenset(topics), asyncio.Queue[str]())
        self._waiting.add(entry)
        try:
            while True:
                yield await entry[1].get()
        finally:
            self._waiting.discard(entry)

    @property
    def listeners(self) -> int:
        return len(self._waiting) + len(self._called)


class FakeHistory:
    """What was committed, in lists."""

    def __init__(self) -> None:
        self.entries: dict[Address, list[Entry]] = {}
        self.owners: dict[Address, Identity] = {}
        self.busy_rooms: set[Address] = set()
        self.behind: dict[tuple[Address, str], WorkBehind] = {}
        self.read: list[int] = []  # how many entries each view was asked for

    async def rooms(self, channel: str, account: str, owner: Identity) -> list[Room]:
        here = (channel, account)
        mine = [
            a for a, o in self.owners.items() if o == owner and a in self.entries and (a.channel, a.account) == here
        ]
        rooms = [self._room(address) for address in mine]
        return sorted(rooms, key=lambda room: room.last_at, reverse=True)

    def _room(self, address: Address) -> Room:
        entries = self.entries[address]
        waiting = sum('"approve"' in entry.body for entry in entries if entry.author is Author.AGENT)
        return Room(address, entries[0].body[:60], entries[-1].at, waiting)

    async def own_rooms(self, channel: str, account: str, owner: Identity) -> frozenset[Address]:
        here = (channel, account)
        return frozenset(a for a, who in self.owners.items() if who == owner and (a.channel, a.account) == here)

    async def room_owner(self, address: Address) -> Identity | None:
        return self.owners.get(address)

    async def is_untouched(self, address: Address) -> bool:
        return address not in self.owners and address not in self.entries

    async def view(
        self,
        address: Address,
        *,
        before: datetime | None = None,
        after: datetime | None = None,
        around: str = "",
        limit: int = 200,
    ) -> View:
        older = [e for e in self.entries.get(address, []) if before is None or e.at < before]
        self.read.append(limit)
        edited = {e.id: e.version for e in older[:-limit] if e.version}
        return View(tuple(older[-limit:]), address in self.busy_rooms, edited=edited)

    async def work_behind(self, address: Address, entry_id: str) -> WorkBehind:
        return self.behind.get((address, entry_id), WorkBehind())


class FakeLinks:
    def __init__(self) -> None:
        self.people: dict[str, tuple[Person, Identity]] = {}
        self.once: dict[str, str] = {}
        self.sessions: dict[str, str] = {}

    def add(self, name: str, role: Role) -> str:
        """A person with a link; their token."""
        identity = Identity(f"web:main/{name.lower()}")
        self.people[f"token-of-{name.lower()}"] = (Person(PersonId(name.lower()), name, role), identity)
        return f"token-of-{name.lower()}"

    async def person_of(self, token: str, *, fresh: bool = False) -> tuple[Person, Identity] | None:
        return self.people.get(self.sessions.get(token, token))

    def invite(self, name: str, role: Role) -> str:
        """A person with a link for one use; its token."""
        self.once[f"once-{name.lower()}"] = self.add(name, role)
        return f"once-{name.lower()}"

    async def invited(self, token: str) -> Person | None:
        lasting = self.once.get(token)
        return self.people[lasting][0] if lasting else None

    async def linked(self, token: str) -> Person | None:
        return self.people[token][0] if token in self.people else None

    async def redeem(self, token: str, browser: str = "") -> str | None:
        lasting = self.once.pop(token, token if token in self.people else None)
        if lasting is None:
            return None
        session = f"session-{len(self.sessions) + 1}-of-{lasting}"
        self.sessions[session] = lasting
        return session

    async def leave(self, token: str) -> None:
        self.sessions.pop(token, None)


class FakeWorkspaces:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.admitted: list[int] = []

    def folder(self, address: Address) -> Path:
        folder = self._root / address.room
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def open(self, address: Address, path: str) -> AbstractContextManager[BinaryIO]:
        return reading(self.folder(address), path)

    def admit(self, made: int) -> None:
        self.admitted.append(os.fstat(made).st_ino)


class FakeSink:
    """Takes in what it is given, once a key; `away` counts the tries that fail first."""

    def __init__(self, history: FakeHistory, notifier: FakeNotifier) -> None:
        self._history = history
        self._notifier = notifier
        self.taken: dict[str, Signal] = {}
        self.away = 0
        self.answer = Verdict(Outcome.ACCEPTED, SignalId(""))

    async def __call__(self, signal: Signal) -> Verdict:
        if self.away:
            self.away -= 1
            raise StoreError("database is locked")
        signal_id = SignalId(f"s-{signal.dedupe_key}")
        if signal.dedupe_key in self.taken:
            return Verdict(Outcome.DUPLICATE, signal_id)
        self.taken[signal.dedupe_key] = signal
        if isinstance(signal.body, Said):
            self._history.owners.setdefault(signal.address, signal.actor)
            entry = Entry(
                str(signal_id),
                Author.PERSON,
                signal.actor_name,
                signal.received_at,
                signal.body.text,
                signal.body.files,
            )
            self._history.entries.setdefault(signal.address, []).append(entry)
        self._notifier.notify(room_topic(signal.address))
        return replace(self.answer, signal_id=signal_id)

    @property
    def bodies(self) -> list[object]:
        return [signal.body for signal in self.taken.values()]

    @property
    def clicks(self) -> list[Clicked]:
        return [body for body in self.bodies if isinstance(body, Clicked)]


@dataclass
class FakeRatings:
    """Ratings that were taken; a delivery called "gone" is none that can be rated."""

    taken: list[Reaction] = field(default_factory=list)

    async def rate(self, reaction: Reaction) -> bool:
        self.taken.append(reaction)
        return reaction.delivery != "gone"

    async def marks(self, who: Identity, room: Address) -> dict[str, int]:
        return {
            one.delivery: 1 if "👍" in one.added else -1
            for one in self.taken
            if one.added and one.actor == who and one.delivery != "gone"
        }


@dataclass
class Stage:
    """Everything around one adapter. `base` is where its server listens."""

    adapter: WebAdapter
    history: FakeHistory
    links: FakeLinks
    workspaces: FakeWorkspaces
    notifier: FakeNotifier
    sink: FakeSink
    clock: HandClock
    ratings: FakeRatings
    base: str = ""
    numbers: count[int] = field(default_factory=lambda: count(1))

    def show(self, room: str, text: str, buttons: tuple[Button, ...] = (), kind: Kind = Kind.FINAL) -> str:
        """Commit an agent's message as the courier would; its entry's id."""
        address = self.address(room)
        number = f"d{next(self.numbers)}"
        delivery = Delivery(DeliveryId(number), "run:1", 0, kind, address, Content(text, buttons))
        (wire,) = self.adapter.render(delivery)
        entry = Entry(number, Author.AGENT, "", self.clock(), wire.body)
        self.history.entries.setdefault(address, []).append(entry)
        self.notifier.notify(room_topic(address))
        return number

    def change(self, room: str, entry_id: str, text: str) -> None:
        """Edit a shown message: its body and version."""
        address = self.address(room)
        delivery = Delivery(DeliveryId(entry_id), "run:1", 0, Kind.APPROVAL, address, Content(text))
        (wire,) = self.adapter.render(delivery)
        self.history.entries[address] = [
            replace(e, body=wire.body, version=e.version + 1) if e.id == entry_id else e
            for e in self.history.entries[address]
        ]
        self.notifier.notify(room_topic(address))

    def address(self, room: str) -> Address:
        return Address("web", IDENTITY, room)

    def client(self, token: str | None = None, **headers: str) -> ClientSession:
        """A client as a browser at our page is one: with the cookie of `token` and the page's own headers."""
        cookies = {self.adapter.authenticator.cookie: token} if token else None
        defaults = {"Origin": self.base, "X-Signalbox": "1", **headers}
        return ClientSession(self.base, cookies=cookies, headers=defaults, cookie_jar=CookieJar(unsafe=True))


class NoPlaces:
    """The page asks nothing about rooms."""

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        return []

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        return None

    async def moved(self, channel: str, account: str) -> Mapping[str, str]:
        return {}

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        return []

    async def unsettled(self, channel: str, account: str) -> list[Address]:
        return []


def build(
    root: Path,
    *,
    settings: WebSettings | None = None,
    banner: str = "",
    clock: HandClock | None = None,
    space: Space = BOUNDLESS,
    inbox: ReadInbox = empty_inbox,
    closed: ReadClosed = none_closed,
) -> Stage:
    history, links, workspaces, notifier, clock = (
        FakeHistory(),
        FakeLinks(),
        FakeWorkspaces(root),
        FakeNotifier(),
        clock or HandClock(),
    )
    ids = count(1)
    ratings = FakeRatings()
    given = AdapterContext(
        history,
        links,
        workspaces,
        NoPlaces(),
        notifier,
        clock,
        lambda: f"id{next(ids)}",
        inbox=inbox,
        closed=closed,
        rated=ratings.rate,
        own_marks=ratings.marks,
    )
    adapter = WebAdapter(settings or WebSettings(), given, identity=IDENTITY, banner=banner, space=space)
    stage = Stage(adapter, history, links, workspaces, notifier, FakeSink(history, notifier), clock, ratings)
    history.owners[stage.address(ADAS_ROOM)] = Identity("web:main/ada")
    return stage


def application(stage: Stage, settings: WebSettings | None = None) -> web.Application:
    app = web.Application()
    install(app, (settings or WebSettings()).hosts)
    app.add_routes(stage.adapter.routes())
    return app


@asynccontextmanager
async def served(
    root: Path,
    *,
    settings: WebSettings | None = None,
    banner: str = "",
    space: Space = BOUNDLESS,
    inbox: ReadInbox = empty_inbox,
    closed: ReadClosed = none_closed,
) -> AsyncIterator[Stage]:
    """A stage whose adapter listens and whose server answers until the block ends."""
    stage = build(root, settings=settings, banner=banner, space=space, inbox=inbox, closed=closed)
    async with TestServer(application(stage, settings)) as server:
        stage.base = str(server.make_url("")).rstrip("/")
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(stage.adapter.listen(stage.sink))
            await asyncio.sleep(0)
            try:
                yield stage
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening


def text_of(entry: Entry) -> str:
    """The Markdown of an agent's entry."""
    return str(json.loads(entry.body)["markdown"])
