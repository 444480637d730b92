"""Presses of Discord, over its gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sized
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.interactions import EPHEMERAL
from adapters.discord.settings import DiscordSettings
from bot.testing.serve import serving
from runtime.contract import REASON, AdapterContext, Address, ChannelAdapter, Identity
from tests.contract.adapters.rigs import discord as discord_rig
from tests.fakes.discord import Discord
from tests.fakes.discord_world import BOT as DISCORD_BOT
from tests.fakes.discord_world import FIRST_CHANNEL, GENERAL, OTHER_BOT
from tests.fakes.discord_world import TOKEN as DISCORD_TOKEN
from tests.security.presses import ROBOT, Press, Raw
from tests.security.wires.wire import NUMBERS, Sent, Wire, until


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


@asynccontextmanager
async def discord() -> AsyncIterator[Wire]:
    fake = Discord(heartbeat=discord_rig.HEARTBEAT)
    fake.interactions.patience = 60
    async with serving(fake.app()) as url:
        yield DiscordWire(fake, url)
