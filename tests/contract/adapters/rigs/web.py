"""The web page: its platform is a browser, which repeats what was not accepted, and the ledger behind the timeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientConnectionError, ClientSession, CookieJar, FormData, web

from adapters.web.adapter import WebAdapter
from adapters.web.settings import WebSettings
from bot.testing.serve import serving
from runtime.contract import AdapterContext, Address, Author, ChannelAdapter, Entry, Identity, Role
from runtime.http.guard import install
from tests.contract.adapters.rig import Barrier, Event, Limit, OnScreen, Place, Press, RigMaker, Rooms, Skill, Trouble
from tests.contract.adapters.stage import alone
from tests.unit.web.stage import FakeHistory, FakeLinks

IDENTITY: Final = "installation-1"
OUR_COMMIT: Final = "what the page shows is our own commit: nothing is sent that could be lost or refused"
NO_PLATFORM: Final = "the page is served by ourselves: no platform stands between"
LACKS: Final[Mapping[Skill, str]] = {
    **dict.fromkeys((Skill.PLAIN, Skill.RATES, Skill.CLOSES, Skill.CUTS, Skill.SETTLES), OUR_COMMIT),
    **dict.fromkeys((Skill.SOCKET, Skill.DEAF, Skill.TOKEN, Skill.AWAY), NO_PLATFORM),
    **dict.fromkeys((Skill.SHARED, Skill.THREADS, Skill.MENTIONS), "a room of the page is a person and the agent"),
    **dict.fromkeys((Skill.OWN, Skill.BOTS), "only people have links to the page"),
    Skill.EDITED: "the page has no way to change what was said",
    Skill.SPLITS: "the page shows a message of any length",
}
AGAIN_AFTER: Final = 0.02  # seconds until the page repeats what was not accepted


class WebRig:
    """`ada` in her browser. What she says is repeated until it is accepted, as the page does."""

    name = "web"
    channel = "web"
    lacks = LACKS
    stranger = Identity("web:main/bob")
    limit: Limit | None = None
    fixes: Mapping[Barrier, str] = {Barrier.GONE: "say something in it first"}

    def __init__(self, browsing: asyncio.TaskGroup) -> None:
        self._browsing = browsing
        self._links = FakeLinks()
        self._token = self._links.add("Ada", Role.OWNER)
        self.owner = self._links.people[self._token][1]
        self._history = FakeHistory()
        self._served = asyncio.Event()
        self._turn = asyncio.Lock()
        self._base = ""
        self._cookie = ""
        self._numbers = count(1)
        self._requests: dict[Event, tuple[str, dict[str, Any]]] = {}
        self._accepted: dict[Event, Mapping[str, Any]] = {}

    # Our side.

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        ours = replace(given, history=self._history, links=self._links)
        return WebAdapter(WebSettings(**changes), ours, identity=IDENTITY)

    @asynccontextmanager
    async def reachable(self, adapter: ChannelAdapter) -> AsyncIterator[None]:
        assert isinstance(adapter, WebAdapter)
        app = web.Application()
        install(app, ())
        app.add_routes(adapter.routes())
        self._cookie = adapter.authenticator.cookie
        async with serving(app) as self._base:
            self._served.set()
            yield
            self._served.clear()

    def settings(self) -> Mapping[str, Any]:
        raise NotImplementedError("the page is always there and has no account in the settings")

    # Places.

    def rooms(self) -> Rooms:
        return Rooms(direct=self.places(1)[0])

    def places(self, count: int) -> Sequence[Place]:
        return [Place(Address("web", IDENTITY, f"room{number:04}"), self.owner) for number in range(1, count + 1)]

    # What people do.

    async def say(
        self,
        place: Place,
        text: str,
        *,
        user: Identity | None = None,
        mention: bool | None = None,
        files: Mapping[str, bytes] | None = None,
        bot: bool = False,
    ) -> Event:
        room = place.address.room
        paths = [await self._upload(room, name, body) for name, body in (files or {}).items()]
        return self._ask(f"/api/rooms/{room}/messages", {"text": text, "files": paths})

    async def _upload(self, room: str, name: str, body: bytes) -> str:
        form = FormData()
        form.add_field("file", body, filename=name)
        async with self._browser() as http, http.post(f"/api/rooms/{room}/files", data=form) as answer:
            return str((await answer.json())["path"])

    async def again(self, event: Event) -> None:
        await self._try(event)

    async def echo(self, place: Place, text: str) -> Event:
        raise NotImplementedError(LACKS[Skill.OWN])

    async def edit(self, event: Event, text: str) -> Event:
        raise NotImplementedError(LACKS[Skill.EDITED])

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        return await self.say(place, f"/{name} {argument}".rstrip(), user=user)

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        return await self.forge(place, message, message.button(label).payload, user=user)

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        approval, _, choice = payload.partition(":")
        return self._ask(f"/api/approvals/{approval}", {"room": place.address.room, "choice": choice})

    async def remove(self, place: Place, message: OnScreen) -> None:
        raise NotImplementedError("the page has no way to delete a message")

    async def unsigned(self, place: Place, text: str) -> int:
        path = f"{self._base}/api/rooms/{place.address.room}/messages"
        headers = {"Origin": self._base}
        async with (
            ClientSession() as http,
            http.post(path, json={"id": "a" * 8, "text": text}, headers=headers) as told,
        ):
            return told.status

    # The browser.

    def _ask(self, path: str, fields: dict[str, Any]) -> Event:
        event = Event(f"event-{next(self._numbers):04}")
        self._requests[event] = (path, {"id": event, **fields})
        self._browsing.create_task(self._until_accepted(event))
        return event

    async def _until_accepted(self, event: Event) -> None:
        async with self._turn:  # she presses one thing after the other
            while not await self._try(event):  # noqa: ASYNC110 - a browser repeats, nobody tells it when
                await asyncio.sleep(AGAIN_AFTER)

    async def _try(self, event: Event) -> bool:
        path, body = self._requests[event]
        await self._served.wait()
        try:
            async with self._browser() as http, http.post(path, json=body) as answer:
                if answer.status == 503:
                    return False
                answer.raise_for_status()
                self._accepted[event] = await answer.json()
                return True
        except ClientConnectionError:
            return False

    def _browser(self) -> ClientSession:
        jar = CookieJar(unsafe=True)
        jar.update_cookies({self._cookie: self._token})
        return ClientSession(self._base, cookie_jar=jar, headers={"Origin": self._base, "X-Signalbox": "1"})

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        async with self._browser() as http, http.get(f"/api/rooms/{place.address.room}/timeline") as answer:
            return [on_screen(entry) for entry in (await answer.json())["entries"]]

    async def acknowledged(self, event: Event) -> bool:
        return event in self._accepted

    async def notices(self, event: Event) -> Sequence[str]:
        notice = self._accepted.get(event, {}).get("notice")
        return [notice] if notice else []

    async def begin(self, place: Place) -> None:
        self._history.owners[place.address] = place.user

    async def checkpoint(self, place: Place, message_id: str, body: str) -> None:
        """What the courier commits is what is on screen; an id that is there already was edited."""
        entries = self._history.entries.setdefault(place.address, [])
        if message_id in (known := [entry.id for entry in entries]):
            at = known.index(message_id)
            entries[at] = replace(entries[at], body=body, version=entries[at].version + 1)
        else:
            entries.append(Entry(message_id, Author.AGENT, "", datetime.now(UTC), body))

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        raise NotImplementedError(NO_PLATFORM)

    async def bar(self, barrier: Barrier) -> Address:
        return Address("web", IDENTITY, "nobodyspokehere")

    async def lift(self) -> None:
        raise NotImplementedError(NO_PLATFORM)


def on_screen(entry: Mapping[str, Any]) -> OnScreen:
    buttons = [Press(b["label"], f"{b['approval_id']}:{b['choice']}") for b in entry["buttons"]]
    files = tuple(file["name"] for file in entry["files"])
    return OnScreen(entry["id"], entry["markdown"], tuple(buttons), files, version=entry["version"])


@asynccontextmanager
async def page(folder: Path, *, process: bool = False) -> AsyncIterator[WebRig]:
    async with alone(), asyncio.TaskGroup() as browsing:
        yield WebRig(browsing)


RIGS: Final[Mapping[str, RigMaker]] = {"web": page}
