"""Slack over its sockets, and over signed requests: the same workspace, T1, in which Ada is U1."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession, web

from adapters.slack.adapter import SlackAdapter
from adapters.slack.interactions import BUTTON
from adapters.slack.outgoing.dialect import NOBODY
from adapters.slack.outgoing.send import REPEATED
from adapters.slack.settings import Pace, SlackSettings
from bot.testing.serve import serving
from runtime.contract import WITH_REASON, AdapterContext, Address, ChannelAdapter, Identity
from runtime.markup import parse, to_plain
from runtime.markup.tree import CodeBlock, Document
from tests.contract.adapters.rig import (
    Barrier,
    Event,
    Limit,
    OnScreen,
    Place,
    Press,
    RigMaker,
    Rooms,
    Skill,
    Trouble,
    platform,
)
from tests.fakes.slack import Slack
from tests.fakes.slack_board import LONG_AGO
from tests.fakes.slack_delivery import secret_of
from tests.fakes.slack_driver import Driver, Told, text_of
from tests.fakes.slack_faults import Do
from tests.fakes.slack_teams import BOT_ID, BOT_USER

TEAM: Final = "T1"
MARKDOWN: Final = 12_000
OVER_HTTP: Final[Mapping[Skill, str]] = {
    Skill.SOCKET: "Slack sends requests to us: there is no connection of ours",
    Skill.DEAF: "Slack sends requests to us: there is no connection of ours",
}
OVER_SOCKETS: Final[Mapping[Skill, str]] = {Skill.SIGNED: "events come on a socket that we opened ourselves"}
FAULTS: Final[Mapping[Trouble, Do]] = {
    Trouble.RATE: Do.BUSY,
    Trouble.ERROR: Do.ERROR,
    Trouble.CUT_BEFORE: Do.CUT_BEFORE,
    Trouble.CUT_AFTER: Do.CUT_AFTER,
    Trouble.CUT_LATE: Do.CUT_LATE,
    Trouble.CLOSED: Do.CLOSED,
    Trouble.FORM: Do.FORM,
}
RETRIES: Final = [0.05, 0.1, 0.2, 0.5, *[1] * 60]
"""Seconds between the tries of one event: for a minute, as Slack does for six."""
SHORT: Final = Pace(
    hello=timedelta(seconds=1),
    ping=timedelta(seconds=0.1),
    silent=timedelta(seconds=0.6),
    quiet=timedelta(seconds=60),
    again_first=timedelta(seconds=0.05),
    again_most=timedelta(seconds=0.2),
    refused=timedelta(seconds=0.1),
    retire=timedelta(seconds=1),
    token_check=timedelta(seconds=0.1),
    shares=timedelta(seconds=0.5),
    name_again=timedelta(seconds=0.2),
    home=timedelta(seconds=0.1),
)
"""Waits of a test."""


FIXES: Final[Mapping[Barrier, str]] = {
    Barrier.GONE: "no such channel",
    Barrier.OUT: "/invite @signalbox",
    Barrier.SHUT: "Unarchive",
}


class SlackRig:
    """One app in one workspace."""

    fixes = FIXES

    channel = "slack"
    owner = Identity(f"slack:{TEAM}/U1")
    stranger = Identity(f"slack:{TEAM}/U2")
    limit: Limit | None = Limit(MARKDOWN, len, "characters")

    def __init__(self, url: str, mode: str) -> None:
        self.name = f"slack-{mode}"
        self.lacks = OVER_HTTP if mode == "http" else OVER_SOCKETS
        self.driver = Driver(url)
        self._mode = mode
        self._url = url
        self._told: dict[Event, Told] = {}

    # Our side.

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        settings = SlackSettings(
            account="work",
            bot_token=f"xoxb-{TEAM}-token",
            app_token=f"xapp-{TEAM}-token",
            signing_secret=secret_of(TEAM),
            mode=self._mode,
            api_base_url=f"{self._url}/api/",
            pace=SHORT,
        )
        return SlackAdapter(replace(settings, **changes), given)

    @asynccontextmanager
    async def reachable(self, adapter: ChannelAdapter) -> AsyncIterator[None]:
        assert isinstance(adapter, SlackAdapter)
        routes = adapter.routes()
        if not routes:
            yield
            return
        app = web.Application()
        app.add_routes(routes)
        async with serving(app) as base:
            await self.driver.hook(f"{base}{routes[0].path}")
            yield
            await self.driver.hook("")

    def settings(self) -> Mapping[str, Any]:
        return {
            "name": "work",
            "channel": "slack",
            "mode": self._mode,
            "bot_token": f"xoxb-{TEAM}-token",
            "app_token": f"xapp-{TEAM}-token",
            "signing_secret": secret_of(TEAM),
            "api_base_url": f"{self._url}/api/",
        }

    # Places.

    def rooms(self) -> Rooms:
        return Rooms(self._direct("U1"), self._place("C1"), self._place("C2", thread(1)), self._direct("U2"))

    def places(self, count: int) -> Sequence[Place]:
        """Direct messages; threads of public and private channels and of conversations of several people."""
        return [self._numbered("DCGM"[number % 4], number + 1) for number in range(count)]

    def _numbered(self, kind: str, number: int) -> Place:
        return self._direct(f"U{number}") if kind == "D" else self._place(f"{kind}{number:03}", thread(number))

    def _place(self, channel: str, thread: str = "") -> Place:
        return Place(Address("slack", TEAM, channel, thread), self.owner, direct=False)

    def _direct(self, user: str) -> Place:
        return Place(Address("slack", TEAM, f"D{user}"), Identity(f"slack:{TEAM}/{user}"))

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
        named = f"<@{BOT_USER}> " if (mention if mention is not None else not place.direct) else ""
        more: dict[str, Any] = {"files": {name: data.decode() for name, data in files.items()}} if files else {}
        author = {"user": "U9", "bot_id": "B9"} if bot else {"user": name_of(user or place.user)}
        channel, thread = place.address.room, place.address.thread
        told = await self.driver.say(named + as_slack(text), channel=channel, thread_ts=thread, **author, **more)
        return self._noted(told)

    async def again(self, event: Event) -> None:
        await self.driver.do("again", event=event)

    async def echo(self, place: Place, text: str) -> Event:
        room, thread = place.address.room, place.address.thread
        return self._noted(await self.driver.say(text, channel=room, thread_ts=thread, user=BOT_USER, bot_id=BOT_ID))

    async def edit(self, event: Event, text: str) -> Event:
        told = self._told[event]
        return self._noted(await self.driver.do("edit", channel=told["channel"], ts=told["ts"], text=as_slack(text)))

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        """Slash commands do not work in threads: there people write `!help`."""
        room, person = place.address.room, name_of(user or place.user)
        if place.address.thread:
            return await self.say(place, f"!{name} {argument}".strip(), user=user, mention=False)
        told = await self.driver.do("command", channel=room, user=person, text=f"{name} {argument}".strip())
        return self._noted({**told, "channel": room, "user": person})

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        return await self.forge(place, message, message.button(label).payload, user=user)

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        person = name_of(user or place.user)
        told = await self.driver.do(
            "click", channel=place.address.room, ts=message.id, value=payload, action_id=f"{BUTTON}x", user=person
        )
        return self._noted({**told, "channel": place.address.room, "user": person})

    async def remove(self, place: Place, message: OnScreen) -> None:
        await self.driver.do("delete", channel=place.address.room, ts=message.id)

    async def unsigned(self, place: Place, text: str) -> int:
        screen = await self.driver.screen()
        event = {
            "type": "message",
            "channel": place.address.room,
            "user": "U1",
            "text": text,
            "ts": "1700000000.000001",
        }
        body = {"type": "event_callback", "team_id": TEAM, "event_id": "Ev0", "event": event}
        async with ClientSession() as http, http.post(screen.raw["hooks"][TEAM], json=body) as answer:
            return answer.status

    def _noted(self, told: Told) -> Event:
        self._told[Event(told["id"])] = told
        return Event(told["id"])

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        screen = await self.driver.screen()
        there = place.address.thread
        return [
            on_screen(message) for message in screen.ours(place.address.room) if there in ("", message["thread_ts"])
        ]

    async def acknowledged(self, event: Event) -> bool:
        return event in (await self.driver.screen()).raw["acked"]

    async def notices(self, event: Event) -> Sequence[str]:
        told = self._told[event]
        spoken = (await self.driver.screen()).notices
        return [n["text"] for n in spoken if (n["channel"], n["user"]) == (told["channel"], told["user"])]

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        match trouble:
            case Trouble.AWAY:
                await self.driver.switch(away=True)
            case Trouble.TOKEN:
                await self.driver.switch(token="token_revoked")
            case Trouble.DROPPED:
                await self.driver.sockets("drop")
            case Trouble.DEAF:
                await self.driver.sockets("deafen")
            case _:
                await self.driver.fault(FAULTS[trouble], count=count, seconds=seconds, on=on)

    async def bar(self, barrier: Barrier) -> Address:
        special = {"is_archived": True} if barrier is Barrier.SHUT else {"is_member": False}
        room = "C0NONE" if barrier is Barrier.GONE else "C7"
        await self.driver.switch(rooms={room: special})
        return self._place(room).address

    async def lift(self) -> None:
        await self.driver.lift()


def thread(number: int) -> str:
    """A thread that is there already."""
    return f"{LONG_AGO}{number:06}"


def name_of(user: Identity) -> str:
    """Slack's id of a person."""
    return user.rpartition("/")[2]


def as_slack(text: str) -> str:
    """What a person typed, as Slack sends it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def on_screen(message: Told) -> OnScreen:
    first = message["first"]
    return OnScreen(
        message["ts"],
        read(message),
        presses(message["blocks"]),
        tuple(message["files"]),
        plain=not any(block["type"] == "markdown" for block in message["blocks"]),
        calls_all=calls_all(message),
        version=message["version"],
        first=read(first),
        first_buttons=presses(first["blocks"]),
        marked=REPEATED in text_of(message),
        under=message["thread_ts"],
    )


def read(message: Told) -> str:
    """What a person reads: markup is drawn, and escapes are undone where Slack does so."""
    if any(block["type"] == "markdown" for block in message["blocks"]):
        return to_plain(parse(text_of(message)))
    text = text_of(message)
    return text if message["blocks"] else text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def presses(blocks: Sequence[Told]) -> tuple[Press, ...]:
    """The buttons that carry a choice; the one that opens a form is pressed by tests of its own."""
    elements = [element for block in blocks if block["type"] == "actions" for element in block["elements"]]
    chosen = [element for element in elements if not element["value"].endswith(f":{WITH_REASON}")]
    return tuple(Press(element["text"]["text"], element["value"]) for element in chosen)


def calls_all(message: Told) -> bool:
    """Whether Slack reads a call to everybody in it: in text anywhere, in Markdown outside of code."""
    documents = [parse(block["text"]) for block in message["blocks"] if block["type"] == "markdown"]
    spoken = [to_plain(Document(tuple(b for b in d.blocks if not isinstance(b, CodeBlock)))) for d in documents]
    return any(NOBODY.search(text) for text in spoken) or "<!" in json.dumps([message["text"]])


@asynccontextmanager
async def made(mode: str, folder: Path, *, process: bool = False) -> AsyncIterator[SlackRig]:
    def app(journal: Path) -> web.Application:
        return Slack(journal=journal).app()

    async with platform("tests.fakes.slack", app, folder, process=process) as url:
        rig = SlackRig(url, mode)
        await rig.driver.sockets(ack_within=0.5, ping=0.1, retries=RETRIES)
        yield rig


RIGS: Final[Mapping[str, RigMaker]] = {"slack": partial(made, "socket"), "slack-http": partial(made, "http")}
