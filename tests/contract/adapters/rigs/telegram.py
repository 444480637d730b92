"""Telegram by long polling and by webhook: private chats, groups, supergroups and topics of a forum. Ada is 11."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.outgoing.render import REPEATED
from adapters.telegram.rooms import SUPERGROUPS
from adapters.telegram.settings import TelegramSettings, Waits
from bot.testing.serve import serving
from runtime.contract import WITH_REASON, AdapterContext, Address, ChannelAdapter, Identity
from runtime.text.lengths import utf16
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
from tests.fakes.ports import free_port
from tests.fakes.telegram import TOKEN, Telegram
from tests.fakes.telegram_driver import ADA, BOB, Driver, attached
from tests.fakes.telegram_faults import Do
from tests.fakes.telegram_rules import TEXT
from tests.fakes.telegram_world import Raw

BOT: Final = TOKEN.partition(":")[0]
GROUP: Final = SUPERGROUPS - 1
FORUM: Final = SUPERGROUPS - 2
TOPIC: Final = 5
OTHER_BOT: Final = 900
ACQUAINTED: Final = 2000
INTRODUCED: Final = 8
"""Places in which something happened before a test begins, as in each chat that a bot may write to."""

NO_CALL: Final = "Telegram has no word that calls everybody in a room"
NOT_TOLD: Final = "Telegram tells a bot nothing of its own messages"
LACKS: Final[Mapping[Skill, str]] = {Skill.MENTIONS: NO_CALL, Skill.OWN: NOT_TOLD}
POLLED: Final = {**LACKS, Skill.SIGNED: "updates are fetched by polls of ours"}
HOOKED: Final = {
    **LACKS,
    Skill.SOCKET: "each update is a request of Telegram's own",
    Skill.DEAF: "each update is a request of Telegram's own, and it tells which it could not bring",
}
FAULTS: Final[Mapping[Trouble, Do]] = {
    Trouble.RATE: Do.RATE,
    Trouble.ERROR: Do.ERROR,
    Trouble.CUT_BEFORE: Do.CUT_BEFORE,
    Trouble.CUT_AFTER: Do.CUT_AFTER,
    Trouble.CUT_LATE: Do.CUT_LATE,
    Trouble.CLOSED: Do.CLOSED,
    Trouble.FORM: Do.FORM,
}
SWITCHES: Final[Mapping[Trouble, str]] = {
    Trouble.DROPPED: "drop",
    Trouble.DEAF: "deaf",
    Trouble.TOKEN: "token",
    Trouble.AWAY: "away",
}
SHORT: Final = Waits(
    poll=timedelta(seconds=0.5),
    margin=timedelta(seconds=0.5),
    call=timedelta(seconds=5),
    connect=timedelta(seconds=2),
    album=timedelta(seconds=0.1),
    again=timedelta(seconds=0.02),
    again_most=timedelta(seconds=0.1),
    refused=timedelta(seconds=0.1),
    watch=timedelta(seconds=0.1),
    look=timedelta(seconds=5),
    probe_all=timedelta(),
    probe_chat=timedelta(),
    probe_group=timedelta(),
)
"""Waits of a test."""


FIXES: Final[Mapping[Barrier, str]] = {
    Barrier.GONE: "never in it",
    Barrier.OUT: "Add it again",
    Barrier.MUTE: "permissions",
}
"""Of a topic that is gone or closed Telegram tells only whoever posts there: tdlib/telegram-bot-api#732."""


class TelegramRig:
    """One bot. `hook` is the port at which it receives, 0 when it polls."""

    channel = "telegram"
    fixes = FIXES
    owner = Identity(f"telegram:{ADA}")
    stranger = Identity(f"telegram:{BOB}")
    limit: Limit | None = Limit(TEXT, utf16, "UTF-16 units")

    def __init__(self, url: str, *, hook: int = 0) -> None:
        self.url = url
        self.hook = hook
        self.name = "telegram-webhook" if hook else "telegram"
        self.lacks: Mapping[Skill, str] = HOOKED if hook else POLLED
        self.driver = Driver(url)
        self._done: dict[Event, Raw] = {}

    # Our side.

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        settings = TelegramSettings("tg", TOKEN, api_base_url=self.url, waits=SHORT)
        if self.hook:
            settings = replace(settings, mode="webhook", webhook_url=self._here, webhook_secret="s3cret")
        return TelegramAdapter(replace(settings, **changes), given)

    @property
    def _here(self) -> str:
        return f"http://127.0.0.1:{self.hook}"

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[Any]:
        if not self.hook:
            return nullcontext()
        assert isinstance(adapter, TelegramAdapter)
        app = web.Application()
        app.add_routes(adapter.routes())
        return serving(app, self.hook)

    def settings(self) -> Mapping[str, Any]:
        told = {"name": "tg", "channel": "telegram", "token": TOKEN, "api_base_url": self.url}
        return told | ({"mode": "webhook", "webhook_url": self._here} if self.hook else {})

    # Places.

    def rooms(self) -> Rooms:
        return Rooms(
            direct=place(ADA, user=ADA),
            shared=place(GROUP),
            thread=place(FORUM, topic=TOPIC),
            apart=place(BOB, user=BOB),
        )

    def places(self, count: int) -> Sequence[Place]:
        """Private chats, groups, supergroups and topics of forums, in turn; a forum has three of them."""
        if count > ACQUAINTED:
            raise ValueError(f"the bot is in {ACQUAINTED} places here")
        return [numbered(number) for number in range(1, count + 1)]

    async def introduce(self) -> None:
        rooms = self.rooms()
        for each in (rooms.direct, rooms.shared, rooms.thread, rooms.apart, *self.places(INTRODUCED)):
            if each:
                await self.driver.inject(type="introduce", **where(each), user=number_of(each.user), ago=60)

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
        return self._noted(
            await self.driver.say(
                text,
                **where(place),
                user=OTHER_BOT if bot else number_of(user or place.user),
                mention=mention if mention is not None else not place.direct,
                files=[attached(name, content) for name, content in (files or {}).items()],
                bot=bot,
            ),
            place,
        )

    async def again(self, event: Event) -> None:
        await self.driver.inject(type="again", update_id=self._done[event]["update_id"])

    async def echo(self, place: Place, text: str) -> Event:
        raise NotImplementedError(NOT_TOLD)

    async def edit(self, event: Event, text: str) -> Event:
        told = self._done[event]
        return self._noted(
            await self.driver.inject(type="edit", chat=told["chat"], message_id=told["message_id"], text=text)
        )

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        """As a person picks it from the menu: in a group it then names the bot."""
        named = f"/{name}" if place.direct else f"/{name}@signalbox_bot"
        return await self.say(place, f"{named} {argument}".strip(), user=user, mention=False)

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        return await self.forge(place, message, message.button(label).payload, user=user)

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        person = number_of(user or place.user)
        told = await self.driver.click(int(message.id), payload, chat=where(place)["chat"], user=person)
        return self._noted(told, place)

    async def remove(self, place: Place, message: OnScreen) -> None:
        await self.driver.inject(type="delete", chat=where(place)["chat"], message_id=int(message.id))

    async def unsigned(self, place: Place, text: str) -> int:
        update = {
            "update_id": 1,
            "message": {"message_id": 1, "date": 0, "chat": {"id": ADA, "type": "private"}, "text": text},
        }
        async with aiohttp.ClientSession() as http, http.post(f"{self._here}/telegram/tg", json=update) as response:
            return response.status

    def _noted(self, told: Raw, place: Place | None = None) -> Event:
        event = Event(f"{told.get('query', '')}u{told['update_id']}m{told.get('message_id', '')}")
        self._done[event] = {**told, **(where(place) if place else {})}
        return event

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        chat, topic = where(place)["chat"], where(place).get("thread")
        return [on_screen(m) for m in await self.driver.shown(chat) if m.get("message_thread_id") == topic]

    async def acknowledged(self, event: Event) -> bool:
        told, screen = self._done[event], await self.driver.screen()
        if "query" in told:
            return any(answer["query"] == told["query"] for answer in screen["answers"])
        return bool(told["update_id"] < screen["confirmed"])

    async def notices(self, event: Event) -> Sequence[str]:
        told, screen = self._done[event], await self.driver.screen()
        return [a["text"] for a in screen["answers"] if a["query"] == told.get("query") and a["text"]]

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        if trouble in SWITCHES:
            await self.driver.switch(**{SWITCHES[trouble]: True})
        else:
            await self.driver.fault(FAULTS[trouble], count=count, seconds=seconds, on=on)

    async def bar(self, barrier: Barrier) -> Address:
        match barrier:
            case Barrier.GONE:
                return place(SUPERGROUPS - 404).address
            case Barrier.OUT:
                await self.driver.inject(type="member", chat=SUPERGROUPS - 1077, status="kicked")
                return place(SUPERGROUPS - 1077).address
            case Barrier.MUTE:
                await self.driver.inject(type="mute", chat=SUPERGROUPS - 1078)
                return place(SUPERGROUPS - 1078).address
            case Barrier.SHUT:
                raise NotImplementedError("Telegram does not tell beforehand whether a topic is closed")

    async def lift(self) -> None:
        await self.driver.lift()


def place(chat: int, *, user: int = ADA, topic: int = 0) -> Place:
    address = Address("telegram", BOT, str(chat), str(topic) if topic else "")
    return Place(address, Identity(f"telegram:{user}"), direct=chat > 0)


def numbered(number: int) -> Place:
    match number % 4:
        case 1:
            return place(1000 + number, user=1000 + number)
        case 2:
            return place(-1000 - number)
        case 3:
            return place(SUPERGROUPS - 1000 - number)
        case _:
            return place(SUPERGROUPS - 1004 - 4 * (number // 13), topic=1000 + number)


def where(place: Place) -> Raw:
    topic = {"thread": int(place.address.thread)} if place.address.thread else {}
    return {"chat": int(place.address.room), **topic}


def number_of(user: Identity) -> int:
    return int(user.partition(":")[2])


def on_screen(message: Raw) -> OnScreen:
    text = words(message)
    return OnScreen(
        str(message["message_id"]),
        text,
        presses(message),
        (message["uploaded"],) if message.get("uploaded") else (),
        plain=not message.get("sent_entities"),
        version=message["version"],
        first=words(message["first"]),
        first_buttons=presses(message["first"]),
        marked=text.startswith(REPEATED),
        reply_to=answered(message),
        under=answered(message),
    )


def answered(message: Raw) -> str:
    return str((message.get("reply_to_message") or {}).get("message_id", ""))


def words(message: Raw) -> str:
    return str(message.get("text") or message.get("caption") or "")


def presses(message: Raw) -> tuple[Press, ...]:
    """The buttons that carry a choice; the one that asks for a reason is pressed by tests of its own."""
    buttons = [one for row in (message.get("reply_markup") or {}).get("inline_keyboard", []) for one in row]
    chosen = [one for one in buttons if not one["callback_data"].endswith(f":{WITH_REASON}")]
    return tuple(Press(button["text"], button["callback_data"]) for button in chosen)


@asynccontextmanager
async def _rig(folder: Path, hook: int, *, process: bool) -> AsyncIterator[TelegramRig]:
    def app(journal: Path) -> web.Application:
        return Telegram(journal=journal, acquainted=ACQUAINTED).app()

    async with platform("tests.fakes.telegram", app, folder, "--acquainted", str(ACQUAINTED), process=process) as url:
        rig = TelegramRig(url, hook=hook)
        await rig.introduce()
        yield rig


@asynccontextmanager
async def polling(folder: Path, *, process: bool = False) -> AsyncIterator[TelegramRig]:
    async with _rig(folder, 0, process=process) as rig:
        yield rig


@asynccontextmanager
async def webhook(folder: Path, *, process: bool = False) -> AsyncIterator[TelegramRig]:
    async with _rig(folder, free_port(), process=process) as rig:
        yield rig


RIGS: Final[Mapping[str, RigMaker]] = {"telegram": polling, "telegram-webhook": webhook}
