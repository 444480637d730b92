"""One Discord bot as a channel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import discord
from discord.http import Route

from adapters.discord.errors import ours
from adapters.discord.http import Http
from adapters.discord.incoming.files import Downloads
from adapters.discord.incoming.intake import Intake
from adapters.discord.incoming.shards import Shards
from adapters.discord.interaction_responses import InteractionResponses
from adapters.discord.outgoing.reach import Reach
from adapters.discord.outgoing.render import render
from adapters.discord.outgoing.send import Sending, channel_of
from adapters.discord.parse import CHANNEL
from adapters.discord.rooms import MessageLinks
from adapters.discord.settings import DiscordSettings
from adapters.discord.settle import Settling
from runtime.contract import (
    AdapterContext,
    Address,
    Attempt,
    Bucket,
    ConnectionStatus,
    Delivery,
    Features,
    FileRef,
    Part,
    Receipt,
    Settled,
    Sink,
    Wire,
)
from runtime.http.platform_clock import PlatformClock
from runtime.text.emoji import any_emoji

# Discord's bounds are by its answers alone; these keep below what they were seen to be. Source of the first:
# discord.com/developers/docs/topics/rate-limits#global-rate-limit, read 2026-08.
EVERYWHERE: Final = Bucket("global", 50, timedelta(seconds=1) / 50)
IN_A_CHANNEL: Final = (5, timedelta(seconds=1))  # 5 each 5 s


class DiscordAdapter:
    """One account. Errors of the constructor: ConfigError when the token is none of Discord."""

    channel: str = CHANNEL
    typing_lasts: timedelta = timedelta(seconds=10)

    def __init__(self, settings: DiscordSettings, given: AdapterContext) -> None:
        self.account: str = settings.account
        self.identity: str = settings.identity
        self._http = Http(settings)
        clock = PlatformClock("Discord", given.now)
        self._http.dated = clock.heed
        self._sending = Sending(settings, given, self._http)
        self._settling = Settling(settings, given, self._http, self._sending, clock)
        self._downloads = Downloads(settings, self._http)
        self._reach = Reach(self._http, settings.identity)
        answering = InteractionResponses(settings.account, self._http)
        self._links = MessageLinks()
        make_intake = partial(
            Intake,
            settings,
            given,
            http=self._http,
            sending=self._sending,
            answering=answering,
            links=self._links,
            clock=clock,
        )
        self._shards = Shards(settings, http=self._http, make_intake=make_intake)

    def features(self) -> Features:
        return Features(
            edits=True,
            settles=True,
            listeners=self,
            buckets=self.buckets,
            types=self,
            fetch=self.fetch,
            ping=self.ping,
            reach=self.reach,
            link=self._links.link,
            reacts=any_emoji,
            title="Discord",
            writing="A message holds 2,000 characters, and tables are shown as columns of plain text.",
        )

    async def listen(self, sink: Sink) -> None:
        """Nothing: each shard is a listener of its own. The connections of the other calls end with it."""
        self._http.open()
        try:
            await asyncio.Event().wait()
        finally:
            await self._http.close()

    def listeners(self) -> Sequence[str]:
        return self._shards.listeners()

    async def attend(self, listener: str, sink: Sink) -> None:
        await self._shards.attend(listener, sink)

    def standing(self) -> ConnectionStatus:
        return self._shards.standing()

    def render(self, delivery: Delivery) -> list[Wire]:
        return render(delivery)

    async def show(self, part: Part) -> Receipt:
        return await self._sending.show(part)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        return await self._sending.edit(receipt, part)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return await self._settling.settle(part, attempt)

    async def reach(self, address: Address) -> str | None:
        return await self._reach.of(address)

    async def ping(self) -> None:
        try:
            await self._http.request(Route("GET", "/gateway"))
        except discord.RateLimited:
            return
        except Exception as error:
            if not (isinstance(error, discord.HTTPException) and error.status < 500):
                raise ours(error, self.account, reads=True) from error

    def buckets(self, address: Address) -> Sequence[Bucket]:
        return [EVERYWHERE, Bucket(f"channel:{channel_of(address)}", *IN_A_CHANNEL)]

    async def typing(self, address: Address, status: str) -> None:
        if status:
            await self._sending.typing(address)

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        await self._downloads.fetch(file, into, most=most)
