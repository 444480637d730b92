"""Update delivery of the fake Telegram: to one poller, or to a webhook, in order within each chat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import aiohttp

from tests.fakes.telegram_people import People, wanted
from tests.fakes.telegram_rules import Refusal
from tests.fakes.telegram_world import Raw, World

MOST: Final = 100
OTHER: Final = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
HOOKED: Final = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
LOOPBACK: Final = "http://127.0.0.1"
"""Where a webhook is tried; one elsewhere is kept, and nothing leaves this machine."""
SIDE_BY_SIDE: Final = 8
AGAIN: Final = 0.05
"""Seconds after which a webhook that failed is tried again; the platform takes longer."""


class Polls:
    """Long polling. A new poll ends the one that waits."""

    def __init__(self, world: World, people: People) -> None:
        self._world = world
        self._people = people
        self._turn = self._deaf = 0
        self._news = asyncio.Event()
        self._waiting: set[Callable[[], object]] = set()
        self.allowed: list[str] = []

    def tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    @property
    def is_asked(self) -> bool:
        """True if a poll waits for news."""
        return bool(self._waiting)

    def drop(self) -> None:
        """Cut the connections of those that wait."""
        for cut in list(self._waiting):
            cut()
        self._turn += 1
        self.tell()

    def deafen(self) -> None:
        """Leave the waiting poll without an answer or an error; the next poll, if none waits."""
        self._deaf = self._turn + (not self._waiting)

    async def get(self, asked: Mapping[str, Any], cut: Callable[[], object]) -> list[Raw]:
        """The answer to a poll. `cut` ends its connection."""
        if self._world.webhook:
            raise Refusal(409, HOOKED)
        self._turn += 1
        turn, wait = self._turn, float(asked.get("timeout") or 0)
        self.tell()
        self.allowed = asked.get("allowed_updates", self.allowed) or []
        self._confirm(int(asked.get("offset") or 0))
        most = min(int(asked.get("limit") or MOST), MOST)
        if turn != self._deaf and (found := self._found(most)):
            return found
        self._waiting.add(cut)
        try:
            return await self._wait(turn, most, wait)
        finally:
            self._waiting.discard(cut)

    async def _wait(self, turn: int, most: int, seconds: float) -> list[Raw]:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self._news.wait()
                    if turn != self._turn:
                        raise Refusal(409, OTHER)
                    if turn != self._deaf and (found := self._found(most)):
                        return found
        while turn == self._turn == self._deaf:
            await self._news.wait()
        return []

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            ids = [update["update_id"] for update in self._world.pending()]
            offset = ids[offset] if len(ids) >= -offset else 0
        self._world.confirm(offset)

    def _found(self, most: int) -> list[Raw]:
        again, self._people.repeated[:] = list(self._people.repeated), []
        fresh = [update for update in self._world.pending() if wanted(update, self.allowed)]
        return sorted([*again, *fresh], key=lambda update: int(update["update_id"]))[:most]


class Hook:
    """Brings updates to the webhook that is set: each chat's in order, chats side by side."""

    def __init__(self, world: World, people: People) -> None:
        self._world = world
        self._people = people
        self._wake = asyncio.Event()
        self.delivered: set[int] = set()
        self._busy: set[int] = set()
        self.last_error: tuple[int, str] | None = None

    def tell(self) -> None:
        self._wake.set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        async with aiohttp.ClientSession() as http, asyncio.TaskGroup() as group:
            for _ in range(SIDE_BY_SIDE):
                group.create_task(self._bring(http))

    async def _bring(self, http: aiohttp.ClientSession) -> None:
        while True:
            update = self._next()
            if update is None:
                await self._wake.wait()
                continue
            self._busy.add(queue_of(update))
            brought = await self._brought(http, update)
            await asyncio.sleep(0 if brought else AGAIN)
            self._busy.discard(queue_of(update))
            if brought:
                self.delivered.add(update["update_id"])
                self._confirm()
            elif update["update_id"] < self._world.confirmed:
                self._people.repeated.append(update)
            self.tell()

    def _next(self) -> Raw | None:
        """The next update to deliver, from chats with no delivery under way; None if there is none."""
        if not self._world.webhook.get("url", "").startswith(LOOPBACK):
            return None
        for number, update in enumerate(self._people.repeated):
            if queue_of(update) not in self._busy:
                return self._people.repeated.pop(number)
        fresh = (u for u in self._world.pending() if u["update_id"] not in self.delivered)
        return next((update for update in fresh if queue_of(update) not in self._busy), None)

    async def _brought(self, http: aiohttp.ClientSession, update: Raw) -> bool:
        hook = self._world.webhook
        headers = {"X-Telegram-Bot-Api-Secret-Token": hook["secret_token"]} if hook.get("secret_token") else {}
        try:
            async with http.post(hook["url"], json=update, headers=headers) as response:
                if 200 <= response.status < 300:
                    return True
                self.last_error = (response.status, f"Wrong response from the webhook: {response.status}")
        except aiohttp.ClientError:
            self.last_error = (0, "Connection refused")
        return False

    def _confirm(self) -> None:
        """All below the first that is not brought."""
        left = [u["update_id"] for u in self._world.pending() if u["update_id"] not in self.delivered]
        last = max((u["update_id"] for u in self._world.updates), default=0)
        self._world.confirm(min(left, default=last + 1))


def queue_of(update: Mapping[str, Any]) -> int:
    """The queue within which order is kept: the chat of a message; each click has its own."""
    for kind in ("message", "edited_message", "my_chat_member"):
        if kind in update:
            return int(update[kind]["chat"]["id"])
    return -int(update["update_id"])
