"""One websocket of Socket Mode: slack-sdk's client, without its own ways of reconnecting.

The SDK's client closes the old socket before it opens the next, hides a refused token in an endless loop, and leaves
its tasks to nobody. Here a socket lives once; `sockets.py` decides what follows its end.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.settings import Pace
from adapters.slack.web import sdk_log

ENVELOPES_AT_ONCE: Final = 100
"""Envelopes being stored at once. More wait in the connection: Slack sends again what waits too long."""

CONNECTION_CUT: Final = "the connection was cut"
SILENT: Final = "silent"
LEFT: Final = "we left"

log = logging.getLogger(__name__)


Store = Callable[[Mapping[str, Any]], Awaitable[BoltResponse]]
"""Takes an event in. Nobody signs what comes over a socket, and it is read already: bolt has nothing to do there."""


class Socket(SocketModeClient):
    """Opens, answers envelopes, and ends. `ended` tells why: what Slack said ("refresh_requested", …), or a word of ours."""

    def __init__(self, who: str, store: Store, web: AsyncWebClient, url: str, pace: Pace) -> None:
        super().__init__(
            "", logger=sdk_log, web_client=web, auto_reconnect_enabled=False, ping_interval=pace.ping.total_seconds()
        )
        self.wss_uri = url
        loop = asyncio.get_running_loop()
        self.greeted: asyncio.Future[str] = loop.create_future()
        self.ended: asyncio.Future[str] = loop.create_future()
        self.heard_at = self.event_at = self.asked_at = time.monotonic()
        self._who = who
        self._store = store
        self._pace = pace
        self._room = asyncio.Semaphore(ENVELOPES_AT_ONCE)
        self._envelopes: set[asyncio.Future[None]] = set()
        self._test: asyncio.Future[None] | None = None
        self.socket_mode_request_listeners.append(self._answer)

    # ------------------------------------------------------------------------------------------------- its life

    async def connect(self) -> None:
        """Once. Errors: aiohttp.ClientError, OSError."""
        self.current_session = await self.aiohttp_client_session.ws_connect(
            self.wss_uri or "", autoping=False, proxy=self.proxy, max_msg_size=0
        )
        self.message_receiver = asyncio.ensure_future(self.receive_messages())
        self.current_session_monitor = asyncio.ensure_future(self.monitor_current_session())

    async def receive_messages(self) -> None:
        """Until the connection ends."""
        session = self.current_session
        assert session is not None  # noqa: S101 - `connect` began this
        try:
            async for message in session:
                self.heard_at = time.monotonic()
                if message.type is aiohttp.WSMsgType.PING:
                    await session.pong(message.data)
                elif message.type is aiohttp.WSMsgType.TEXT:
                    await self.enqueue_message(message.data)
        except (aiohttp.ClientError, ConnectionError):
            pass  # as when it ends by itself: `CONNECTION_CUT` below
        finally:
            self.end(CONNECTION_CUT)

    async def monitor_current_session(self) -> None:
        """Ping, so that a living socket is never silent."""
        session = self.current_session
        assert session is not None  # noqa: S101 - as above
        while not session.closed:
            await asyncio.sleep(self._pace.ping.total_seconds())
            if not await self._pinged(session):
                return

    async def _pinged(self, session: aiohttp.ClientWebSocketResponse) -> bool:
        if self.heard_at >= self.asked_at:  # of several pings without an answer the first one counts
            self.asked_at = time.monotonic()
        try:
            await session.ping()
        except (aiohttp.ClientError, ConnectionError):
            self.end(CONNECTION_CUT)
            return False
        return True

    def doubt(self) -> None:
        """Slack answered a call just now. If a ping is unanswered here, the way was cut meanwhile, and this connection may be
        dead: it need not be silent for as long as one is where nothing is known."""
        waits = time.monotonic() - self.asked_at if self.heard_at < self.asked_at else 0.0
        if self._test is None and not self.ended.done() and waits > self._pace.pong.total_seconds():
            self._test = asyncio.ensure_future(self._tested())

    async def _tested(self) -> None:
        """One more ping: a process that was frozen has not read yet what came in the meantime."""
        heard, session = self.heard_at, self.current_session
        if session is not None and await self._pinged(session):
            await asyncio.sleep(self._pace.pong.total_seconds())
            if self.heard_at == heard:
                self.end(SILENT)
        self._test = None

    async def close(self, within: timedelta | None = None) -> None:
        """Let what is being stored be answered, `within` as long as usual, then leave nothing behind."""
        self.closed = True
        await cancelled(self.message_receiver, self.message_processor, self.current_session_monitor, self._test)
        if self._envelopes:
            retire = self._pace.retire if within is None else within
            await asyncio.wait(self._envelopes, timeout=retire.total_seconds())
        await cancelled(*self._envelopes)
        if self.current_session is not None:
            with suppress(TimeoutError):  # of a dead one no farewell comes
                async with asyncio.timeout(self._pace.pong.total_seconds()):
                    await self.current_session.close()
        await self.aiohttp_client_session.close()
        self.end(LEFT)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """The SDK would do that here. `sockets.py` does, when this one ends."""

    def end(self, why: str) -> None:
        """Have it replaced. The first reason counts."""
        _set(self.ended, why)

    # ------------------------------------------------------------------------------------------------ envelopes

    async def enqueue_message(self, message: str) -> None:
        """Read at once, so that Slack's last word is heard before the connection ends; envelopes are stored side by side."""
        try:
            told = json.loads(message)
            kind = told["type"]
        except (ValueError, KeyError, TypeError):
            log.warning("a message on a socket of Slack was left out: it is no JSON object with a type")
            return
        match kind:
            case "hello":
                _set(self.greeted, "hello")
            case "disconnect":
                self.end(str(told.get("reason")))
            case _:
                await self._begin(told, message)

    async def _begin(self, envelope: dict[str, Any], raw: str) -> None:
        self.event_at = time.monotonic()
        await self._room.acquire()
        task = asyncio.ensure_future(self.run_message_listeners(envelope, raw))
        self._envelopes.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Future[None]) -> None:
        self._envelopes.discard(task)
        self._room.release()

    async def _answer(self, client: Any, request: SocketModeRequest) -> None:
        """Acknowledged only when the intake says so; and what it cannot read at all, so that it does not come again."""
        began = time.time()
        try:
            response = await self._store(request.payload)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            log.warning("%s: an event we cannot read was left out (%s: %s)", self._who, type(error).__name__, error)
            response = BoltResponse(status=200, body="")
        await send_async_response(self, request, response, began)


def _set(future: asyncio.Future[str], word: str) -> None:
    if not future.done():
        future.set_result(word)


async def cancelled(*tasks: asyncio.Future[None] | None) -> None:
    """Ended, whatever they were at."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
