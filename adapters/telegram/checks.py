"""Checks for `signalbox doctor`: each step between this account and its platform, live. They change nothing."""

from __future__ import annotations

import adapters.telegram.lean  # noqa: F401 - before anything imports the library

# isort: split
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

from telegram import Bot, User, WebhookInfo
from telegram.error import TelegramError

from adapters.telegram.api import Api
from adapters.telegram.errors import Refused, ours, token_refused
from adapters.telegram.settings import TelegramSettings
from runtime.contract import Finding, Level
from runtime.http.platform_clock import PlatformClock

MANY: Final = 100
"""Updates that wait: more than that, and nobody fetches them."""


async def checked(settings: TelegramSettings) -> Sequence[Finding]:
    """Look at an account that need not be at work."""
    clock = PlatformClock("Telegram", partial(datetime.now, UTC))
    async with Api(settings, clock.heed) as api:
        found = await Checks(settings, api.bot).run()
    return [*found, *clock.findings(f"telegram.{settings.account}.clock")]


class Checks:
    """Looks at one account. Ids of findings begin with `telegram.<account>`."""

    def __init__(self, settings: TelegramSettings, bot: Bot) -> None:
        self._settings = settings
        self._bot = bot

    async def run(self) -> list[Finding]:
        return [finding async for finding in self._findings()]

    async def _findings(self) -> AsyncIterator[Finding]:
        try:
            me = await self._bot.get_me()
            yield self._fine("token", f"it is the bot @{me.username}")
            yield self._privacy(me)
            yield self._groups(me)
            yield self._way_in(await self._bot.get_webhook_info())
        except TelegramError as error:
            yield self._refused(error)

    def _id(self, step: str) -> str:
        return f"telegram.{self._settings.account}.{step}"

    def _fine(self, step: str, what: str) -> Finding:
        return Finding(Level.OK, self._id(step), f'account "{self._settings.account}": {what}')

    def _refused(self, error: TelegramError) -> Finding:
        account = self._settings.account
        if isinstance(error, Refused) and error.is_of_token:
            return Finding(
                Level.ERROR,
                self._id("token"),
                token_refused(account, error),
                "It can't read or send anything.",
                "put the token that @BotFather shows into token_env's variable, then: signalbox doctor",
            )
        return Finding(
            Level.ERROR,
            self._id("reachable"),
            str(ours(error, account)),
            "Messages wait until Telegram can be reached.",
            f"is {self._settings.server} reachable from this machine, perhaps through a proxy (HTTPS_PROXY)?",
        )

    def _privacy(self, me: User) -> Finding:
        if me.can_read_all_group_messages:
            return self._fine("privacy", "it sees all messages of its groups (privacy mode is off)")
        return Finding(
            Level.OK,
            self._id("privacy"),
            f'account "{self._settings.account}": in groups it only sees commands, mentions and replies to it '
            "(privacy mode is on)",
            "Threads it's part of, and rooms with attention open or observe, need all messages.",
            "if you want those: @BotFather, /setprivacy, Disable; then take the bot out of the group and add it again",
        )

    def _groups(self, me: User) -> Finding:
        if me.can_join_groups:
            return self._fine("groups", "it may be added to groups")
        return Finding(
            Level.WARNING,
            self._id("groups"),
            f'account "{self._settings.account}": it cannot be added to groups',
            "People can only talk to it in private.",
            "@BotFather, /setjoingroups, Enable",
        )

    def _way_in(self, info: WebhookInfo) -> Finding:
        return self._polled(info) if self._settings.mode == "polling" else self._hooked(info)

    def _polled(self, info: WebhookInfo) -> Finding:
        account = self._settings.account
        if info.url:
            return Finding(
                Level.ERROR,
                self._id("updates"),
                f'account "{account}": a webhook is set for this bot: {info.url}',
                "A bot with a webhook can't be polled, so no message arrives.",
                'remove it (deleteWebhook, see docs/channels/telegram.md), or set mode = "webhook"',
            )
        if info.pending_update_count > MANY:
            return Finding(
                Level.WARNING,
                self._id("updates"),
                f'account "{account}": {info.pending_update_count} updates are waiting to be fetched',
                "Telegram drops them after a day.",
                "start Signalbox: signalbox run",
            )
        return self._fine("updates", "its messages are fetched by polling")

    def _hooked(self, info: WebhookInfo) -> Finding:
        account = self._settings.account
        if info.url != self._settings.hook:
            return Finding(
                Level.WARNING,
                self._id("updates"),
                f'account "{account}": the webhook is {info.url or "not set"}, not {self._settings.hook}',
                "No message arrives until it is set.",
                "Signalbox sets it when it starts: signalbox run",
            )
        if info.pending_update_count and info.last_error_message:
            return Finding(
                Level.ERROR,
                self._id("updates"),
                f'account "{account}": Telegram cannot deliver {info.pending_update_count} updates: '
                f"{info.last_error_message}",
                "Messages wait at Telegram for a day at most.",
                "webhook_url must lead over HTTPS to the port of the page; see docs/channels/telegram.md",
            )
        return self._fine("updates", f"its messages are sent to {info.url}")
