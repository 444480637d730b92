"""Names of rooms, as their platforms tell them along with what is said there; and the languages of their only readers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, Protocol

import structlog

from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import ROOM_LANGUAGES
from runtime.contract import Address, Signal
from runtime.errors import StoreError
from runtime.text.glyphs import seen
from runtime.text.words import LANGUAGES, READERS_MAX, heard_in

TOPIC: Final = "room names"
ROOM_NAME_MAX_CHARS: Final = 80  # characters
SEEN_AGAIN: Final = 86_400.0
"""Seconds after which a room that is heard of is kept as seen anew; names of rooms that nobody hears of go."""
OVERLAP: Final = timedelta(minutes=5)
"""Read again with each look, since clocks of nodes differ and a write takes a while."""
STORE_RETRY_DELAY: Final = timedelta(seconds=10)
"""After the store could not take a name."""

log = structlog.get_logger("rooms")


class NameBook(Protocol):
    """The names as they are stored, by rooms without their threads."""

    async def room_names(self, since: datetime | None = None) -> Mapping[Address, str]:
        """Names that were kept `since` then, at most 10,000."""

    async def name_rooms(self, names: Mapping[Address, str]) -> None: ...

    async def room_languages(self) -> Mapping[Address, str]:
        """The newest 10,000."""

    async def keep_languages(self, languages: Mapping[Address, str]) -> None: ...

    def now(self) -> datetime: ...


class RoomNames:
    """Names and languages that this process heard of or has read. A message costs a look-up here, and a new one a write.

    Another node's names are known after the next `refresh`, and its languages as soon as it tells that it kept some.
    """

    def __init__(self, book: NameBook, notifier: LocalNotifier) -> None:
        self._book = book
        self._notifier = notifier
        self._listener = notifier.listen(TOPIC, ROOM_LANGUAGES)
        self._known: dict[Address, str] = {}
        self._fresh: dict[Address, str] = {}
        self._seen: dict[Address, float] = {}
        self._languages: dict[Address, str] = {}
        self._fresh_languages: dict[Address, str] = {}
        self._read_at: datetime | None = None

    def hear(self, signal: Signal) -> None:
        """Take in the name that `signal` brings along, and the language."""
        if signal.language:
            self._hear_language(signal.address.whole_room, heard_in(signal.address.whole_room, signal.language))
        room, name = signal.address.whole_room, seen(signal.room_name)[:ROOM_NAME_MAX_CHARS]
        now = monotonic()
        if name and (self._known.get(room) != name or now - self._seen.get(room, -SEEN_AGAIN) >= SEEN_AGAIN):
            self._known[room] = self._fresh[room] = name
            self._seen[room] = now
            self._notifier.notify_here(TOPIC)

    def _hear_language(self, room: Address, language: str) -> None:
        """Of a room that nobody told of before only what is not the usual one is kept."""
        if language and self._languages.get(room, LANGUAGES.get().usual) != language:
            self._fresh_languages[room] = language
            self._know_language(room, language)
            self._notifier.notify_here(TOPIC)

    def _know_language(self, room: Address, language: str) -> None:
        self._languages[room] = language
        if len(self._languages) > READERS_MAX:
            del self._languages[next(iter(self._languages))]

    def of(self, address: Address) -> str:
        """Name by which people call the room of `address`; empty where nobody told."""
        return self._known.get(address.whole_room, "")

    def all(self) -> Mapping[Address, str]:
        return self._known

    async def refresh(self) -> None:
        """Read what other nodes heard since the last time. Errors: StoreError."""
        began, since = self._book.now(), self._read_at
        news = await self._book.room_names(since - OVERLAP if since else None)
        self._known = {**self._known, **news, **self._fresh}
        self._read_at = began

    async def run(self) -> None:
        """Keep what is heard, until cancelled."""
        while True:
            try:
                await self.refresh()
                await self._read_languages()
                while True:
                    await self._keep()
                    if await anext(self._listener) == ROOM_LANGUAGES:
                        await self._read_languages()
            except StoreError as error:
                log.debug("names of rooms cannot be kept yet", reason=str(error))
                await asyncio.sleep(STORE_RETRY_DELAY.total_seconds())

    async def _read_languages(self) -> None:
        """Take in languages that readers asked for before this process began, or at another node."""
        for room, language in (await self._book.room_languages()).items():
            if room not in self._fresh_languages and self._languages.get(room) != language:
                self._know_language(room, language)
                LANGUAGES.get().hear(room, language)

    async def _keep(self) -> None:
        if names := dict(self._fresh):
            await self._book.name_rooms(names)
            self._fresh = {room: name for room, name in self._fresh.items() if names.get(room) != name}
        if languages := dict(self._fresh_languages):
            await self._book.keep_languages(languages)
            self._notifier.tell(ROOM_LANGUAGES)
            left = self._fresh_languages.items()
            self._fresh_languages = {room: language for room, language in left if languages[room] != language}
