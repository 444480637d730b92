"""One request over connections to addresses that were judged before, with aiohttp. Loaded by the first request."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from runtime.egress.addresses import Ip
from runtime.egress.errors import NoAnswer
from runtime.egress.places import Place

MOST_DIALLED: Final = 8  # addresses of one host
LONGEST_HEADER: Final = 8190  # bytes of one line
MOST_HEADERS: Final = 128
# Only what is always built in: a body in any other form is not an answer to what we asked for.
ENCODINGS: Final = "gzip, deflate"


class Judged(AbstractResolver):
    """Gives the addresses that were judged, whatever it is asked."""

    def __init__(self, addresses: Sequence[Ip]) -> None:
        self._addresses = addresses[:MOST_DIALLED]

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=str(address), port=port, family=_family(address), proto=0, flags=0)
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _family(address: Ip) -> socket.AddressFamily:
    return socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET


def connector(addresses: Sequence[Ip], tls: ssl.SSLContext | None) -> aiohttp.TCPConnector:
    """Connections to `addresses` alone, none of which outlives its request."""
    judged = frozenset(addresses)

    def make_socket(info: tuple[Any, ...]) -> socket.socket:
        """The last thing before a packet leaves: whatever led here, nothing else is dialled."""
        family, kind, protocol, _, where = info
        if ip_address(where[0]) not in judged:
            raise PermissionError(errno.EACCES, f"{where[0]} was not judged")
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(
        resolver=Judged(addresses),
        socket_factory=make_socket,
        use_dns_cache=False,
        force_close=True,
        ssl=tls or True,
    )


class Wire:
    """Progress of one request: the address it went to, and whether bytes may have been sent."""

    def __init__(self) -> None:
        self.sent = False
        self.place: Place | None = None

    def trace(self) -> aiohttp.TraceConfig:
        async def connected(*_: object) -> None:
            self.sent = True  # from here on bytes may be out, even if we cannot know which

        config = aiohttp.TraceConfig()
        config.on_connection_create_end.append(connected)
        return config


@asynccontextmanager
async def sending(
    method: str,
    place: Place,
    addresses: Sequence[Ip],
    *,
    wire: Wire,
    tls: ssl.SSLContext | None,
    headers: Mapping[str, str],
    body: bytes | None,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Send one request and give its answer, whose body is still to be read. No proxy, no cookie, no redirect.

    Errors: NoAnswer, also for what goes wrong while the caller reads.
    """
    session = aiohttp.ClientSession(
        connector=connector(addresses, tls),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the caller has one for everything
        trace_configs=[wire.trace()],
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
        max_headers=MOST_HEADERS,
    )
    try:
        async with (
            session,
            session.request(
                method,
                place.url,
                headers={"Accept-Encoding": ENCODINGS, **headers},
                data=body,
                allow_redirects=False,
            ) as answer,
        ):
            yield answer
    except (aiohttp.ClientError, OSError) as error:
        raise NoAnswer(told(error, place), sent=wire.sent) from error


def told(error: Exception, place: Place) -> str:
    """Fault in words: the library's own may repeat the address with its query."""
    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return f"{place.shown} could not prove its identity: {_reason(error)}."
        case aiohttp.ClientConnectorError():
            return f"{place.shown} could not be reached: {error.strerror or 'no connection'}."
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return f"{place.shown} ended the connection without an answer."
        case aiohttp.ClientPayloadError():
            return f"The answer of {place.shown} broke off or is damaged."
        case _:
            return f"{place.shown} gave an answer that isn't valid HTTP."


def _reason(error: aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError) -> str:
    inner = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else error.os_error
    return str(getattr(inner, "verify_message", "") or getattr(inner, "reason", "") or "TLS failed").rstrip(".")
