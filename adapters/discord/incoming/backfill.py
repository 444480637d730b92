"""Messages from while nobody listened: read from the history, from what was taken in last in each channel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from discord.http import Route

from adapters.discord.http import Http
from adapters.discord.parse import CHANNEL
from adapters.discord.rooms import Place
from adapters.discord.snowflakes import first_at
from runtime.contract import AdapterContext, Seen
from runtime.http.platform_clock import PlatformClock

Raw = Mapping[str, Any]

log = logging.getLogger(__name__)

OLDEST: Final = timedelta(days=7)
"""What is older is nobody's question any more. What is older than the gate takes (a day) is told there, not here."""
ROOMS: Final = timedelta(days=90)
"""A conversation with one person is not told by the gateway: it is known by what was said there so long ago at most."""
DOUBT: Final = timedelta(minutes=15)
"""Before the last thing heard, another may have waited for the store when the process was killed."""
A_DAY: Final = timedelta(days=1)
"""So far back somebody who writes for the first time may have written while nobody listened."""
PAGE_MAX_MESSAGES: Final = 100  # messages of one answer; the most there can be
PAGES: Final = 20


@dataclass(frozen=True, slots=True)
class Stored:
    """State of the store when a gap began: the newest of each room, and when anything last was heard, if it was."""

    seen: Sequence[Seen]
    last: datetime | None


class Gap:
    """Of one shard. What the gateway told last in each channel while this process lived is the best mark there is."""

    def __init__(self, identity: str, given: AdapterContext, http: Http, clock: PlatformClock) -> None:
        self._newest: dict[str, int] = {}
        self._before: dict[str, int] | None = None
        self._stored: Stored | None = None
        self._is_marked = asyncio.Event()
        self._is_marked.set()
        self._seen: set[str] = set()
        self._since_start = given.now()
        self._identity = identity
        self._given = given
        self._http = http
        self._clock = clock

    def heard(self, channel: str, message: str) -> None:
        self._newest[channel] = max(self._newest.get(channel, 0), int(message))

    def unheard(self, channel: str) -> int | None:
        """Id to read on from in a private conversation not known yet; None for other rooms.

        Discord lists no such conversations: one that began while nobody listened is found with its next message.
        """
        if channel in self._newest or channel in self._seen:
            return None
        return self._first_at(self._given.now() - A_DAY)

    def begin(self) -> None:
        """From here on something may be missing, until `end`: what is heard meanwhile is no mark."""
        if self._before is None:
            self._before, self._stored = dict(self._newest), None
            self._is_marked.clear()

    async def mark(self) -> Stored:
        """Note what was taken in before the gap. Errors: StoreError."""
        if self._stored is None:
            places, now = self._given.places, self._given.now()
            seen = await places.seen(CHANNEL, self._identity, now - ROOMS)
            self._stored = Stored(seen, await places.last_heard(CHANNEL, self._identity))
            self._is_marked.set()
        return self._stored

    async def marked(self) -> None:
        """Wait until what is taken in hides nothing that was missed before it."""
        await self._is_marked.wait()

    def end(self) -> None:
        """Forget the gap: what was missed is known, and somebody reads it."""
        self._before = None

    def rooms(self, stored: Stored, told: Collection[Place], *, with_others: bool) -> dict[str, int]:
        """Channels in which something may have been missed, and the message after which.

        `told` are the places of a shard. The gateway does not tell archived threads, which are added where their channel
        is told, nor conversations with one person, which `with_others` adds. The newest message that it tells of a place
        may be none at all, or no newer than what was taken in there: that proves nothing, and the place is read, unless
        this process heard that message itself.
        """
        floor, since = self._first_at(self._given.now() - OLDEST), self._since(stored.last)
        marks, lived = self._marks(stored.seen), self._lived()
        self._seen = set(marks)
        here = {place.id for place in told}
        within = {one.address.thread: one.address.room for one in stored.seen if one.address.thread}
        missed = {
            channel: max(mark, floor)
            for channel, mark in marks.items()
            if (within[channel] in here if channel in within else with_others)
        }
        for place in told:
            last = int(place.last or 0)
            mark = marks.get(place.id, since)
            if last > max(mark, floor):
                missed[place.id] = max(mark, floor)
            elif last > mark or (last == mark and place.id in lived):
                missed.pop(place.id, None)
        return missed

    def _marks(self, seen: Iterable[Seen]) -> dict[str, int]:
        """The newest message of each channel that was taken in, or told while we lived."""
        marks = dict(self._lived())
        for one in seen:
            for channel in channels_of(one):
                marks[channel] = max(marks.get(channel, 0), mark_of(one))
        return marks

    def _lived(self) -> Mapping[str, int]:
        """The newest message that the gateway told of in each channel before the gap, while this process lived."""
        return self._newest if self._before is None else self._before

    def _since(self, last: datetime | None) -> int:
        """For channels in which nothing was taken in: when anything last was; before anything was, this start."""
        return self._first_at(self._since_start if last is None else last - DOUBT)

    def _first_at(self, ours: datetime) -> int:
        """The least id from which on nothing is missed that came after a moment of ours."""
        return first_at(self._clock.since(ours))

    async def pages(self, channel: str, after: int) -> AsyncIterator[list[Raw]]:
        """The messages after that one, oldest first. Errors: of the library, as `Http.request`."""
        for _ in range(PAGES):
            route = Route("GET", "/channels/{channel_id}/messages", channel_id=channel)
            found = await self._http.request(route, params={"after": str(after), "limit": str(PAGE_MAX_MESSAGES)})
            page = sorted(found, key=lambda raw: int(raw["id"]))
            if page:
                yield page
                after = int(page[-1]["id"])
            if len(page) < PAGE_MAX_MESSAGES:
                return
        log.warning(
            "more was said in the channel %s meanwhile than is read: %d messages were",
            channel,
            PAGE_MAX_MESSAGES * PAGES,
        )


def channels_of(seen: Seen) -> set[str]:
    """The channel whose history has that message: of one that began a thread, both."""
    address = seen.address
    if not address.thread:
        return {address.room}
    return {address.thread, address.room} if address.thread == seen.message_id else {address.thread}


def mark_of(seen: Seen) -> int:
    """A command leaves no message: then the time it came at."""
    return int(seen.message_id) if seen.message_id.isdigit() else first_at(seen.at)
