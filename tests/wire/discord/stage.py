"""An account at the fake Discord, in this process: the fake itself at hand, and a sink that remembers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from bot.testing.serve import serving
from runtime.contract import (
    Address,
    ApprovalId,
    Button,
    Choice,
    Content,
    Delivery,
    DeliveryId,
    FileRef,
    Kind,
    Part,
)
from tests.contract.adapters.rigs.discord import HEARTBEAT, SHORT, DiscordRig
from tests.contract.adapters.stage import FakePlaces, FakeSink, Stage, stage_for
from tests.fakes.discord import Discord
from tests.fakes.discord_driver import Driver
from tests.fakes.discord_world import BOT, GENERAL, TOKEN

APPROVAL: Final = ApprovalId("A" * 22)
BUTTONS: Final = (Button(APPROVAL, Choice.APPROVE, "Approve"), Button(APPROVAL, Choice.DENY, "Deny"))
CHANNEL: Final = Address("discord", BOT, GENERAL)
ADA: Final = Address("discord", BOT, "942")
CALL: Final = f"<@{BOT}> "


def delivery(
    text: str,
    *buttons: Button,
    address: Address = CHANNEL,
    files: tuple[FileRef, ...] = (),
    text_file: FileRef | None = None,
    kind: Kind = Kind.FINAL,
    reply_to: str = "",
    number: str = "d" * 22,
) -> Delivery:
    content = Content(text, buttons, files, text_file)
    return Delivery(DeliveryId(number), "run:1", 0, kind, address, content, reply_to=reply_to)


@dataclass(frozen=True, slots=True)
class On:
    """Everything around an account."""

    fake: Discord
    stage: Stage
    driver: Driver
    settings: DiscordSettings

    @property
    def sink(self) -> FakeSink:
        return self.stage.sink

    @property
    def places(self) -> FakePlaces:
        return self.stage.places

    def adapter(self, **changes: Any) -> DiscordAdapter:
        return DiscordAdapter(replace(self.settings, **changes), self.stage.given)

    @asynccontextmanager
    async def life(self, *, connected: bool = True, **changes: Any) -> AsyncIterator[DiscordAdapter]:
        async with self.stage.life(connected=connected, **changes) as adapter:
            assert isinstance(adapter, DiscordAdapter)
            yield adapter

    def parts(self, adapter: DiscordAdapter, delivery: Delivery) -> list[Part]:
        return self.stage.parts(adapter, delivery)

    def part(self, text: str = "hello", *buttons: Button, address: Address = CHANNEL, number: str = "p" * 22) -> Part:
        """The one part of a short text."""
        [wire] = self.adapter().render(delivery(text, *buttons, address=address))
        return Part(DeliveryId(number), 1, address, wire.body)

    async def texts(self, channel: str = GENERAL) -> list[str]:
        return (await self.driver.screen()).texts(channel)


@asynccontextmanager
async def stand(folder: Path) -> AsyncIterator[On]:
    fake = Discord(heartbeat=HEARTBEAT)
    async with serving(fake.app()) as url:
        settings = DiscordSettings("guild", TOKEN, f"{url}/api/v10", waits=SHORT)
        yield On(fake, stage_for(DiscordRig(url), folder / "workspaces"), Driver(url), settings)
