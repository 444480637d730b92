"""Streamed answers of vendors, a line at a time, none of which may be lost.

LiteLLM's own readers pass over a line that they cannot read, so that its words would be missing from an answer that looks
whole. They also cut lines at characters such as U+2028, which may stand in the middle of a JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import httpx

from runtime.models.lean.sent import receiving
from runtime.models.media.bounded import BOUND_OF_ANSWERS, TooLarge

END: Final = re.compile(rb"\r\n|\n|\r")
EVENTS: Final = "text/event-stream"
PLAIN_JSON: Final = frozenset({"application/json", "application/json; charset=utf-8"})
# What else may begin a line of events. Source: html.spec.whatwg.org, "Server-sent events", read 2026-11.
ASIDES: Final = (b":", b"event:", b"id:", b"retry:")
DONE: Final = b"[DONE]"
CUT_ERRORS: Final = (httpx.ReadError, httpx.RemoteProtocolError)
BOM: Final = b"\xef\xbb\xbf"


class Unreadable(httpx.RemoteProtocolError):
    """A line that is none of the protocol: the same to us as a connection that was cut there."""


class Streamed(httpx.Response):
    """A response whose lines are whole, and can be read by those who ask for lines."""

    @property
    def charset_encoding(self) -> str | None:
        """None for JSON in UTF-8, so that nobody looks for it: what names none is read so."""
        return None if self.headers.get("content-type", "").lower() in PLAIN_JSON else super().charset_encoding

    async def aiter_lines(self) -> AsyncIterator[str]:
        """Errors: Unreadable."""
        events = self.headers.get("content-type", "").lower().startswith(EVENTS)
        rest = b""
        async for data in self.aiter_bytes():
            *lines, rest = END.split(rest + data)
            for line in lines:
                if (text := checked(line, events=events)) is not None:
                    yield text
        if (text := checked(rest, events=events)) is not None:
            yield text


class Bounded(Streamed):
    """A response that is read no further than the bound of its answer, whatever its head says."""

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Errors: TooLarge."""
        size, read = BOUND_OF_ANSWERS.get(), 0
        async for piece in super().aiter_bytes(chunk_size):
            read += len(piece)
            if size is not None and read > size.most:
                size.is_exceeded = True
                raise TooLarge(f"more than {size.most:,} bytes")
            yield piece


def checked(line: bytes, *, events: bool) -> str | None:
    """`line` as text; None where it carries nothing. Errors: Unreadable.

    Lines of other streams than of events are left to their readers, which do not pass over them.
    """
    line = line.removeprefix(BOM)
    if line.startswith(b"data:"):
        return _data(line[len(b"data:") :].strip())
    if events and line and not line.startswith(ASIDES):
        raise Unreadable(f"a line of {len(line):,} bytes in a stream of events is none of the protocol")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise Unreadable(f"a line of {len(line):,} bytes is no UTF-8") from None


def _data(payload: bytes) -> str | None:
    if not payload:
        return None  # some servers keep a connection open so
    if payload != DONE and not _is_object(payload):
        raise Unreadable(f"a piece of {len(payload):,} bytes is no JSON object")
    return f"data: {payload.decode()}"


def _is_object(payload: bytes) -> bool:
    try:
        return isinstance(json.loads(payload.decode()), dict)
    except (ValueError, RecursionError):
        return False


class NoCookies(httpx.Cookies):
    """LiteLLM's clients keep none. To look for them in each answer took 2 % of a message."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


def reading(create: Callable[..., httpx.AsyncClient]) -> Callable[..., httpx.AsyncClient]:
    """`create`, whose clients answer with `Streamed` and look for no cookies: in place of what makes LiteLLM's clients."""

    def created(*arguments: Any, **named: Any) -> httpx.AsyncClient:
        client = create(*arguments, **named)
        client._cookies = NoCookies()
        client.event_hooks = {**client.event_hooks, "response": [*client.event_hooks["response"], streamed]}
        return client

    return created


async def streamed(response: httpx.Response) -> None:
    """Its body is not read yet, and its headers are: from here on its lines are ours."""
    if not isinstance(response, Streamed):
        response.__class__ = Streamed


def bounding(create: Callable[..., Any]) -> Callable[..., Any]:
    """`create`, whose transports hold answers to their bound, and take those that came in already: in place of what makes those of LiteLLM and OpenAI's client."""

    def created(*arguments: Any, **named: Any) -> Any:
        transport = create(*arguments, **named)
        if transport is not None:
            transport.handle_async_request = _bounded(transport.handle_async_request)
            if hasattr(transport, "_make_aiohttp_request"):  # OpenAI's client has another
                transport._make_aiohttp_request = receiving(transport._make_aiohttp_request)
        return transport

    return created


def _bounded(ask: Callable[[httpx.Request], Any]) -> Callable[[httpx.Request], Any]:
    async def asked(request: httpx.Request) -> httpx.Response:
        response: httpx.Response = await ask(request)
        if BOUND_OF_ANSWERS.get() is not None:
            response.__class__ = Bounded
        return response

    return asked
