"""What people said while nobody listened: read in the history of rooms we know, and taken in like anything else.

Slack sends an event again for some minutes; this is for longer gaps. What was taken in already is a duplicate: its
natural key says so. So it is read generously, from the last message known, one call after the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from adapters.slack.envelope import CHANNEL
from adapters.slack.me import Me
from adapters.slack.unread import Look, Unread
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
RESENT: Final = timedelta(seconds=60)
"""So long after the begin of a repair a message may go without its acknowledgement. Slack sends it again at once, after 1
and after 5 minutes: the last of these comes when nothing is declined any more, whatever became of the history."""

Message = Mapping[str, Any]
History = Callable[[Address, str], AsyncIterator[Message]]
"""What was said in a place since a timestamp, in any order. Errors: ChannelError."""
TakeIn = Callable[[Message, str], Awaitable[None]]
"""Takes a message of the history in; the room is its channel's id. Errors: StoreError."""

log = logging.getLogger(__name__)


class Gaps:
    """Of one account."""

    def __init__(self, web: Web, history: History, places: Places, now: Now, take_in: TakeIn) -> None:
        self._web = web
        self._history = history
        self._places = places
        self._now = now
        self._take_in = take_in
        self._running = asyncio.Lock()
        self._expected = self._found = 0  # gaps: those there are, and those of which the places are known
        self._unread = Unread()
        self._begun_at = now() - RESENT
        self._changed = asyncio.Event()

    # ------------------------------------------------------------------------------------------------ what waits

    def expect(self) -> None:
        """Something was missed, and `repair` is about to read it: events that come meanwhile are newer."""
        self._expected += 1

    async def lets_in(self, place: Address, *, comes_again: bool) -> bool:
        """Whether an event may be taken in: now that what was missed there is, or that it waited for a moment.

        What `comes_again` may not in the first minute: it is in the history that is read next, or Slack sends it again.
        """
        if not self._is_behind(place):
            return True
        self._unread.want(place)
        self._tell()
        if await self._comes(lambda: not self._is_behind(place), HOLD):
            return True
        if not comes_again or not timedelta() <= self._now() - self._begun_at < RESENT:
            return True
        self._unread.again(place)
        return False

    def _is_behind(self, place: Address) -> bool:
        return self._found < self._expected or self._unread.holds(place)

    async def _comes(self, holds: Callable[[], bool], within: timedelta) -> bool:
        """Whether it does."""
        try:
            async with asyncio.timeout(within.total_seconds()):
                while not holds():
                    await self._changed.wait()
        except TimeoutError:
            return holds()
        return True

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # ----------------------------------------------------------------------------------------------- what is read

    async def repair(self, me: Me, *, surely: bool = True) -> None:
        """Read what was missed; where that is not sure, the newest rooms. What cannot be read is told in the log.

        What an earlier `repair` still has to read is read from where that would have begun.
        """
        expected = self._expected
        if not self._unread:
            self._begun_at = self._now()
        try:
            self._unread.add(await self._places_behind(me, surely=surely))
        finally:
            self._found = max(self._found, expected)
            self._tell()
        async with self._running:
            try:
                await self._read()
            finally:
                self._unread = Unread()
                self._tell()

    async def _places_behind(self, me: Me, *, surely: bool) -> Sequence[Look]:
        try:
            seen = await self._places.seen(CHANNEL, me.team, self._now() - FRESH)
        except StoreError as error:
            log.info("gaps are not looked for: %s", error)
            return []
        found = looks(seen, self._web.slack_time(self._now() - FRESH))
        return found if surely else found[:AT_ONCE]

    async def _read(self) -> None:
        for number, look in enumerate(iter(self._unread.take, None), 1):
            await self._repaired(*look)
            self._unread.done()
            self._tell()
            if number >= AT_ONCE and self._unread:
                await self._comes(lambda: self._unread.is_wanted, SPREAD)

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
        messages = [m async for m in self._history(address, oldest) if str(m.get("ts")) >= oldest]
        for message in sorted(messages, key=lambda message: str(message.get("ts"))):
            yield message


def looks(seen: Sequence[Seen], freshest: str) -> list[Look]:
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
