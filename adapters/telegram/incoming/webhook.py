"""The way in by webhook: an own route, answered 200 only after the update was taken in.

Telegram sends the updates of one chat one after the other, each after the answer to the one before, so the pictures of an
album come as single requests here: none could be held back until the next is there.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from aiohttp import web
from telegram import Bot, Update, WebhookInfo
from telegram.error import TelegramError

from adapters.telegram.client import readable
from adapters.telegram.errors import Refused, token_refused
from adapters.telegram.incoming.intake import Intake
from adapters.telegram.incoming.polling import ALLOWED
from adapters.telegram.settings import TelegramSettings
from runtime.contract import CONNECTED, Connection, ConnectionStatus, Now, Sink
from runtime.errors import StoreError
from runtime.http.bodies import read

log = structlog.get_logger("telegram")

PROOF: Final = "X-Telegram-Bot-Api-Secret-Token"
"""The header that holds the secret we gave with the webhook."""
REQUESTS_AT_ONCE: Final = 40
"""Requests the platform makes side by side: its own default."""
TROUBLE_FRESH_FOR: Final = timedelta(minutes=5)
"""How long a failed delivery that Telegram tells of counts as trouble of now, if updates wait."""


@dataclass(frozen=True, slots=True)
class Open:
    """An account that listens, and takes in what comes."""

    sink: Sink
    group: asyncio.TaskGroup


class Hook:
    """The webhook of one account. `said` is told how it stands."""

    def __init__(
        self,
        *,
        bot: Bot,
        intake: Intake,
        settings: TelegramSettings,
        now: Now,
        said: Callable[[ConnectionStatus], None],
    ) -> None:
        self._bot = bot
        self._intake = intake
        self._settings = settings
        self._now = now
        self._said = said
        self._open: Open | None = None

    def routes(self) -> list[web.RouteDef]:
        return [web.post(self._settings.route, self._receive)]

    # --------------------------------------------------------------------------------------------------- receiving

    async def _receive(self, request: web.Request) -> web.Response:
        """401 without the secret, 415 and 413 for what Telegram never sends, 503 while nobody can take it in."""
        shown = request.headers.get(PROOF, "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(shown, self._settings.webhook_secret.encode()) or not shown:
            return web.Response(status=401, text="The secret is wrong.")
        if request.content_type != "application/json":
            return web.Response(status=415, text="Send an update as application/json.")
        raw = await read(request)
        if raw is None:
            return web.Response(status=413, text="An update has at most 1 MiB.")
        if self._open is None:
            return web.Response(status=503, text="This account isn't listening at the moment.")
        return await self._take(raw, self._open)

    async def _take(self, raw: bytes, open_: Open) -> web.Response:
        update = _update(raw)
        if update is None:
            return web.Response(status=400, text="This isn't an update.")
        self._intake.note([update])
        try:
            await self._intake.take((update,), open_.sink, open_.group)
        except StoreError as error:
            log.warning("not taken in, so not confirmed", account=self._settings.account, reason=str(error))
            return web.Response(status=503, text="The store can't be reached. Send it again.")
        return web.Response()

    # ------------------------------------------------------------------------------------------------------ setting

    async def run(self, sink: Sink) -> None:
        """Tell the platform where to bring updates, and see that it stays so; until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._open = Open(sink, group)
            try:
                await self._set()
                while True:
                    await asyncio.sleep(self._settings.waits.watch.total_seconds())
                    await self._watch()
            finally:
                self._open = None

    async def _set(self) -> None:
        """Pending updates are never dropped. Tried until it works."""
        while True:
            try:
                await self._bot.set_webhook(
                    self._settings.hook,
                    allowed_updates=ALLOWED,
                    max_connections=REQUESTS_AT_ONCE,
                    secret_token=self._settings.webhook_secret,
                )
            except TelegramError as error:
                self._said(self._trouble(error))
                await asyncio.sleep(self._settings.waits.refused.total_seconds())
            else:
                self._said(CONNECTED)
                return

    async def _watch(self) -> None:
        try:
            info = await self._bot.get_webhook_info()
        except TelegramError as error:
            self._said(self._trouble(error))
            return
        if not info.url:
            await self._set()
        else:
            self._said(self._standing(info))

    def _standing(self, info: WebhookInfo) -> ConnectionStatus:
        account = self._settings.account
        if info.url != self._settings.hook:
            return ConnectionStatus(
                Connection.REFUSED,
                f'account "{account}": another program set this bot\'s webhook to {info.url}. '
                "Stop that program, or use another bot here. Then restart, or remove that webhook.",
            )
        if info.pending_update_count and info.last_error_message and self._is_fresh(info.last_error_date):
            return ConnectionStatus(
                Connection.DEAF,
                f'account "{account}": Telegram can\'t deliver updates to {info.url} ({info.pending_update_count} waiting): '
                f"{info.last_error_message}. Is webhook_url right, and does it lead to the page's port?",
            )
        return CONNECTED

    def _is_fresh(self, failed_at: datetime | None) -> bool:
        return failed_at is not None and self._now() - failed_at < TROUBLE_FRESH_FOR

    def _trouble(self, error: TelegramError) -> ConnectionStatus:
        account = self._settings.account
        match error:
            case Refused() if error.is_of_token:
                return ConnectionStatus(Connection.REFUSED, token_refused(account, error))
            case Refused(code=400):
                return ConnectionStatus(
                    Connection.REFUSED,
                    f'account "{account}": Telegram does not accept {self._settings.hook} as a webhook: {error.description}. '
                    "It must be an https:// address that the internet can reach, with port 443, 80, 88 or 8443.",
                )
            case _:
                return ConnectionStatus(
                    Connection.RECONNECTING,
                    f'account "{account}": Telegram can\'t be reached: {error.message}. Retrying automatically.',
                )


def _update(raw: bytes) -> Update | None:
    try:
        found = readable(json.loads(raw))
    except (ValueError, RecursionError):
        return None
    return Update.de_json(found, None) if found else None
