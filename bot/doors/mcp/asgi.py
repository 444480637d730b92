"""Bridge from this web server to an application that speaks ASGI, as the library of the protocol does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final

from aiohttp import web

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]
GONE_LOOKS: Final = 2.0
"""Seconds between two looks whether the client is still there."""
SET_HERE: Final = frozenset({b"content-length", b"connection", b"transfer-encoding"})
"""Headers of an answer that this server writes itself."""


async def bridged(request: web.Request, application: Application, state: Mapping[str, object]) -> web.StreamResponse:
    """The answer of `application`, which finds `state` in its scope. It is streamed as it comes."""
    spoken = _Spoken(request, await request.read())
    await application({**_scope(request), "state": dict(state)}, spoken.receive, spoken.send)
    return spoken.response


def _scope(request: web.Request) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.raw_path.encode(),
        "query_string": request.query_string.encode(),
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": None,
        "server": None,
    }


class _Spoken:
    """One request and its answer."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        self._request = request
        self._body: bytes | None = body
        self.response = web.StreamResponse()

    async def receive(self) -> Message:
        """The body, and then, once the client is gone, that it is."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        while self._request.transport is not None and not self._request.transport.is_closing():  # noqa: ASYNC110 - nobody rings
            await asyncio.sleep(GONE_LOOKS)
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.response.set_status(message["status"])
            for name, value in message.get("headers", ()):
                if name.lower() not in SET_HERE:
                    self.response.headers.add(name.decode("latin-1"), value.decode("latin-1"))
            await self.response.prepare(self._request)
            return
        if body := message.get("body"):
            await self.response.write(body)
        if not message.get("more_body"):
            await self.response.write_eof()
