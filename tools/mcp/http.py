"""A server of others over streamable HTTP: the SDK's transport, with our bounds on what it may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from tools.mcp.terms import Endpoint

LONGEST_BODY: Final = 8 * 1024 * 1024  # bytes, as over standard output
CONNECT_TIMEOUT_SECONDS: Final = 15.0  # seconds to connect and to be heard
SILENCE: Final = 300.0  # seconds a stream of events may say nothing; calls have a bound of their own


@asynccontextmanager
async def http(endpoint: Endpoint) -> AsyncIterator[TransportStreams]:
    """The server's address is the operator's word, so it may lead anywhere; a redirect may not. TLS is verified.

    Variables for proxies and files with passwords are not looked at: only the settings say what goes where.
    """
    timeout = httpx2.Timeout(CONNECT_TIMEOUT_SECONDS, read=SILENCE)
    async with (
        httpx2.AsyncClient(
            headers=dict(endpoint.headers),
            timeout=timeout,
            transport=Bounded(httpx2.AsyncHTTPTransport(trust_env=False)),
            trust_env=False,
        ) as client,
        streamable_http_client(endpoint.url, http_client=client, max_sse_event_size=LONGEST_BODY) as streams,
    ):
        yield streams


class Bounded(httpx2.AsyncBaseTransport):
    """Another transport, whose answers end with an error where they grow too long; streams of events may go on."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, longest: int = LONGEST_BODY) -> None:
        self._inner = inner
        self._longest = longest

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").lower()
        if kind.startswith("text/event-stream") or not isinstance(response.stream, httpx2.AsyncByteStream):
            return response
        response.stream = _Counted(response.stream, self._longest)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, longest: int) -> None:
        self._inner = inner
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for chunk in self._inner:
            count += len(chunk)
            if count > self._longest:
                raise httpx2.StreamError(f"an answer of more than {self._longest:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
