"""Ids that the store remembers: for messages that were marked before this life began, or while another node listened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from adapters.telegram.rooms import Rooms, message_of
from adapters.telegram.settling.known_ids import BOX, KnownIds, space_of
from runtime.contract import Address, Places
from runtime.errors import Retryable, StoreError

ENQUEUED_BEFORE: Final = timedelta(hours=1)
"""How long before the marker a message may have been enqueued that was shown after it."""
HEARD: Final = timedelta(days=2)
"""How far back rooms are looked up in which somebody spoke."""
ROOMS: Final = 200
REREAD_SECONDS: Final = 10.0  # seconds after which the store is asked anew
SOON: Final = 2.0  # … what is lost, while that is looked for
DRAIN: Final = 5.0  # seconds that a look waits for what this process is being told
TOLD_ELSEWHERE: Final = 2.0  # … until what another process was told is in the store


class StoredIds:
    """`idle` waits until what came in is taken in; `heard_here` tells whether updates come to this process."""

    def __init__(
        self,
        *,
        channel: str,
        identity: str,
        places: Places,
        known: KnownIds,
        rooms: Rooms,
        born: datetime,
        idle: Callable[[], Awaitable[None]],
        heard_here: Callable[[], bool],
    ) -> None:
        self._channel = channel
        self._identity = identity
        self._places = places
        self._known = known
        self._rooms = rooms
        self._born = born
        self._idle = idle
        self._heard_here = heard_here
        self._asked: dict[str, float] = {}
        self._floors: dict[int, int] = {}
        self._unsettled: tuple[float, list[int]] = (-REREAD_SECONDS, [])

    def begin_anew(self, born: datetime) -> None:
        """Another process heard and sent since: what it stored is read before a look goes by what is known here."""
        self._born = born
        self._asked.clear()
        self._floors.clear()

    async def drained(self, since: float) -> None:
        """Wait until what the platform had to tell is noted, as far as that can be waited for.

        `since` is when the look began, on the clock `monotonic`: one that was cut short and goes on waits no second time,
        or a courier with little patience would never get behind this.
        """
        if not self._heard_here():
            await asyncio.sleep(since + TOLD_ELSEWHERE - monotonic())
            return
        try:
            async with asyncio.timeout(since + DRAIN - monotonic()):
                await self._idle()
        except TimeoutError:
            return

    async def warm(self, now: datetime) -> None:
        """Begin with the newest message of each room that was heard of lately. Errors: StoreError."""
        for found in await self._places.seen(self._channel, self._identity, now - HEARD):
            self._note(found.message_id, found.at)

    def floor(self, chat: int, marked_at: datetime) -> int:
        """An id that was surely given before the marker, where nothing was known then; 0 when there is none."""
        return max(self._floors.get(chat, 0), self._known.space(chat).before(marked_at))

    async def recall(self, chat: int, address: Address, marked_at: datetime) -> None:
        """Note what the store knows. Errors: Retryable while it is away."""
        space = space_of(chat)
        if marked_at >= self._born and self._heard_here() and self._known.space(chat).top:
            return
        if monotonic() - self._asked.get(space, -REREAD_SECONDS) < REREAD_SECONDS and chat in self._floors:
            return
        try:
            await self._ask(chat, address, marked_at)
        except StoreError as error:
            raise Retryable(f"what was shown cannot be read: {error}") from error
        self._asked[space] = monotonic()

    async def _ask(self, chat: int, address: Address, marked_at: datetime) -> None:
        seen = await self._places.seen(self._channel, self._identity, marked_at - HEARD)
        inside = [s for s in seen if space_of(self._rooms.chat(s.address.room)) == space_of(chat)]
        for found in inside:
            self._note(found.message_id, found.at)
        shown = await self._places.receipts(address, marked_at - HEARD)  # nothing went there since
        self._floors[chat] = max((n for c, n in filter(None, map(message_of, shown)) if c == chat), default=0)
        rooms = {s.address.room: s.address for s in inside[:ROOMS]} if space_of(chat) == BOX else {}
        for other in [address, *rooms.values()]:
            for name in await self._places.receipts(other, marked_at - ENQUEUED_BEFORE):
                self._note(name)

    async def unsettled(self) -> list[int]:
        """The chat of each part that is still to be looked for, by the store. Errors: Retryable while it is away."""
        at, chats = self._unsettled
        if monotonic() - at > SOON:
            try:
                found = await self._places.unsettled(self._channel, self._identity)
            except StoreError as error:
                raise Retryable(f"what is looked for cannot be read: {error}") from error
            chats = [self._rooms.chat(address.room) for address in found]
            self._unsettled = monotonic(), chats
        return chats

    def _note(self, name: str, dated: datetime | None = None) -> None:
        found = message_of(name)
        if found:
            self._known.note(*found, dated=dated)
