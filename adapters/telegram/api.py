"""The library's bot of an account, on our own connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from telegram import Bot

from adapters.telegram.client import Client, Polls
from adapters.telegram.settings import TelegramSettings


class Api:
    """`bot` for calls, `client` under it for downloads. Polls have a connection of their own, so that none waits for one."""

    def __init__(self, settings: TelegramSettings, dated: Callable[[str | None], None] = lambda date: None) -> None:
        self.client = Client(settings.server, settings.waits, dated)
        self._polls = Polls(settings.server, settings.waits, dated)
        self.bot = Bot(
            settings.token,
            base_url=f"{settings.server}/bot",
            base_file_url=f"{settings.server}/file/bot",
            request=self.client,
            get_updates_request=self._polls,
        )

    async def open(self) -> None:
        """The library's own `initialize` would also ask for the bot's name, and puts the token into its error."""
        await self.client.initialize()
        await self._polls.initialize()

    async def close(self) -> None:
        try:
            await self.client.shutdown()
        finally:  # also if we are cancelled meanwhile
            await self._polls.shutdown()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *ending: object) -> None:
        await self.close()
