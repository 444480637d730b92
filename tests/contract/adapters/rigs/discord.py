"""Discord over its gateway: one server with channels and threads, and conversations with one person. Ada is 42."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.outgoing.render import REPEAT_MARK
from adapters.discord.settings import DiscordSettings, Waits
from runtime.contract import WITH_REASON, AdapterContext, Address, ChannelAdapter, Identity
from runtime.markup import parse, to_plain
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
from tests.fakes.discord import Discord
from tests.fakes.discord_driver import Driver
from tests.fakes.discord_faults import Do
from tests.fakes.discord_rules import CONTENT, MARKUP
from tests.fakes.discord_world import BOT, FIRST_CHANNEL, FIRST_THREAD, GENERAL, OTHER_BOT, TOKEN, Record

LACKS: Final[Mapping[Skill, str]] = {
    Skill.ACKNOWLEDGED: "the gateway is not told what became of an event: what is not stored is tried again from memory, "
    "and after a kill read from the history",
    Skill.SIGNED: "events come on a socket that we opened ourselves",
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
SWITCHES: Final[Mapping[Trouble, str]] = {
    Trouble.DROPPED: "drop",
    Trouble.DEAF: "deaf",
    Trouble.TOKEN: "token",
    Trouble.AWAY: "away",
}
HEARTBEAT: Final = 0.4  # seconds; a socket that is silent for longer than `quiet` is deaf
PATIENCE: Final = 15.0  # seconds
SHORT: Final = Waits(
    urge=timedelta(seconds=0.6),
    quiet=timedelta(seconds=1.5),
    identify=timedelta(seconds=0.05),
    guilds=timedelta(seconds=0.5),
    again=timedelta(seconds=0.05),
    again_most=timedelta(seconds=0.2),
    refused=timedelta(seconds=0.1),
    refused_most=timedelta(seconds=0.2),
    store=timedelta(seconds=0.02),
)
"""Waits of a test."""


FIXES: Final[Mapping[Barrier, str]] = {
    Barrier.GONE: "is gone",
    Barrier.OUT: "View Channel",
    Barrier.MUTE: "Send Messages",
    Barrier.SHUT: "locked",
}


class DiscordRig:
    """One bot in one server."""

    fixes = FIXES

    name = "discord"
    channel = "discord"
    lacks = LACKS
    owner = Identity("discord:42")
    stranger = Identity("discord:43")
    limit: Limit | None = Limit(CONTENT, len, "characters")

    def __init__(self, url: str) -> None:
        self.url = url
        self.driver = Driver(url)
        self._done: dict[Event, Record] = {}
        self._came = False

    # Our side.

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        settings = DiscordSettings("guild", TOKEN, f"{self.url}/api/v10", waits=SHORT)
        return DiscordAdapter(replace(settings, **changes), given)

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def settings(self) -> Mapping[str, Any]:
        return {"name": "guild", "channel": "discord", "token": TOKEN, "api_base_url": f"{self.url}/api/v10"}

    # Places.

    def rooms(self) -> Rooms:
        return Rooms(
            direct=self._direct("42"),
            shared=self._shared(GENERAL),
            thread=self._shared(GENERAL, str(FIRST_THREAD)),
            apart=self._direct("43"),
        )

    def places(self, count: int) -> Sequence[Place]:
        """Conversations with one person, channels, threads."""
        return [self._numbered(number) for number in range(1, count + 1)]

    def _numbered(self, number: int) -> Place:
        match number % 3:
            case 1:
                return self._direct(str(1000 + number))
            case 2:
                return self._shared(str(FIRST_CHANNEL + number))
            case _:
                return self._shared(GENERAL, str(FIRST_THREAD + number))

    def _direct(self, user: str) -> Place:
        return Place(Address("discord", BOT, f"9{user}"), Identity(f"discord:{user}"))

    def _shared(self, channel: str, thread: str = "") -> Place:
        return Place(Address("discord", BOT, channel, thread), self.owner, direct=False)

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
        named = f"<@{BOT}> " if (mention if mention is not None else not place.direct) else ""
        author = OTHER_BOT if bot else number_of(user or place.user)
        await self._somebody_listens()
        return self._noted(await self.driver.say(named + text, channel=channel_of(place), user=author, files=files))

    async def _somebody_listens(self) -> None:
        """What was said before the bot came the first time is nobody's question: Discord would not tell of it."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while not self._came and asyncio.get_running_loop().time() < end:
            self._came = bool((await self.driver.screen()).raw["identified"])
            if not self._came:
                await asyncio.sleep(0.05)

    async def again(self, event: Event) -> None:
        await self.driver.do("again", event=event)

    async def echo(self, place: Place, text: str) -> Event:
        return self._noted(await self.driver.do("echo", channel=channel_of(place), text=text))

    async def edit(self, event: Event, text: str) -> Event:
        return self._noted(await self.driver.do("edit", message=self._done[event]["id"], text=text))

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        options = {"text": argument} if argument else {}
        person = number_of(user or place.user)
        return self._noted(await self.driver.command(name, channel=channel_of(place), user=person, **options))

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        return await self.forge(place, message, message.button(label).payload, user=user)

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        return self._noted(await self.driver.click(message.id, payload, user=number_of(user or place.user)))

    async def remove(self, place: Place, message: OnScreen) -> None:
        await self.driver.do("delete", message=message.id)

    async def unsigned(self, place: Place, text: str) -> int:
        raise NotImplementedError(LACKS[Skill.SIGNED])

    def _noted(self, done: Record) -> Event:
        self._done[Event(done["event"])] = done
        return Event(done["event"])

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        screen = await self.driver.screen()
        here = {channel_of(place)} | (set() if place.address.thread else begun_in(place.address.room, screen.raw))
        posts = [message for message in screen.posts() if message["channel_id"] in here]
        return [on_screen(message, under=begins(message["channel_id"], screen.raw)) for message in posts]

    async def acknowledged(self, event: Event) -> bool:
        return bool((await self.driver.screen()).answers(self._done[event]["id"]))

    async def notices(self, event: Event) -> Sequence[str]:
        answers = (await self.driver.screen()).answers(self._done[event]["id"])
        return [answer["text"] for answer in answers if answer["text"]]

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        if trouble in SWITCHES:
            await self.driver.set(**{SWITCHES[trouble]: True})
        else:
            await self.driver.fault(FAULTS[trouble], count=count, seconds=seconds, on=on)

    async def bar(self, barrier: Barrier) -> Address:
        match barrier:
            case Barrier.GONE:
                return self._shared("404").address
            case Barrier.OUT:
                closed = self._shared(str(FIRST_CHANNEL + 77)).address
                await self.driver.do("set", channel=closed.room, changes={"closed": True})
                return closed
            case Barrier.MUTE:
                await self.driver.set(denied=["SEND_MESSAGES"])
                return self._shared(GENERAL).address
            case Barrier.SHUT:
                locked = self._shared(GENERAL, str(FIRST_THREAD + 77)).address
                await self.driver.do("set", channel=locked.thread, changes={"locked": True})
                return locked

    async def lift(self) -> None:
        await self.driver.lift()


def number_of(user: Identity) -> str:
    return user.partition(":")[2]


def channel_of(place: Place) -> str:
    return place.address.thread or place.address.room


def begun_in(room: str, screen: Record) -> set[str]:
    """Threads that a message of this channel began: they have its id."""
    messages = {message["id"] for message in screen["messages"]}
    return {number for number, c in screen["channels"].items() if c.get("parent_id") == room and number in messages}


def begins(channel: str, screen: Record) -> str:
    """The message that this thread began with; empty for any other channel."""
    return channel if channel in {message["id"] for message in screen["messages"]} else ""


def on_screen(message: Record, *, under: str = "") -> OnScreen:
    return OnScreen(
        message["id"],
        read(message["content"]),
        presses(message),
        tuple(file["filename"] for file in message["attachments"]),
        plain=MARKUP.search(message["content"]) is None,
        calls_all=calls_all(message),
        version=message["version"],
        first=read(message["first"]["content"]),
        first_buttons=presses(message["first"]),
        marked=message["content"].startswith(REPEAT_MARK.strip()),
        reply_to=(message.get("message_reference") or {}).get("message_id", ""),
        under=under,
    )


def read(content: str) -> str:
    """What a person reads: Discord draws nearly what CommonMark says."""
    return to_plain(parse(content))


def presses(message: Record) -> tuple[Press, ...]:
    """The buttons that carry a choice; the one that opens a form is pressed by tests of its own."""
    buttons = [button for row in message["components"] for button in row["components"]]
    chosen = [button for button in buttons if not button["custom_id"].endswith(f":{WITH_REASON}")]
    return tuple(Press(button["label"], button["custom_id"]) for button in chosen)


def calls_all(message: Record) -> bool:
    """Whether Discord reads a call to everybody in it, also in code, and nobody took the right away."""
    allowed = message["allowed_mentions"]
    return message["mention_everyone"] and (allowed is None or "everyone" in allowed.get("parse", ()))


@asynccontextmanager
async def gateway(folder: Path, *, process: bool = False) -> AsyncIterator[DiscordRig]:
    def app(journal: Path) -> web.Application:
        return Discord(journal=journal, heartbeat=HEARTBEAT).app()

    async with platform("tests.fakes.discord", app, folder, "--heartbeat", str(HEARTBEAT), process=process) as url:
        yield DiscordRig(url)


RIGS: Final[Mapping[str, RigMaker]] = {"discord": gateway}
