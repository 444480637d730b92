"""Socket Mode: always one socket that hears. The next is open before the last is closed."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import aiohttp
from slack_bolt.response import BoltResponse

from adapters.slack.errors import FIXES, Refusal, brief
from adapters.slack.health import Health
from adapters.slack.incoming.socket import CONNECTION_CUT, SILENT, Socket, Store, cancelled
from adapters.slack.settings import Pace
from adapters.slack.web import Web
from runtime.contract import Connection
from runtime.errors import ChannelError, Retryable, StoreError, Uncertain

# Why Slack ends a socket. Source: docs.slack.dev/apis/events-api/using-socket-mode, read 2026-08.
REFRESH: Final = frozenset({"warning", "refresh_requested"})
DISABLED: Final = "link_disabled"
TOO_MANY: Final = "too_many_websockets"
QUIET: Final = "quiet"
UNSTORED: Final = "the database is away"
RESENT: Final = timedelta(seconds=60)
"""What was not acknowledged comes again after so long at the latest, and then only once more."""
RELAPSED_MOST: Final = timedelta(seconds=15)
"""At most so long a store that answers again is not believed, where it was away soon after it did so before."""

log = logging.getLogger(__name__)


class Sockets:
    """Runs until cancelled. `on_hearing` is called once it hears again after something was missed, or perhaps (False), and
    `on_opening` before it does. `ask_store` raises StoreError while the store is away."""

    def __init__(
        self,
        store: Store,
        *,
        web: Web,
        pace: Pace,
        health: Health,
        on_hearing: Callable[[bool], None],
        on_opening: Callable[[], None],
        ask_store: Callable[[], Awaitable[object]],
    ) -> None:
        self._store = store
        self._web = web
        self._pace = pace
        self._health = health
        self._on_hearing = on_hearing
        self._on_opening = on_opening
        self._ask_store = ask_store
        self._socket: Socket | None = None
        self._asking: asyncio.Future[None] | None = None
        self._failures = self._relapses = 0
        self._settled_at = 0.0
        self._gap: bool | None = True  # None: nothing was missed

    async def run(self) -> None:
        opened: list[Socket] = []  # one, and the one before while it is being closed: we may leave meanwhile
        try:
            while True:
                socket = await self._next()
                if socket is None:
                    continue
                self._socket = socket
                opened.append(socket)
                while opened[0] is not socket:
                    await opened[0].close()
                    del opened[0]
                reason = await self._until_end(socket)
                await self._told(reason, socket)
                if reason == UNSTORED:
                    await socket.close(within=timedelta())
                    opened.clear()
                    await self._until_stored()
        finally:
            await cancelled(self._asking)
            for socket in opened:
                await socket.close()

    async def _next(self) -> Socket | None:
        """One that hears; None after a wait where there is none to be had."""
        if self._gap is not None:
            self._on_opening()
        try:
            socket = await self._open()
        except ChannelError as error:
            self._gap = True
            self._health.no_way_in(error)
            await asyncio.sleep(self._wait(error).total_seconds())
            return None
        self._failures = 0
        self._health.up()
        if self._gap is not None:
            self._on_hearing(self._gap)
            self._gap = None
        return socket

    async def _open(self) -> Socket:
        """Errors: ChannelError."""
        socket = Socket(self._health.who, self._timed, self._web.client, await self._web.open_socket(), self._pace)
        try:
            async with asyncio.timeout(self._pace.hello.total_seconds()):
                await socket.connect()
                await self._greeted(socket)
        except BaseException as error:
            await socket.close()
            if isinstance(error, (aiohttp.ClientError, OSError)):
                raise Retryable(f"the socket does not open ({brief(error)})") from error
            raise
        return socket

    async def _greeted(self, socket: Socket) -> None:
        """Only Slack's hello says that it will send us events. Errors: ChannelError."""
        await asyncio.wait({socket.greeted, socket.ended}, return_when=asyncio.FIRST_COMPLETED)
        if socket.ended.done():
            raise _ending(socket.ended.result())

    async def _until_end(self, socket: Socket) -> str:
        """Wait until the socket must be replaced; the reason."""
        look = min(self._pace.silent, self._pace.quiet).total_seconds() / 4
        while True:
            done, _ = await asyncio.wait({socket.ended}, timeout=look)
            now = time.monotonic()
            if done:
                return socket.ended.result()
            if now - socket.heard_at > self._pace.silent.total_seconds():
                return SILENT
            if now - socket.event_at > self._pace.quiet.total_seconds():
                return QUIET

    def slack_answers(self) -> None:
        """Slack answered a call: a socket that says nothing is looked at."""
        if self._socket:
            self._socket.doubt()

    async def _timed(self, body: Mapping[str, Any]) -> BoltResponse:
        """Store an event. Where that takes long, the store may be away: Slack tells it again after 3 s, and then after a minute."""
        timer = asyncio.get_running_loop().call_later(self._pace.store.total_seconds(), self.store_is_away)
        try:
            return await self._store(body)
        finally:
            timer.cancel()

    def store_is_away(self) -> None:
        """An event could not be stored, or is not yet. If the store answers nothing else either, Slack tells it to other
        processes, as soon as this one has no socket."""
        if self._socket and self._asking is None:
            self._asking = asyncio.ensure_future(self._asked(self._socket))

    async def _asked(self, socket: Socket) -> None:
        try:
            if not await self._store_answers():
                socket.end(UNSTORED)
        finally:
            self._asking = None

    async def _store_answers(self) -> bool:
        try:
            async with asyncio.timeout(self._pace.store.total_seconds()):
                await self._ask_store()
        except (StoreError, TimeoutError) as error:
            log.debug("%s: the database is away: %s", self._health.who, error)
            return False
        return True

    async def _until_stored(self) -> None:
        """Wait until the store answers; longer where it did so before, and was away soon again: Slack bounds how many sockets
        may be opened in a minute."""
        began = time.monotonic()
        self._relapses = self._relapses + 1 if began < self._settled_at else 0
        wait = min(self._pace.again_first * 2 ** min(self._relapses, 10), RELAPSED_MOST)
        is_back = False
        while not is_back:
            await asyncio.sleep(self._spread(wait).total_seconds())
            is_back, wait = await self._store_answers(), self._pace.again_first
        ended = time.monotonic()
        self._settled_at = ended + RESENT.total_seconds()
        self._gap = ended - began > RESENT.total_seconds()

    async def _told(self, reason: str, socket: Socket) -> None:
        """Note the end of a socket. After a refresh the old one hears until the new one does."""
        log.debug("a socket ends: %s", reason)
        if reason not in REFRESH:
            self._gap = reason != QUIET
        if reason == SILENT:
            seconds = time.monotonic() - socket.heard_at
            self._health.deaf(f"the socket was silent for {seconds:.0f} s; a new one is being opened.")
            await asyncio.sleep(self._spread(self._pace.again_first).total_seconds())  # all may go deaf at once
        elif reason == UNSTORED:
            self._health.down(f"{UNSTORED}, so other processes take its events; its socket is opened again after that.")
        elif reason not in REFRESH | {QUIET}:
            self._health.no_way_in(_ending(reason))

    def _wait(self, error: ChannelError) -> timedelta:
        """Wait before the next try: doubled with each failure, and at least as long as Slack asks."""
        if isinstance(error, Refusal) and self._health.standing.connection is Connection.REFUSED:
            return self._pace.refused
        self._failures += 1
        grown = min(self._pace.again_first * 2 ** min(self._failures - 1, 10), self._pace.again_most)
        named = getattr(error, "retry_after", None) or timedelta()
        return self._spread(max(grown, named))

    def _spread(self, wait: timedelta) -> timedelta:
        spread: timedelta = wait * (0.875 + random.random() / 4)  # noqa: S311 - not a secret
        return spread


def _ending(reason: str) -> ChannelError:
    """The end of a socket as an error."""
    if reason == DISABLED:
        return Refusal(FIXES[DISABLED], code=DISABLED)
    if reason == TOO_MANY:
        return Retryable("the app has ten sockets open already, which is as many as Slack allows")
    return Uncertain(
        f"{reason}; a new connection is being opened" if reason == CONNECTION_CUT else f"Slack ended it: {reason}"
    )
