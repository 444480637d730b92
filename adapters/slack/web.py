"""The Web API of one workspace: the only place where a client is made, and where its errors become ours."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import ours
from adapters.slack.settings import SlackSettings
from runtime.contract import Now
from runtime.errors import Uncertain
from runtime.http.last_look import LookingRequest
from runtime.http.platform_clock import PlatformClock

SLACK: Final = AsyncWebClient.BASE_URL
ANSWER_WITHIN: Final = 25  # seconds; the courier gives a send 30
CONNECT_WITHIN: Final = 8  # seconds
CANNOT_READ: Final = (ValueError, AttributeError)
"""What the client raises over an answer that is not Slack's, such as a proxy's page."""

Answer = Mapping[str, Any]

sdk_log: Final = logging.getLogger("slack.sdk")
sdk_log.setLevel(logging.ERROR)
"""At NOTSET the client formats a debug line of every request; its warnings are of settings that it finds itself."""


def make_client(settings: SlackSettings, *, token: str | None) -> AsyncWebClient:
    """A client that sends each request once: our courier repeats what may be repeated."""
    return AsyncWebClient(
        token=token,
        base_url=settings.api_base_url or SLACK,
        timeout=ANSWER_WITHIN,
        retry_handlers=[],
        logger=sdk_log,
    )


class Web:
    """Calls of one account, and the clock by which Slack tells times. `on_answer` is called whenever Slack answered one."""

    def __init__(self, settings: SlackSettings, now: Now) -> None:
        self.client = make_client(settings, token=settings.bot_token)
        self.clock = PlatformClock("Slack", now)
        self.on_answer: Callable[[], None] = lambda: None
        self._app_token = settings.app_token

    @asynccontextmanager
    async def kept_open(self) -> AsyncIterator[None]:
        """Inside the block connections are used again; outside each call makes its own."""
        limits = aiohttp.ClientTimeout(total=ANSWER_WITHIN, connect=CONNECT_WITHIN)
        async with aiohttp.ClientSession(timeout=limits, request_class=LookingRequest) as session:
            self.client.session = session
            try:
                yield
            finally:
                self.client.session = None

    @asynccontextmanager
    async def http(self) -> AsyncIterator[aiohttp.ClientSession]:
        """For what is no call: bytes up and down."""
        if (session := self.client.session) and not session.closed:
            yield session
            return
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(connect=CONNECT_WITHIN)) as session:
            yield session

    async def call(self, method: str, **arguments: Any) -> Answer:
        """The answer to `method`, with the arguments that are not None.

        Errors: Retryable (not done), Uncertain (perhaps done), Refusal (Slack said no, and why).
        """
        told, _ = await self.answer(method, **arguments)
        return told

    async def answer(self, method: str, **arguments: Any) -> tuple[Answer, Mapping[str, str]]:
        """The answer with its headers."""
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            response = await getattr(self.client, method.replace(".", "_"))(**given)
        except (SlackClientError, aiohttp.ClientError, OSError, *CANNOT_READ) as error:
            raise ours(error, method) from error
        self.clock.heed(response.headers.get("Date"))
        self.on_answer()
        return response.data, response.headers

    async def open_socket(self) -> str:
        """The address of a new websocket; it may be used once, soon. Errors: as `call`."""
        return value(await self.call("apps.connections.open", app_token=self._app_token), "url")

    def slack_since(self, at: datetime) -> str:
        """Slack's timestamp from which on nothing is missed that came after our time `at`."""
        return f"{min(at, at + self.clock.lead).timestamp():.6f}"

    def slack_time(self, at: datetime) -> str:
        """Our time `at` as Slack's timestamp of the same moment."""
        return f"{(at + self.clock.lead).timestamp():.6f}"


def value(told: Answer, name: str) -> str:
    """A text that Slack's answer must hold. Errors: Uncertain, where it is no answer of Slack's."""
    found = told.get(name)
    if not isinstance(found, str):
        raise Uncertain(f"Slack's answer has no {name}. Is there a proxy in between?")
    return found
