"""Settles an uncertain message: is it on screen?

For two minutes after its first attempt Discord surely knows a nonce: the message is sent again under it, and either the
earlier one comes back or it is there now, once. Later the history is read, which keeps no nonces: a message of ours
after the attempt, with the same text, buttons and files, that is no other part's.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import discord
from discord.http import Route

from adapters.discord.errors import NO_THREAD, ours
from adapters.discord.http import Http
from adapters.discord.incoming.backfill import ROOMS, channels_of
from adapters.discord.outgoing.send import Sending, channel_of, hung, text_of
from adapters.discord.parse import CHANNEL
from adapters.discord.settings import DiscordSettings
from adapters.discord.snowflakes import first_at
from runtime.contract import (
    AdapterContext,
    Address,
    Attempt,
    Part,
    Receipt,
    Settled,
    SettleResult,
    Shown,
)
from runtime.errors import Rejected, Retryable, Uncertain
from runtime.http.platform_clock import PlatformClock

Raw = Mapping[str, Any]

NONCE_IS_KNOWN: Final = timedelta(seconds=120)
"""Discord says "the past few minutes": discord.com/developers/docs/resources/message#create-message, read 2026-08."""
CLOCKS_APART: Final = timedelta(seconds=60)
"""How far our clock may be ahead of Discord's, by which message ids are made, beyond what its answers tell."""
PAGE_MAX_MESSAGES: Final = 100
PAGES: Final = 5


class Settling:
    """Finds out what became of a send. Changes nothing that is on screen."""

    def __init__(
        self, settings: DiscordSettings, given: AdapterContext, http: Http, sending: Sending, clock: PlatformClock
    ) -> None:
        self._settings = settings
        self._given = given
        self._http = http
        self._sending = sending
        self._clock = clock

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Errors: Retryable when Discord is away."""
        first = attempt.first_at or attempt.marked_at
        try:
            if self._given.now() - first < NONCE_IS_KNOWN:
                return Shown(await self._sending.show(part))
            return await self._look(part, first)
        except Uncertain as error:
            raise Retryable(f"interrupted while checking: {error}") from error
        except Rejected:
            return SettleResult.UNKNOWN  # it may have been shown before the room closed

    async def _look(self, part: Part, first: datetime) -> Settled:
        """In the thread that it belongs to, and in the room, where it stands if there can be no thread."""
        if (thread := hung(part)) != part.address:
            try:
                found = await self._look_in(thread, part, first)
            except Rejected as error:
                if not is_of(error, NO_THREAD):
                    raise
            else:
                if found is not SettleResult.ABSENT:
                    return found
        return await self._look_in(part.address, part, first)

    async def _look_in(self, address: Address, part: Part, first: datetime) -> Settled:
        since, channel = first - CLOCKS_APART, channel_of(address)
        others = set(await self._given.places.receipts(part.address, since))
        after, count = first_at(self._clock.since(since)), 0
        for _ in range(PAGES):
            page = await self._page(channel, after)
            found = [raw for raw in page if str(raw["id"]) not in others and self._is(raw, part)]
            if found:
                return Shown(Receipt(str(found[0]["id"])))
            count += len(page)
            if len(page) < PAGE_MAX_MESSAGES:
                return SettleResult.ABSENT if count or await self._can_read(channel, after) else SettleResult.UNKNOWN
            after = int(page[-1]["id"])
        return SettleResult.UNKNOWN

    def _is(self, raw: Raw, part: Part) -> bool:
        """True if a message of the history looks as the part does."""
        body = json.loads(part.body)
        return (
            str(raw["author"]["id"]) == self._settings.identity
            and str(raw.get("content") or "") == text_of(part)
            and payloads(raw) == payloads(body)
            and sorted(str(one["filename"]) for one in raw.get("attachments", ()))
            == sorted(shown_name(file["name"]) for file in body.get("files", ()))
        )

    async def _can_read(self, channel: str, after: int) -> bool:
        """True if an empty history is one. Without the right to read it Discord shows an empty one too."""
        place = await self._get(f"/channels/{channel}")
        last = int(place.get("last_message_id") or 0)
        if 0 < last <= after or await self._get(f"/channels/{channel}/messages", limit="1"):
            return True
        return last == 0 and not await self._was_heard(channel)

    async def _was_heard(self, channel: str) -> bool:
        """Check whether a message was taken in there: then "no message yet" is not true of it."""
        seen = await self._given.places.seen(CHANNEL, self._settings.identity, self._given.now() - ROOMS)
        return any(channel in channels_of(one) for one in seen)

    async def _page(self, channel: str, after: int) -> list[Raw]:
        page = await self._get(f"/channels/{channel}/messages", after=str(after), limit=str(PAGE_MAX_MESSAGES))
        return sorted(page, key=lambda raw: int(raw["id"]))

    async def _get(self, path: str, **params: str) -> Any:
        try:
            return await self._http.request(Route("GET", path), params=params)
        except Exception as error:
            raise ours(error, self._settings.account, reads=True) from error


def is_of(error: Rejected, codes: Collection[int]) -> bool:
    """True if Discord refused with one of these."""
    return isinstance(error.__cause__, discord.HTTPException) and error.__cause__.code in codes


def payloads(message: Raw) -> list[str]:
    """Payloads of the buttons."""
    return [str(one.get("custom_id")) for row in message.get("components") or () for one in row["components"]]


def shown_name(name: str) -> str:
    """As Discord writes a file's name: blanks become underscores."""
    return name.replace(" ", "_")
