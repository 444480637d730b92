"""A client of the running process: its console API, with the token of `control.json`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

import aiohttp
from yarl import URL

from bot.node import login
from bot.node.lock import Control
from bot.operator.api import ROOT, Operation, OperatorApi
from bot.operator.views import View
from runtime.errors import BotError
from runtime.http import bodies
from runtime.http.errors import Refusal

API_TIMEOUT: Final = timedelta(seconds=30)  # above the longest wait of the API, 25 s
SLOW: Final = {"examine": timedelta(seconds=150)}
"""Operations that may take longer: the doctor has two minutes."""
NO_WHOLE_REPLY: Final = (aiohttp.ClientError, TimeoutError, ValueError, RuntimeError)
"""Errors of a request whose answer didn't come whole; RuntimeError where the session was closed meanwhile."""


class Gone(BotError):
    """The process does not answer (any more), or takes nothing in for now: the same may work in a while."""


class Client(OperatorApi):
    """Asks the running process, and speaks in rooms."""

    def __init__(self, session: aiohttp.ClientSession, control: Control) -> None:
        self._session = session
        self._control = control

    async def ask(self, operation: Operation, values: dict[str, Any]) -> Any:
        path = operation.path.format(id=quote(str(values.pop(operation.subject, "")), safe=""))
        url = URL(f"{self._control.url}{ROOT}{path}", encoded=True)
        if operation.method == "GET":
            return await self._answer("GET", url.with_query({name: str(value) for name, value in values.items()}))
        fields = values[operation.form] if operation.form else values
        return await self._answer(operation.method, url, fields, SLOW.get(operation.name, API_TIMEOUT))

    async def link(self, name: str, at: str = "") -> View:
        """With the whole address, where the process does not know its own."""
        return await super().link(name, at or self._control.url)

    async def invite(self, role: str = "user", until: str = "1d", at: str = "") -> View:
        """As with a link."""
        return await super().invite(role, until, at or self._control.url)

    async def say(self, room: str, text: str, id: str, agent: str = "") -> View:
        """Say `text` as the owner. What is too long is told here, rather than sent in vain."""
        words, _ = bodies.said({"text": text})
        return await super().say(room, words, id, agent)

    async def _answer(
        self, method: str, url: URL, fields: Mapping[str, Any] | None = None, within: timedelta = API_TIMEOUT
    ) -> Any:
        limit = aiohttp.ClientTimeout(total=within.total_seconds())
        try:
            async with self._session.request(method, url, json=fields, timeout=limit) as answer:
                told = json.loads(await answer.read())
        except NO_WHOLE_REPLY as error:
            raise Gone(
                f"The running process ({self._control.pid}) does not answer: {str(error) or 'no reply in time'}."
            ) from error
        if answer.status == 503:
            raise Gone(told.get("error", answer.reason))
        if answer.status >= 400:
            raise Refusal(answer.status, told.get("error", answer.reason))
        return told


@asynccontextmanager
async def connected(control: Control) -> AsyncIterator[Client]:
    # The guard of the page wants to hear the origin with everything that changes something.
    headers = {"Authorization": f"Bearer {control.token}", "Origin": control.url, **login.header()}
    timeout = aiohttp.ClientTimeout(total=API_TIMEOUT.total_seconds())
    async with aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=False) as session:
        yield Client(session, control)
