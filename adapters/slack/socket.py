"""One websocket of Socket Mode: slack-sdk's client, without its own ways of reconnecting.

The SDK's client closes the old socket before it opens the next, hides a refused token in an endless loop, and leaves
its tasks to nobody. Here a socket lives once; `sockets.py` decides what follows its end.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import Any, Final

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.settings import Pace
from adapters.slack.web import sdk_log

AT_ONCE: Final = 100
"""Envelopes being stored at once. More wait in the connection: Slack sends again what waits too long."""

CUT: Final = "the connection was cut"
LEFT: Final = "we left"

log = logging.getLogger(__name__)


class Socket(SocketModeClient):
    """Opens, answers envelopes, and ends. `ended` tells why: what Slack said ("refresh_requested", …), or `CUT`."""

    def __init__(self, app: AsyncApp, web: AsyncWebClient, url: str, pace: Pace) -> None:
        super().__init__(
            "", logger=sdk_log, web_client=web, auto_reconnect_enabled=False, ping_interval=pace.ping.total_seconds()
        )
        self.wss_uri = url
        loop = asyncio.get_running_loop()
        self.greeted: asyncio.Future[str] = loop.create_future()
        self.ended: asyncio.Future[str] = loop.create_future()
        self.heard_at = self.event_at = time.monotonic()
        self._app = app
        self._pace = pace
        self._room = asyncio.Semaphore(AT_ONCE)
        self._envelopes: set[asyncio.Task[None]] = set()
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
                    await self._room.acquire()
                    await self.enqueue_message(message.data)
        except (aiohttp.ClientError, ConnectionError):
            pass  # as when it ends by itself: `CUT` below
        finally:
            self._end(CUT)

    async def monitor_current_session(self) -> None:
        """Ping, so that a living socket is never silent."""
        session = self.current_session
        assert session is not None  # noqa: S101 - as above
        while not session.closed:
            await asyncio.sleep(self._pace.ping.total_seconds())
            try:
                await session.ping()
            except (aiohttp.ClientError, ConnectionError):
                self._end(CUT)
                return

    async def close(self) -> None:
        """Let what is being stored be answered, then leave nothing behind."""
        self.closed = True
        await _cancelled(self.message_receiver, self.message_processor, self.current_session_monitor)
        if self._envelopes:
            await asyncio.wait(self._envelopes, timeout=self._pace.retire.total_seconds())
        await _cancelled(*self._envelopes)
        if self.current_session is not None:
            await self.current_session.close()
        await self.aiohttp_client_session.close()
        self._end(LEFT)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """The SDK would do that here. `sockets.py` does, when this one ends."""

    def _end(self, why: str) -> None:
        _set(self.ended, why)

    # ------------------------------------------------------------------------------------------------ envelopes

    async def process_message(self) -> None:
        """Begin with the next one."""
        raw = await self.message_queue.get()
        task = asyncio.ensure_future(self._processed(raw))
        self._envelopes.add(task)
        task.add_done_callback(self._envelopes.discard)

    async def _processed(self, raw: str) -> None:
        try:
            message = json.loads(raw)
            await self.run_message_listeners(message if isinstance(message, dict) else {}, raw)
        except ValueError:
            log.warning("a message on a socket of Slack was no JSON, and was left out")
        finally:
            self._room.release()

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        match message.get("type"):
            case "hello":
                _set(self.greeted, "hello")
            case "disconnect":
                self._end(str(message.get("reason")))
            case _:
                self.event_at = time.monotonic()
                await super().run_message_listeners(message, raw_message)

    async def _answer(self, client: Any, request: SocketModeRequest) -> None:
        """Acknowledged only when the intake says so."""
        began = time.time()
        response = await run_async_bolt_app(self._app, request)
        await send_async_response(self, request, response, began)


def _set(future: asyncio.Future[str], word: str) -> None:
    if not future.done():
        future.set_result(word)


async def _cancelled(*tasks: asyncio.Future[None] | None) -> None:
    """Ended, whatever they were at."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
