"""The fake channel: what the suite was first tried on, and a small model for a rig."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from runtime.contract import Address, ChannelAdapter, Given, Identity
from tests.contract.adapters.rig import Event, Limit, OnScreen, Place, Press, RigMaker, Rooms, Skill, Trouble, platform
from tests.fakes.channel import Channel, ChannelKind
from tests.fakes.channel_adapter import LIMIT, FakeAdapter
from tests.fakes.channel_board import Post
from tests.fakes.channel_driver import Driver
from tests.fakes.channel_faults import Do

NOT_HERE: Final = "the fake channel is rooms of one person and nothing more"
LACKS: Final[Mapping[Skill, str]] = {
    **dict.fromkeys((Skill.SHARED, Skill.THREADS, Skill.BOTS, Skill.EDITED, Skill.FILES, Skill.MENTIONS), NOT_HERE),
    Skill.SIGNED: "the fake channel is asked for events and sends none",
    Skill.SOCKET: "the fake channel is asked for events, by one request after the other",
    Skill.DEAF: "the fake channel is asked for events, and answers or does not",
    Skill.TOKEN: "the fake channel has no tokens",
}
FAULTS: Final[Mapping[Trouble, Do]] = {
    Trouble.RATE: Do.BUSY,
    Trouble.ERROR: Do.ERROR,
    Trouble.CUT_BEFORE: Do.CUT_BEFORE,
    Trouble.CUT_AFTER: Do.CUT_AFTER,
    Trouble.CUT_LATE: Do.CUT_LATE,
    Trouble.CLOSED: Do.FORBIDDEN,
    Trouble.FORM: Do.FORM,
}


class FakeRig:
    """`ada` alone in each room."""

    name = "fake"
    channel = "fake"
    lacks = LACKS
    owner = Identity("fake:ada")
    stranger = Identity("fake:bob")
    limit: Limit | None = Limit(LIMIT, len, "characters")

    def __init__(self, url: str) -> None:
        self.url = url
        self._driver = Driver(url)
        self._events: dict[Event, dict[str, Any]] = {}

    # Our side.

    def adapter(self, given: Given, **changes: Any) -> ChannelAdapter:
        pause = timedelta(seconds=0.02)
        return FakeAdapter(base_url=self.url, kind=ChannelKind.LOOKUP, now=given.now, pause=pause, **changes)

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def settings(self) -> Mapping[str, Any]:
        raise NotImplementedError("the real program has no such channel")

    # Places.

    def rooms(self) -> Rooms:
        direct = self.places(1)[0]
        return Rooms(direct, apart=Place(Address("fake", "fake-bot", "apart"), self.stranger))

    def places(self, count: int) -> Sequence[Place]:
        return [Place(Address("fake", "fake-bot", f"r{number}"), self.owner) for number in range(1, count + 1)]

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
        return self._noted(await self._driver.say(text, room=place.address.room, user=name(user or place.user)))

    async def again(self, event: Event) -> None:
        await self._driver.inject({key: value for key, value in self._events[event].items() if key != "seq"})

    async def echo(self, place: Place, text: str) -> Event:
        return self._noted(await self._driver.say(text, room=place.address.room, user="fake-bot"))

    async def edit(self, event: Event, text: str) -> Event:
        raise NotImplementedError(NOT_HERE)

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        return await self.say(place, f"/{name} {argument}".rstrip(), user=user)

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        return await self.forge(place, message, message.button(label).payload, user=user)

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        approval, _, choice = payload.partition(":")
        person = name(user or place.user)
        return self._noted(await self._driver.click(approval, choice, room=place.address.room, user=person))

    async def unsigned(self, place: Place, text: str) -> int:
        raise NotImplementedError(LACKS[Skill.SIGNED])

    def _noted(self, event: dict[str, Any]) -> Event:
        self._events[Event(event["id"])] = event
        return Event(event["id"])

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        screen = await self._driver.screen()
        return [on_screen(post) for post in screen.posts if post.room == place.address.room]

    async def acknowledged(self, event: Event) -> bool:
        return (await self._driver.screen()).acked >= int(self._events[event]["seq"])

    async def notices(self, event: Event) -> Sequence[str]:
        return [notice["text"] for notice in (await self._driver.screen()).notices if notice["event"] == event]

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        if trouble is Trouble.AWAY:
            await self._driver.away()
        else:
            await self._driver.fault(FAULTS[trouble], count=count, seconds=seconds, on=on)

    async def lift(self) -> None:
        await self._driver.lift()


def name(user: Identity) -> str:
    return user.partition(":")[2]


def on_screen(post: Post) -> OnScreen:
    return OnScreen(
        post.id,
        post.body.text,
        tuple(Press(label, f"{approval}:{choice}") for approval, choice, label in post.body.buttons),
        plain=post.body.form == "plain",
        version=post.version,
    )


@asynccontextmanager
async def lookup(folder: Path, *, process: bool = False) -> AsyncIterator[FakeRig]:
    def app(journal: Path) -> web.Application:
        return Channel(kind=ChannelKind.LOOKUP, journal=journal).app()

    async with platform("tests.fakes.channel", app, folder, "--kind", "lookup", process=process) as url:
        yield FakeRig(url)


RIGS: Final[Mapping[str, RigMaker]] = {"fake": lookup}
