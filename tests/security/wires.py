"""How a press comes to us on each channel: the real adapter and its real library, the platform's own words around it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sized
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from typing import Any, Final, Protocol
from urllib.parse import quote

import aiohttp
from aiohttp import web
from yarl import URL

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.interactions import EPHEMERAL
from adapters.discord.settings import DiscordSettings
from adapters.slack.adapter import SlackAdapter
from adapters.slack.interactions import BUTTON, DENIAL, FORM_CALLBACK
from adapters.slack.settings import SlackSettings
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.forms import Seal
from adapters.telegram.settings import TelegramSettings
from adapters.web.adapter import WebAdapter
from adapters.web.settings import WebSettings
from runtime.contract import REASON, AdapterContext, Address, ApprovalId, ChannelAdapter, Choice, Field, Form, Identity
from runtime.http.guard import install
from tests.contract.adapters.rigs import discord as discord_rig
from tests.contract.adapters.rigs import slack as slack_rig
from tests.contract.adapters.rigs import telegram as telegram_rig
from tests.contract.adapters.rigs.telegram import BOT
from tests.fakes.discord import Discord
from tests.fakes.discord_world import BOT as DISCORD_BOT
from tests.fakes.discord_world import FIRST_CHANNEL, GENERAL, OTHER_BOT
from tests.fakes.discord_world import TOKEN as DISCORD_TOKEN
from tests.fakes.ports import free_port
from tests.fakes.serve import serving
from tests.fakes.slack import Slack
from tests.fakes.slack_board import Event
from tests.fakes.slack_delivery import request_body, secret_of, signature
from tests.fakes.telegram import TOKEN, Telegram
from tests.fakes.telegram_people import user
from tests.security.presses import PEOPLE, ROBOT, Press, Raw

TEAM: Final = slack_rig.TEAM
FIRST_PERSON: Final = 5_001
NUMBERS: Final[Mapping[str, int]] = {name: FIRST_PERSON + number for number, name in enumerate(PEOPLE)}
GLANCE: Final = 0.001  # seconds between two looks
PATIENCE: Final = 20.0  # seconds on a busy machine; all of it is there within one


@dataclass(frozen=True, slots=True)
class Sent:
    """A press that the platform was answered about. `key` names its event; `told` is what its sender alone read."""

    key: str
    told: str | None = None


class Wire(Protocol):
    """One account on one platform. `rooms`: the one of the card that is pressed, and another. `cards` stand there."""

    rooms: tuple[Address, Address]
    cards: list[str]
    has_form: bool
    has_alone: bool
    heard: Mapping[str, Sized]
    """What was made of each event, by its key."""

    @property
    def name(self) -> str: ...

    def identity(self, name: str) -> Identity: ...

    def adapter(self, given: AdapterContext) -> ChannelAdapter: ...

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[None]: ...

    async def send(self, press: Press) -> Sent:
        """Once the platform was answered. Errors: AssertionError when it was not, or by an error."""

    async def again(self, sent: Sent) -> Sent:
        """The platform brings the same event once more."""


# ------------------------------------------------------------------------------------------------------------- Slack


@dataclass
class SlackWire:
    slack: Slack
    url: str
    mode: str
    rooms: tuple[Address, Address] = (Address("slack", TEAM, "C1"), Address("slack", TEAM, "C2"))
    cards: list[str] = field(default_factory=list)
    has_form: bool = True
    has_alone: bool = True
    heard: Mapping[str, Sized] = field(default_factory=dict)
    _hook: str = ""
    _events: dict[str, Event] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"slack-{self.mode}"

    def identity(self, name: str) -> Identity:
        return Identity(f"slack:{TEAM}/{self._user(name)}")

    def _user(self, name: str) -> str:
        return "U9" if name == ROBOT else f"U{NUMBERS[name]}"

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        settings = SlackSettings(
            account="work",
            bot_token=f"xoxb-{TEAM}-token",
            app_token=f"xapp-{TEAM}-token",
            signing_secret=secret_of(TEAM),
            mode=self.mode,
            api_base_url=f"{self.url}/api/",
            pace=slack_rig.SHORT,
        )
        return SlackAdapter(settings, given)

    @asynccontextmanager
    async def reachable(self, adapter: ChannelAdapter) -> AsyncIterator[None]:
        assert isinstance(adapter, SlackAdapter)
        app, routes = web.Application(), adapter.routes()
        app.add_routes(routes)
        async with serving(app) as base:
            self._hook = f"{base}{routes[0].path}" if routes else ""
            yield

    async def send(self, press: Press) -> Sent:
        event = self._event(press)
        if press.twist:
            press.twist(event.payload)
        view = event.payload.get("view")
        trigger = str(event.payload.get("trigger_id"))
        key = f"v{view.get('id')}:{trigger}" if isinstance(view, dict) else trigger
        self._events[key] = event
        await self._brought(event, can_read=press.twist is None)
        return Sent(key)

    async def again(self, sent: Sent) -> Sent:
        await self._brought(self._events[sent.key])
        return Sent(sent.key)

    def _event(self, press: Press) -> Event:
        room, person = self.rooms[press.room].room, self._user(press.who)
        if press.values is not None:
            return self._sent(press, press.values)
        if press.reason is None:
            card = self.cards[press.room]
            pressed = {"channel": room, "ts": card, "value": press.payload, "action_id": f"{BUTTON}x"}
            event = self.slack.people.click({**pressed, "user": person})
            if press.alone:
                event.payload["container"]["is_ephemeral"] = True
            return event
        about = {"approval": press.payload.rpartition(":")[0], "room": room, "thread": ""}
        view = {"id": self.slack.board.next_id("V"), "callback_id": DENIAL, "private_metadata": json.dumps(about)}
        values = [["reason", "reason", press.reason]]
        return self.slack.people.submit({"view": view, "values": values, "user": person})

    def _sent(self, press: Press, values: Mapping[str, str]) -> Event:
        """The form behind a button. What it is about comes back as we opened it."""
        approval, _, choice = press.payload.rpartition(":")
        about = {"approval": approval, "choice": choice, "room": self.rooms[press.room].room, "thread": ""}
        known = json.dumps(about | ({"alone": True} if press.alone else {}))
        view = {"id": self.slack.board.next_id("V"), "callback_id": FORM_CALLBACK, "private_metadata": known}
        typed = [[name, name, text] for name, text in values.items()]
        return self.slack.people.submit({"view": view, "values": typed, "user": self._user(press.who)})

    async def _brought(self, event: Event, *, can_read: bool = True) -> None:
        if self._hook:
            status = await self._posted(event)
            assert status == 200 or (status == 400 and not can_read), f"{event.payload} was answered by {status}"
            return
        acked = self.slack.board.acked
        acked.pop(event.id, None)
        self.slack.delivery.tell(event)
        await until(lambda: event.id in acked, f"acknowledgement of {event.payload}")

    async def _posted(self, event: Event) -> int:
        body, kind = request_body(event)
        headers = {**signature(secret_of(event.team), body), "Content-Type": kind}
        async with (
            aiohttp.ClientSession() as http,
            http.post(self._hook, data=body.encode(), headers=headers) as answer,
        ):
            return answer.status


# ---------------------------------------------------------------------------------------------------------- Telegram


@dataclass
class TelegramWire:
    telegram: Telegram
    url: str
    hook: int = 0
    rooms: tuple[Address, Address] = (
        Address("telegram", BOT, str(telegram_rig.GROUP)),
        Address("telegram", BOT, str(telegram_rig.FORUM)),
    )
    cards: list[str] = field(default_factory=list)
    has_form: bool = False
    has_alone: bool = False
    heard: Mapping[str, Sized] = field(default_factory=dict)
    _updates: dict[str, int] = field(default_factory=dict)
    _answers: dict[str, list[str]] = field(default_factory=dict)
    _read: int = 0

    @property
    def name(self) -> str:
        return "telegram-webhook" if self.hook else "telegram"

    def identity(self, name: str) -> Identity:
        return Identity(f"telegram:{NUMBERS[name]}")

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        more: dict[str, Any] = {}
        if self.hook:
            more = {
                "mode": "webhook",
                "webhook_url": f"http://127.0.0.1:{self.hook}",
                "webhook_secret": "s3cret",
            }
        return TelegramAdapter(
            TelegramSettings("tg", TOKEN, api_base_url=self.url, waits=telegram_rig.SHORT, **more), given
        )

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[Any]:
        if not self.hook:
            return nullcontext()
        assert isinstance(adapter, TelegramAdapter)
        app = web.Application()
        app.add_routes(adapter.routes())
        return serving(app, self.hook)

    async def send(self, press: Press) -> Sent:
        if press.values is not None:
            return await self._answer(press, press.values)
        world, chat = self.telegram.world, int(self.rooms[press.room].room)
        query = f"q{len(world.queries) + 1}"
        body = {
            "id": query,
            "from": user(NUMBERS[press.who], bot=press.who == ROBOT),
            "chat_instance": "1",
            "message": world.messages[chat, int(self.cards[press.room].rpartition(":")[2])],
            "data": press.payload,
        }
        if press.twist:
            body = deepcopy(body)
            press.twist(body)
        update = int(world.update("callback_query", body)["update_id"])
        self._updates[f"c{query}"] = update
        self.telegram._news()
        if press.twist:
            done = self.telegram.hook.delivered
            await until(
                lambda: update in done or (not self.hook and world.confirmed > update), f"confirmation of {body}"
            )
            return Sent(f"c{query}")
        return Sent(f"c{query}", await self._answered(query, 0))

    async def _answer(self, press: Press, values: Mapping[str, str]) -> Sent:
        """The answer to a message of ours that asks for the words of a form, which everybody there can give."""
        world, chat = self.telegram.world, self.rooms[press.room].room
        approval, _, choice = press.payload.rpartition(":")
        form = Form(ApprovalId(approval), Choice(choice), "", tuple(Field(name, "") for name in values))
        asking = {
            "message_id": 1,
            "date": 1,
            "chat": world.ensure(int(chat)).told(),
            "from": world.bot,
            "text": f"Answer this message.\n{Seal(TOKEN).line(form, chat)}",
        }
        words = [*values.values()] if len(values) == 1 else [f"{name}: {text}" for name, text in values.items()]
        done = self.telegram.people.do(
            {
                "type": "message",
                "chat": int(chat),
                "user": NUMBERS[press.who],
                "bot": press.who == ROBOT,
                "text": "\n".join(words),
                "more": {"reply_to_message": asking},
            }
        )
        self.telegram._news()
        update, keys = int(done["update_id"]), (f"u{done['update_id']}", f"m{chat}:{done['message_id']}")

        def taken() -> str | None:
            is_over = update in self.telegram.hook.delivered or (not self.hook and world.confirmed > update)
            return next((key for key in keys if key in self.heard), keys[0] if is_over else None)

        await until(lambda: taken() is not None, f"end of {press}")
        return Sent(taken() or keys[0])

    async def again(self, sent: Sent) -> Sent:
        query = sent.key[1:]
        before = len(self._answers.get(query, ()))
        self.telegram.people.do({"type": "again", "update_id": self._updates[sent.key]})
        return Sent(sent.key, await self._answered(query, before))

    async def _answered(self, query: str, before: int) -> str | None:
        def told() -> bool:
            answers = self.telegram.world.answers
            for answer in answers[self._read :]:
                self._answers.setdefault(answer["query"], []).append(answer["text"])
            self._read = len(answers)
            return len(self._answers.get(query, ())) > before

        await until(told, f"answer to {query}")
        return self._answers[query][-1] or None


# ----------------------------------------------------------------------------------------------------------- Discord


@dataclass
class DiscordWire:
    discord: Discord
    url: str
    name: str = "discord"
    rooms: tuple[Address, Address] = (
        Address("discord", DISCORD_BOT, GENERAL),
        Address("discord", DISCORD_BOT, str(FIRST_CHANNEL + 2)),
    )
    cards: list[str] = field(default_factory=list)
    has_form: bool = True
    has_alone: bool = True
    heard: Mapping[str, Sized] = field(default_factory=dict)
    _done: dict[str, str] = field(default_factory=dict)
    _answers: dict[str, str] = field(default_factory=dict)
    _read: int = 0

    def identity(self, name: str) -> Identity:
        return Identity(f"discord:{self._user(name)}")

    def _user(self, name: str) -> str:
        return OTHER_BOT if name == ROBOT else str(NUMBERS[name])

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        settings = DiscordSettings("guild", DISCORD_TOKEN, f"{self.url}/api/v10", waits=discord_rig.SHORT)
        return DiscordAdapter(settings, given)

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def send(self, press: Press) -> Sent:
        asked: Raw = {"message": self.cards[press.room], "user": self._user(press.who), "custom_id": press.payload}
        values = press.values if press.reason is None else {REASON: press.reason}
        typed = {"type": "click"} if values is None else {"type": "submit", "values": values}
        done = self._twisted(press, {**asked, **typed})
        number = str(done["id"])
        self._done[f"i{number}"] = done["event"]
        if press.twist:
            await asyncio.sleep(0.02)  # nobody need answer what cannot be read
            return Sent(f"i{number}")
        await until(lambda: self._told(number), f"answer to {asked}")
        return Sent(f"i{number}", self._answers[number] or None)

    def _twisted(self, press: Press, asked: Raw) -> Raw:
        world, emit = self.discord.world, self.discord.world.emit

        def changed(event: str, data: Raw, guild: str | None) -> None:
            data = deepcopy(data)
            if press.alone:
                data["message"]["flags"] = EPHEMERAL
            if press.twist:
                press.twist(data)
            emit(event, data, guild)

        world.emit = changed
        try:
            return self.discord.people.do(asked, host="fake")
        finally:
            world.emit = emit

    async def again(self, sent: Sent) -> Sent:
        before = len(self.heard[sent.key])
        self.discord.people.do({"type": "again", "event": self._done[sent.key]}, host="fake")
        await until(lambda: len(self.heard[sent.key]) > before, f"{sent.key} once more")
        return sent

    def _told(self, number: str) -> bool:
        answers = self.discord.world.answers
        self._answers |= {answer["interaction"]: answer["text"] for answer in answers[self._read :]}
        self._read = len(answers)
        return number in self._answers


# ---------------------------------------------------------------------------------------------------------- the page

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


# ------------------------------------------------------------------------------------------------------------- wires


@asynccontextmanager
async def slack(mode: str) -> AsyncIterator[Wire]:
    fake = Slack()
    fake.delivery.pace.ack_within, fake.delivery.pace.ping = 30, 0.1
    async with serving(fake.app()) as url:
        yield SlackWire(fake, url, mode)


@asynccontextmanager
async def telegram(hook: int = 0) -> AsyncIterator[Wire]:
    fake = Telegram(acquainted=telegram_rig.ACQUAINTED)
    async with serving(fake.app()) as url:
        rig = telegram_rig.TelegramRig(url)
        await rig.introduce()
        yield TelegramWire(fake, url, hook)


@asynccontextmanager
async def discord() -> AsyncIterator[Wire]:
    fake = Discord(heartbeat=discord_rig.HEARTBEAT)
    fake.interactions.patience = 60
    async with serving(fake.app()) as url:
        yield DiscordWire(fake, url)


@asynccontextmanager
async def page() -> AsyncIterator[Wire]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        yield WebWire(http)


WIRES: Final[Mapping[str, Callable[[], AbstractAsyncContextManager[Wire]]]] = {
    "slack-socket": lambda: slack("socket"),
    "slack-http": lambda: slack("http"),
    "telegram": telegram,
    "telegram-webhook": lambda: telegram(free_port()),
    "discord": discord,
    "web": page,
}


async def until(holds: Callable[[], bool], what: str) -> None:
    """Errors: AssertionError names what did not come."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while not holds():
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(f"within {PATIENCE:g} s there was no {what}")
        await asyncio.sleep(GLANCE)
