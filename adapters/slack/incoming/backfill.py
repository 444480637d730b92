"""Messages from while nobody listened: read in the history of rooms we know, and taken in like anything else.

Slack sends an event again for some minutes; this is for longer gaps. What was taken in already is a duplicate: its
natural key says so. So it is read generously, from the last message known, one call after the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from adapters.slack.bot_user import BotUser
from adapters.slack.envelope import CHANNEL
from adapters.slack.incoming.unread import Look, Unheard, Unread
from adapters.slack.outgoing.best_effort import Work
from adapters.slack.web import Web
from runtime.contract import Address, Now, Places, Seen
from runtime.errors import ChannelError, Retryable, StoreError

LOOK_BACK: Final = timedelta(hours=24)
THREADS: Final = 200  # of an account, those with the newest messages
ROOM_TRIES: Final = 5  # of one room, when Slack asks to wait
ROOMS_AT_ONCE: Final = 20
SPREAD: Final = timedelta(seconds=1.5)  # between further looks: those for uncertain messages share some 50 a minute
PAUSE: Final = timedelta(seconds=5)
HOLD: Final = timedelta(seconds=2)
"""How long an event waits for what was said before it in its room; Slack waits 3 s for the acknowledgement."""
RESENT: Final = timedelta(seconds=60)
"""So long after the begin of a repair a message may go without its acknowledgement. Slack sends it again at once, after 1
and after 5 minutes: the last of these comes when nothing is declined any more, whatever became of the history."""
DOUBT: Final = timedelta(minutes=6)
"""What Slack still tries to tell us may be so much older than the last that we took in."""

Message = Mapping[str, Any]
History = Callable[[Address, str], AsyncIterator[Message]]
"""What was said in a place since a timestamp, in any order. Errors: ChannelError."""
TakeIn = Callable[[Message, str], Awaitable[None]]
"""Takes a message of the history in; the room is its channel's id. Errors: StoreError."""

log = logging.getLogger(__name__)


class Gaps:
    """Of one account."""

    def __init__(
        self, web: Web, history: History, places: Places, now: Now, take_in: TakeIn, *, begin: Callable[[Work], None]
    ) -> None:
        self._web = web
        self._history = history
        self._places = places
        self._now = now
        self._take_in = take_in
        self._begin = begin
        self._running = asyncio.Lock()
        self._expected = self._found = 0  # gaps: those there are, and those of which the places are known
        self._unread = Unread()
        self._unheard = Unheard()
        self._begun_at = now() - RESENT
        self._changed = asyncio.Event()

    # ------------------------------------------------------------------------------------------------ what waits

    def expect(self) -> None:
        """Something was missed, and `repair` is about to read it: events that come meanwhile are newer."""
        self._expected += 1

    async def lets_in(self, place: Address, *, comes_again: bool, to_us: bool) -> bool:
        """True if an event may be taken in: now that what was missed there is, or that it waited for a moment.

        What `comes_again` may not in the first minute: it is in the history that is read next, or Slack sends it again.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(HOLD.total_seconds()):
                await self._caught_up(place, to_us=to_us)
        if not self._is_behind(place) or not comes_again or not self._is_early:
            return True
        self._unread.again(place)
        return False

    async def _caught_up(self, place: Address, *, to_us: bool) -> None:
        if self._is_expected:
            self._unread.want(place)
            await self._until(lambda: not self._is_expected)
        if to_us and self._is_early and (look := self._unheard.look(place)):
            self._unread.add([look])
            self._begin(self._read)
        if self._unread.holds(place):
            self._unread.want(place)
            self._tell()
            await self._until(lambda: not self._unread.holds(place))

    @property
    def _is_expected(self) -> bool:
        return self._found < self._expected

    @property
    def _is_early(self) -> bool:
        return timedelta() <= self._now() - self._begun_at < RESENT

    def _is_behind(self, place: Address) -> bool:
        return self._is_expected or self._unread.holds(place)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # ----------------------------------------------------------------------------------------------- what is read

    async def repair(self, me: BotUser, *, surely: bool = True) -> None:
        """Read what was missed; where that is not sure, the newest rooms. What cannot be read is told in the log.

        What an earlier `repair` still has to read is read from where that would have begun.
        """
        expected = self._expected
        if not self._unread:
            self._begun_at = self._now()
        try:
            await self._find(me, surely=surely)
        except StoreError as error:
            log.info("gaps are not looked for: %s", error)
        finally:
            self._found = max(self._found, expected)
            self._tell()
        await self._read()

    async def _find(self, me: BotUser, *, surely: bool) -> None:
        """Find the places to look in. Errors: StoreError."""
        fresh = self._now() - LOOK_BACK
        seen = await self._places.seen(CHANNEL, me.team, fresh)
        last = await self._places.last_heard(CHANNEL, me.team)
        found = looks(seen, self._web.slack_since(fresh))
        self._unread.add(found if surely else found[:ROOMS_AT_ONCE])
        if last is not None:
            known = {one.address for one in seen} | {place for place, _ in found}
            self._unheard = Unheard(known, self._web.slack_since(max(last - DOUBT, fresh)), most=ROOMS_AT_ONCE)

    async def _read(self) -> None:
        """All there is, one after the other, whoever else would."""
        async with self._running:
            try:
                for number, look in enumerate(iter(self._unread.take, None), 1):
                    await self._repaired(*look)
                    self._unread.done()
                    self._tell()
                    if number >= ROOMS_AT_ONCE and self._unread:
                        await self._spread()
            finally:
                self._unread = Unread()
                self._tell()

    async def _spread(self) -> None:
        """Not all at once; but nobody is kept waiting."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SPREAD.total_seconds()):
                await self._until(lambda: self._unread.is_wanted)

    async def _repaired(self, address: Address, oldest: str) -> None:
        for _ in range(ROOM_TRIES):
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
    """Places to look in, and since when: each room from its newest message outside of threads, and its newest threads.

    A room of which only threads are known is read from its oldest thread's begin: roots may have been said meanwhile.
    """
    rooms: dict[Address, list[str]] = defaultdict(list)
    threads: list[tuple[str, Address]] = []
    for one in seen:
        room = one.address.whole_room
        thread = one.address.thread
        is_root = not thread or thread == one.message_id
        rooms[room].append(one.message_id if is_root else thread)
        if thread:
            threads.append((one.message_id, one.address))
    newest = sorted(threads, key=lambda found: found[0], reverse=True)[:THREADS]
    roots = sorted(((max(known), room) for room, known in rooms.items()), key=lambda found: found[0], reverse=True)
    return [(address, max(freshest, since)) for since, address in roots + newest]
