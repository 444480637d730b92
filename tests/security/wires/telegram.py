"""Presses of Telegram: asked for, and by its webhook."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sized
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.forms import Seal
from adapters.telegram.settings import TelegramSettings
from bot.testing.serve import serving
from runtime.contract import AdapterContext, Address, ApprovalId, ChannelAdapter, Choice, Field, Form, Identity
from tests.contract.adapters.rigs import telegram as telegram_rig
from tests.contract.adapters.rigs.telegram import BOT
from tests.fakes.telegram import TOKEN, Telegram
from tests.fakes.telegram_people import user
from tests.security.presses import ROBOT, Press
from tests.security.wires.wire import NUMBERS, Sent, Wire, until


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


@asynccontextmanager
async def telegram(hook: int = 0) -> AsyncIterator[Wire]:
    fake = Telegram(acquainted=telegram_rig.ACQUAINTED)
    async with serving(fake.app()) as url:
        rig = telegram_rig.TelegramRig(url)
        await rig.introduce()
        yield TelegramWire(fake, url, hook)
