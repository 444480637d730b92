"""Matrix on a real homeserver, through a proxy that cuts and refuses: a direct chat, a shared room and a thread in it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import aiohttp
import pytest

from runtime.contract import AdapterContext, Address, ChannelAdapter, Identity
from runtime.text.lengths import utf8
from signalbox_matrix.adapter import MatrixAdapter
from signalbox_matrix.choices import CHOICES_KEY, offered
from signalbox_matrix.outgoing.render import TEXT_MAX_BYTES
from signalbox_matrix.outgoing.send import REPEAT_WORDS
from signalbox_matrix.settings import MatrixSettings, Waits
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
)
from tests.fakes import homeserver
from tests.fakes.homeserver import SERVER, Homeserver, User, register
from tests.fakes.homeserver_faults import Proxy

Raw = Mapping[str, Any]

LACKS: Final[Mapping[Skill, str]] = {Skill.SIGNED: "events are fetched by calls of ours"}
FIXES: Final[Mapping[Barrier, str]] = {
    Barrier.GONE: "Invite it there",
    Barrier.OUT: "Invite it again",
    Barrier.MUTE: "power level",
}
SHORT: Final = Waits(
    poll=timedelta(seconds=0.5),
    margin=timedelta(seconds=1),
    call=timedelta(seconds=10),
    connect=timedelta(seconds=2),
    again=timedelta(seconds=0.02),
    again_most=timedelta(seconds=0.1),
    refused=timedelta(seconds=0.1),
    save=timedelta(seconds=0.2),
)
"""Waits of a test."""
NUMBERS: Final = count(1)


@dataclass(frozen=True)
class Cast:
    bot: User
    ada: User
    bob: User


class MatrixRig:
    """One bot user, and two people. Each test has its own."""

    name = channel = "matrix"
    lacks = LACKS
    fixes = FIXES
    limit: Limit | None = Limit(TEXT_MAX_BYTES, utf8, "bytes")

    def __init__(self, server: Homeserver, proxy: Proxy, url: str, cast: Cast) -> None:
        self.server = server
        self.proxy = proxy
        self.url = url
        self.cast = cast
        self.owner = identity(cast.ada)
        self.stranger = identity(cast.bob)
        self._order: dict[str, list[str]] = {}
        self._at: dict[Event, str] = {}
        self._rooms: Rooms | None = None

    # Our side.

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        made = MatrixSettings("mx", self.url, self.cast.bot.token, SHORT)
        return MatrixAdapter(replace(made, **changes), given)

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[Any]:
        return nullcontext()

    def settings(self) -> Mapping[str, Any]:
        return {"name": "mx", "channel": "matrix", "token": self.cast.bot.token, "homeserver": self.url}

    # Places.

    async def introduce(self) -> None:
        cast = self.cast
        direct = await cast.ada.room(cast.bot, direct=True)
        shared = await cast.ada.room(cast.bob, cast.bot, name="Kitchen")
        apart = await cast.bob.room(cast.bot, direct=True)
        root = await cast.bob.send(shared, {"msgtype": "m.text", "body": "a thread begins here"})
        ada, bob = identity(cast.ada), identity(cast.bob)
        self._rooms = Rooms(
            direct=Place(self.address(direct), ada),
            shared=Place(self.address(shared), ada, direct=False),
            thread=Place(self.address(shared, root), ada, direct=False),
            apart=Place(self.address(apart), bob),
        )

    def address(self, room: str, thread: str = "") -> Address:
        return Address("matrix", self.cast.bot.id, room, thread)

    def rooms(self) -> Rooms:
        assert self._rooms
        return self._rooms

    def places(self, count: int) -> Sequence[Place]:
        rooms = self.rooms()
        known = [place for place in (rooms.direct, rooms.shared, rooms.thread, rooms.apart) if place]
        if count > len(known):
            raise ValueError(f"the bot is in {len(known)} places here")
        return known[:count]

    # What people do.

    def _user(self, who: Identity) -> User:
        users = (self.cast.ada, self.cast.bob, self.cast.bot)
        return next(user for user in users if identity(user) == who)

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
        speaker = self.cast.bob if bot else self._user(user or place.user)
        mention = not place.direct if mention is None else mention
        content: dict[str, Any] = {"msgtype": "m.notice" if bot else "m.text", "body": text, "m.mentions": {}}
        if mention:
            content |= {"body": f"Signalbox: {text}", "m.mentions": {"user_ids": [self.cast.bot.id]}}
        for name, held in (files or {}).items():
            uri = await speaker.upload(name, held)
            content |= {
                "msgtype": "m.file",
                "filename": name,
                "url": uri,
                "info": {"size": len(held), "mimetype": "text/plain"},
            }
        return await self._sent(speaker, place, content)

    async def _sent(self, speaker: User, place: Place, content: dict[str, Any], kind: str = "m.room.message") -> Event:
        room, thread = place.address.room, place.address.thread
        if thread and "m.relates_to" not in content:
            content["m.relates_to"] = {"rel_type": "m.thread", "event_id": thread}
        event = Event(await speaker.send(room, content, kind))
        self._order.setdefault(room, []).append(event)
        self._at[event] = room
        return event

    async def again(self, event: Event) -> None:
        room = self._at[event]
        self.proxy.again.append((room, await self.cast.bot.event(room, event)))

    async def echo(self, place: Place, text: str) -> Event:
        return await self._sent(self.cast.bot, place, {"msgtype": "m.text", "body": text})

    async def edit(self, event: Event, text: str) -> Event:
        room = self._at[event]
        before = await self.cast.ada.event(room, event)
        speaker = self._user(Identity(f"matrix:{before['sender']}"))
        made = {"msgtype": "m.text", "body": text, "m.mentions": {}}
        relates = {"rel_type": "m.replace", "event_id": event}
        content = {"msgtype": "m.text", "body": f"* {text}", "m.new_content": made, "m.relates_to": relates}
        return await self._sent(speaker, Place(self.address(room), identity(speaker)), content)

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        return await self.say(place, f"!{name} {argument}".strip(), user=user, mention=False)

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        """By its emoji, where it has one; else in words with the card's code."""
        card = await self.cast.bot.event(place.address.room, message.id)
        offer = next(one for one in offered(card["content"]) if one.label == label)
        if not offer.emoji:
            return await self._reply(place, message, f"{offer.choice} {offer.code}", user)
        relates = {"rel_type": "m.annotation", "event_id": message.id, "key": offer.emoji}
        return await self._sent(self._user(user or place.user), place, {"m.relates_to": relates}, "m.reaction")

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        return await self._reply(place, message, payload, user)

    async def _reply(self, place: Place, message: OnScreen, text: str, user: Identity | None) -> Event:
        relates = {"m.in_reply_to": {"event_id": message.id}}
        content = {"msgtype": "m.text", "body": text, "m.relates_to": relates, "m.mentions": {}}
        return await self._sent(self._user(user or place.user), place, content)

    async def remove(self, place: Place, message: OnScreen) -> None:
        await self.cast.ada.redact(place.address.room, message.id)

    async def unsigned(self, place: Place, text: str) -> int:
        raise NotImplementedError(LACKS[Skill.SIGNED])

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        events = await self._user(place.user).timeline(place.address.room)
        ours = [event for event in events if event["sender"] == self.cast.bot.id and event["content"]]
        said = [e for e in ours if e["type"] == "m.room.message" and e["content"]["msgtype"] != "m.notice"]
        mine = {event["event_id"] for event in said}
        pressed = {key_of(event) for event in ours if event["type"] == "m.reaction"}
        return [
            on_screen(event, changes_of(event, said), pressed)
            for event in said
            if "m.new_content" not in event["content"] and self._is_in(event, place, mine)
        ]

    def _is_in(self, event: Raw, place: Place, mine: set[str]) -> bool:
        relates = event["content"].get("m.relates_to", {})
        root = str(relates["event_id"]) if relates.get("rel_type") == "m.thread" else ""
        return root == place.address.thread or (not place.address.thread and root in mine)

    async def acknowledged(self, event: Event) -> bool:
        """By the bot's read receipt, which people see as a mark beside the message."""
        room = self._at[event]
        of_room = {"rooms": [room], "timeline": {"limit": 1}, "state": {"types": []}}
        told = await self.cast.ada.call("GET", "/sync", filter=json_of({"room": of_room, "presence": {"types": []}}))
        receipts = told["rooms"]["join"][room]["ephemeral"]["events"]
        read = [
            one for each in receipts for one, by in each["content"].items() if self.cast.bot.id in by.get("m.read", {})
        ]
        order = self._order[room]
        return any(one in order and order.index(one) >= order.index(event) for one in read)

    async def notices(self, event: Event) -> Sequence[str]:
        events = await self.cast.ada.timeline(self._at[event])
        after = events[next(n for n, one in enumerate(events) if one["event_id"] == event) :]
        return [one["content"]["body"] for one in after if one["content"].get("msgtype") == "m.notice"]

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        match trouble:
            case Trouble.DROPPED:
                self.proxy.drop()
            case Trouble.DEAF:
                self.proxy.deafen()
            case Trouble.TOKEN:
                self.proxy.token = True
                self.proxy.drop()
            case Trouble.AWAY:
                self.proxy.away = True
                self.proxy.drop()
            case _:
                self.proxy.add(on, trouble.value, count, seconds)

    async def bar(self, barrier: Barrier) -> Address:
        cast = self.cast
        if barrier is Barrier.GONE:
            return self.address(f"!nowhere:{SERVER}")
        room = await cast.ada.room(cast.bot)
        if barrier is Barrier.OUT:
            await cast.ada.call("POST", f"/rooms/{quote(room)}/kick", {"user_id": cast.bot.id})
        else:
            await cast.ada.state(room, "m.room.power_levels", {"events_default": 50})  # its creator is above all
        return self.address(room)

    async def lift(self) -> None:
        self.proxy.lift()


def identity(user: User) -> Identity:
    return Identity(f"matrix:{user.id}")


def json_of(value: Raw) -> str:
    return json.dumps(value)


def key_of(event: Raw) -> tuple[str, str]:
    relates = event["content"].get("m.relates_to", {})
    return str(relates.get("event_id")), str(relates.get("key"))


def changes_of(event: Raw, said: Sequence[Raw]) -> list[Raw]:
    """The contents by which a message was replaced, in their order."""
    return [
        one["content"]["m.new_content"]
        for one in said
        if "m.new_content" in one["content"] and one["content"]["m.relates_to"]["event_id"] == event["event_id"]
    ]


def on_screen(event: Raw, changes: Sequence[Raw], pressed: set[tuple[str, str]]) -> OnScreen:
    first, number = event["content"], str(event["event_id"])
    content = changes[-1] if changes else first
    relates = first.get("m.relates_to", {})
    answered = str(relates.get("m.in_reply_to", {}).get("event_id", ""))
    root = str(relates.get("event_id", "")) if relates.get("rel_type") == "m.thread" else ""
    return OnScreen(
        number,
        text_of(content),
        presses(content, number, pressed),
        (str(content["filename"]),) if "url" in content else (),
        plain="formatted_body" not in content,
        calls_all=bool(content["m.mentions"].get("room")),
        version=len(changes),
        first=text_of(first),
        first_buttons=presses(first, number, pressed),
        marked=text_of(content).startswith(REPEAT_WORDS),
        reply_to=answered,
        under=root or answered,
    )


def presses(content: Raw, number: str, pressed: set[tuple[str, str]]) -> tuple[Press, ...]:
    """Choices of a card: those that are pressed first have our emoji under the card, and all are named in its text."""
    shown = [one for one in offered(content) if not one.is_pressed_first or (number, one.emoji) in pressed]
    assert all(one.label in text_of(content) for one in shown), content[CHOICES_KEY]
    return tuple(Press(one.label, f"{one.choice} {one.approval}") for one in shown)


class Words(HTMLParser):
    """What a person reads of HTML."""

    BLOCKS = frozenset(
        {"p", "li", "tr", "pre", "blockquote", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "details"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.made = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.made += "\n" if tag in self.BLOCKS and self.made else ""

    def handle_data(self, data: str) -> None:
        self.made += data


def text_of(content: Raw) -> str:
    if "url" in content:
        return "" if content["body"] == content.get("filename") else str(content["body"])
    if "formatted_body" not in content:
        return str(content["body"])
    words = Words()
    words.feed(content["formatted_body"])
    return words.made


@asynccontextmanager
async def synapse(folder: Path, *, process: bool = False) -> AsyncIterator[MatrixRig]:
    if not homeserver.is_installed():
        pytest.skip("Synapse isn't installed: make cuts sets it up")
    server = await homeserver.shared()
    proxy, number = Proxy(server.url), next(NUMBERS)
    async with aiohttp.ClientSession() as http, proxy.serving() as url:
        called = {"bot": "Signalbox", "ada": "Ada", "bob": "Bob"}
        users = [await register(http, server.url, f"{name}{number}", title) for name, title in called.items()]
        rig = MatrixRig(server, proxy, url, Cast(*users))
        await rig.introduce()
        yield rig


RIGS: Final[Mapping[str, RigMaker]] = {"matrix": synapse}
