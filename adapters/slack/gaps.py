"""What people said while nobody listened: read in the history of rooms we know, and taken in like anything else.

Slack sends an event again for some minutes; this is for longer gaps. What was taken in already is a duplicate: its
natural key says so. So it is read generously, from the last message known, one call after the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from adapters.slack.envelope import CHANNEL
from adapters.slack.me import Me
from adapters.slack.settle import Settling
from adapters.slack.web import Web
from runtime.contract import Address, Now, Places, Seen
from runtime.errors import ChannelError, Retryable, StoreError

FRESH: Final = timedelta(hours=24)
THREADS: Final = 200  # of an account, those with the newest messages
TRIES: Final = 5  # of one room, when Slack asks to wait
AT_ONCE: Final = 20
SPREAD: Final = timedelta(seconds=1.5)  # between further looks: those for uncertain messages share some 50 a minute
PAUSE: Final = timedelta(seconds=5)
HOLD: Final = timedelta(seconds=2)
"""How long an event waits for what was said before it in its room; Slack waits 3 s for the acknowledgement."""

Message = Mapping[str, Any]
TakeIn = Callable[[Message, str], Awaitable[None]]
"""Takes a message of the history in; the room is its channel's id. Errors: StoreError."""

log = logging.getLogger(__name__)


class Gaps:
    """Of one account."""

    def __init__(self, web: Web, settling: Settling, places: Places, now: Now, take_in: TakeIn) -> None:
        self._web = web
        self._settling = settling
        self._places = places
        self._now = now
        self._take_in = take_in
        self._running = asyncio.Lock()
        self._expected = False
        self._behind: Counter[str] = Counter()  # looks that are still to come, by room
        self._changed = asyncio.Event()

    def expect(self) -> None:
        """Something was missed, and `repair` is about to read it: events that come meanwhile are newer."""
        self._expected = True

    async def caught_up(self, room: str) -> None:
        """Wait until what was missed in a room is taken in, a moment at most: Slack sends events again in any order."""
        if not self._is_behind(room):
            return
        try:
            async with asyncio.timeout(HOLD.total_seconds()):
                while self._is_behind(room):
                    await self._changed.wait()
        except TimeoutError:
            return

    def _is_behind(self, room: str) -> bool:
        return self._expected or self._behind[room] > 0

    async def repair(self, me: Me, *, surely: bool = True) -> None:
        """Read what was missed; where that is not sure, the newest rooms. What cannot be read is told in the log."""
        async with self._running:
            try:
                await self._read(await self._found(me, surely=surely))
            finally:
                self._behind.clear()
                self._tell()

    async def _found(self, me: Me, *, surely: bool) -> Sequence[tuple[Address, str]]:
        try:
            seen = await self._places.seen(CHANNEL, me.team, self._now() - FRESH)
        except StoreError as error:
            log.info("gaps are not looked for: %s", error)
            return []
        found = looks(seen, self._web.slack_time(self._now() - FRESH))
        return found if surely else found[:AT_ONCE]

    async def _read(self, found: Sequence[tuple[Address, str]]) -> None:
        self._behind = Counter(address.room for address, _ in found)
        self._tell()
        for number, (address, oldest) in enumerate(found):
            await asyncio.sleep(0 if number < AT_ONCE else SPREAD.total_seconds())
            await self._repaired(address, oldest)
            self._behind[address.room] -= 1
            self._tell()

    def _tell(self) -> None:
        self._expected = False
        self._changed.set()
        self._changed = asyncio.Event()

    async def _repaired(self, address: Address, oldest: str) -> None:
        for _ in range(TRIES):
            try:
                async for message in self._since(address, oldest):
                    await self._take_in(message, address.room)
                return
            except (Retryable, StoreError) as error:
                wait = getattr(error, "retry_after", None) or PAUSE
                await asyncio.sleep(wait.total_seconds())
            except ChannelError as error:
                log.info("%s: what was said meanwhile cannot be read: %s", address, error)
                return
        log.warning("%s: Slack did not let us read what was said meanwhile", address)

    async def _since(self, address: Address, oldest: str) -> AsyncIterator[Message]:
        """Oldest first; the history of a channel comes the other way round, and a thread's root whatever was asked for."""
        messages = [m async for m in self._settling.messages(address, oldest) if str(m.get("ts")) >= oldest]
        for message in sorted(messages, key=lambda message: str(message.get("ts"))):
            yield message


def looks(seen: Sequence[Seen], freshest: str) -> list[tuple[Address, str]]:
    """Where to look, and since when: each room from its newest message outside of threads, and its newest threads.

    A room of which only threads are known is read from its oldest thread's begin: roots may have been said meanwhile.
    """
    rooms: dict[Address, list[str]] = defaultdict(list)
    threads: list[tuple[str, Address]] = []
    for one in seen:
        room = Address(one.address.channel, one.address.account, one.address.room)
        thread = one.address.thread
        is_root = not thread or thread == one.message_id
        rooms[room].append(one.message_id if is_root else thread)
        if thread:
            threads.append((one.message_id, one.address))
    newest = sorted(threads, key=lambda found: found[0], reverse=True)[:THREADS]
    roots = sorted(((max(known), room) for room, known in rooms.items()), key=lambda found: found[0], reverse=True)
    return [(address, max(freshest, since)) for since, address in roots + newest]
