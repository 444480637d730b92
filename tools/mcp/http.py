"""A server of others over streamable HTTP: the SDK's transport, with our bounds on what it may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from runtime.egress import LookUp, SystemLookUp, special
from tools.mcp.oauth.provider import Provider
from tools.mcp.terms import Endpoint

LONGEST_BODY: Final = 8 * 1024 * 1024  # bytes, as over standard output
CONNECT_TIMEOUT_SECONDS: Final = 15.0  # seconds to connect and to be heard
SILENCE: Final = 300.0  # seconds a stream of events may say nothing; calls have a bound of their own


@asynccontextmanager
async def http(endpoint: Endpoint, refused: Callable[[str], None]) -> AsyncIterator[TransportStreams]:
    """The server's address is the operator's word, so it may lead anywhere; a redirect may not. TLS is verified.

    Variables for proxies and files with passwords are not looked at: only the settings say what goes where. `refused` is
    told where a person must log in.
    """
    timeout = httpx2.Timeout(CONNECT_TIMEOUT_SECONDS, read=SILENCE)
    login = endpoint.login
    async with (
        httpx2.AsyncClient(
            headers=dict(endpoint.headers),
            timeout=timeout,
            transport=Homebound(endpoint.url, Bounded(httpx2.AsyncHTTPTransport(trust_env=False))),
            auth=Provider(endpoint.url, login, refused) if login else None,
            trust_env=False,
        ) as client,
        streamable_http_client(endpoint.url, http_client=client, max_sse_event_size=LONGEST_BODY) as streams,
    ):
        yield streams


class Homebound(httpx2.AsyncBaseTransport):
    """Another transport, for the server at `url` and what it names for a login: only over TLS, unless all of it is on this
    machine. So a server can't have us look around in the network we are in, by a name of that either."""

    def __init__(self, url: str, inner: httpx2.AsyncBaseTransport, look_up: LookUp | None = None) -> None:
        self._home = httpx2.URL(url)
        self._inner = inner
        self._look_up = look_up or SystemLookUp()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not may_reach(self._home, request.url) or await self._leads_inside(request.url.host):
            raise httpx2.UnsupportedProtocol(
                f"it names {request.url.scheme}://{request.url.host} for its login, which isn't public"
            )
        return await self._inner.handle_async_request(request)

    async def _leads_inside(self, host: str) -> bool:
        """True for a name of the network we are in, where the server itself is outside of it."""
        if host == self._home.host or _is_here(self._home):
            return False
        return not await self._is_public(host) and await self._is_public(self._home.host)

    async def _is_public(self, host: str) -> bool:
        try:
            found = await self._look_up(host)
        except OSError:
            return True  # it leads nowhere, as the connection will tell
        return all(special(ip_address(one)) is None for one in found)

    async def aclose(self) -> None:
        await self._inner.aclose()


def may_reach(home: httpx2.URL, url: httpx2.URL) -> bool:
    """True for the server itself, for what is public and speaks TLS, and from this machine to itself."""
    if (url.scheme, url.host, url.port) == (home.scheme, home.host, home.port):
        return True
    if _is_here(home):
        return _is_here(url) or url.scheme == "https"
    try:
        return url.scheme == "https" and ip_address(url.host).is_global
    except ValueError:  # a name
        return url.scheme == "https" and not _is_here(url)


def _is_here(url: httpx2.URL) -> bool:
    try:
        return ip_address(url.host).is_loopback
    except ValueError:
        return url.host == "localhost" or url.host.endswith(".localhost")


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
