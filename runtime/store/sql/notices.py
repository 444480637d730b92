"""Wake-ups between nodes by PostgreSQL's NOTIFY, outside transactions and after their commit.

A notice may be lost without harm, since whoever waits also looks now and then by itself. One connection tells, another
one listens.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, Protocol

import structlog

from runtime.errors import StoreError
from runtime.store.sql.envelopes import EVERYTHING, Outgoing, head, opened, sealed
from runtime.store.sql.telling import FAILURES, NOTIFY_CHANNEL, Deaf, connected, echo, fix_of, reason_of, tell

log = structlog.get_logger("notices")

GATHER: Final = timedelta(milliseconds=20)
"""Between two statements: topics of that time go together, and there are at most 50 statements a second."""
CHECK: Final = timedelta(seconds=15)
"""Between two signs of life on a listening connection: a way that ended without a word is noticed then."""
GLANCE: Final = timedelta(seconds=0.25)
"""Between two looks of a node that hears nothing."""
BUSY: Final = timedelta(seconds=1)
"""After such a look that found something, since everybody then looks at everything."""
LONGEST_PAUSE: Final = 15.0
"""Seconds between two tries to listen."""
STRIKES: Final = 2
"""Failures in a row, with the database well, after which the way is wrong rather than cut."""


class TopicReceiver(Protocol):
    """Receiver of topics."""

    def heard(self, topic: str) -> None:
        """Another node rang this topic."""

    def look_around(self) -> None:
        """Something may have changed anywhere."""


def pauses() -> Iterator[float]:
    """Seconds before each next try: none at first, then doubling, with chance so that nodes do not come all at once."""
    yield 0.0
    pause = 0.25
    while True:
        yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
        pause = min(pause * 2, LONGEST_PAUSE)


class Notices:
    """Tells other nodes what rings here, and hears what rings there.

    `newest` gives something that changes with every lasting change in the database: what is looked at, each 250 ms, by a
    node that cannot hear.
    """

    def __init__(self, *, url: str, listen_url: str, newest: Callable[[], Awaitable[object]]) -> None:
        self._url = url
        self._listen_url = listen_url
        self._newest = newest
        self._sender = secrets.token_hex(8)
        self._head = head(self._sender)
        self._outgoing = Outgoing()
        self._some = asyncio.Event()
        self._told = asyncio.Event()
        self._told.set()
        self._deaf = asyncio.Event()
        self._strikes = 0
        self._most_strikes = 1  # until it was heard once: then a failure is rather a way that was cut

    def tell(self, topic: str) -> None:
        """Have the other nodes hear `topic` soon. Never waits and never fails."""
        self._outgoing.add(topic)
        self._told.clear()
        self._some.set()

    async def flush(self, within: timedelta) -> None:
        """Wait until all is told, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within.total_seconds()):
                await self._told.wait()

    async def run(self, receiver: TopicReceiver) -> None:
        """Tell and hear until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell_on())
            group.create_task(self._listen_on(receiver))
            group.create_task(self._glance_on(receiver))

    # -------------------------------------------------------------------------------------------------- telling

    async def _tell_on(self) -> None:
        waits = pauses()
        while True:
            await self._some.wait()
            try:
                async with connected(self._url) as connection:
                    while True:
                        await self._tell_what_waits(connection)
                        waits = pauses()
            except FAILURES as error:
                log.debug("other nodes are not told yet", reason=reason_of(error))
                await asyncio.sleep(next(waits))

    async def _tell_what_waits(self, connection: Any) -> None:
        """Tell what rang first at once; what rings within the next moments goes together."""
        await self._some.wait()
        self._some.clear()
        topics = self._outgoing.take()
        try:
            await tell(connection, sealed(self._sender, topics))
        except BaseException:
            self._outgoing.add(*topics)
            self._some.set()
            raise
        if not self._outgoing:
            self._told.set()
        await asyncio.sleep(GATHER.total_seconds())

    # -------------------------------------------------------------------------------------------------- hearing

    async def _listen_on(self, receiver: TopicReceiver) -> None:
        waits = pauses()
        while True:
            try:
                async with connected(self._listen_url) as connection:
                    gone = await self._listened(connection, receiver)
                    waits = pauses()
                    await self._stay(connection, gone)
            except (Deaf, *FAILURES) as error:
                await self._count(error)
            await asyncio.sleep(next(waits))

    async def _listened(self, connection: Any, receiver: TopicReceiver) -> asyncio.Event:
        """Begin to hear, and look at all that rang before. The event is set when the connection ends."""
        gone = asyncio.Event()
        connection.add_termination_listener(lambda _: gone.set())
        await connection.add_listener(NOTIFY_CHANNEL, lambda *given: self._hear(given[-1], receiver))
        await echo(connection, self._url)
        self._strikes, self._most_strikes = 0, STRIKES
        if self._deaf.is_set():
            self._deaf.clear()
            log.info("other nodes are heard again")
        receiver.look_around()
        return gone

    async def _stay(self, connection: Any, gone: asyncio.Event) -> None:
        """Return when the connection ended. Errors: `FAILURES` when it ended without a word."""
        while not gone.is_set():
            try:
                async with asyncio.timeout(CHECK.total_seconds()):
                    await gone.wait()
            except TimeoutError:
                await connection.execute("SELECT 1")

    def _hear(self, text: str, receiver: TopicReceiver) -> None:
        if text.startswith(self._head):
            return
        try:
            topics = opened(text)[1]
        except ValueError:
            log.debug("a notice of somebody else", channel=NOTIFY_CHANNEL)
            return
        for topic in topics:
            if topic == EVERYTHING:
                receiver.look_around()
            else:
                receiver.heard(topic)

    # ----------------------------------------------------------------------------------------------------- deaf

    async def _count(self, error: Exception) -> None:
        """Tell once when the way is wrong. While the whole database is away, the store says so, and this is silent."""
        log.debug("other nodes are not heard", reason=reason_of(error))
        if self._deaf.is_set() or not (isinstance(error, Deaf) or await self._is_struck()):
            return
        self._deaf.set()
        log.warning(
            "other nodes are not heard",
            reason=reason_of(error),
            effect=f"changes are looked for each {GLANCE / timedelta(milliseconds=1):.0f} ms instead",
            fix=fix_of(error),
        )

    async def _is_struck(self) -> bool:
        """True if one more failure is too many."""
        try:
            await self._newest()
        except StoreError:
            return False
        self._strikes += 1
        return self._strikes >= self._most_strikes

    async def _glance_on(self, receiver: TopicReceiver) -> None:
        """In place of hearing: look whether anything was written."""
        seen: object = None
        while True:
            await self._deaf.wait()
            await asyncio.sleep(GLANCE.total_seconds())
            with suppress(StoreError):
                now = await self._newest()
                if now != seen:
                    seen = now
                    receiver.look_around()
                    await asyncio.sleep((BUSY - GLANCE).total_seconds())
