"""A connection to a place that was admitted, for whoever speaks HTTP over it: the gateway of the browser."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final

from runtime.egress.addresses import Ip
from runtime.egress.client import Admitted
from runtime.egress.errors import NoAnswer

CONNECT_TIME: Final = timedelta(seconds=10)
"""To connect to one address and agree on keys."""
HEAD_MAX_BYTES: Final = 64 * 1024
ADDRESSES_TRIED: Final = 4

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(to: Admitted) -> AsyncIterator[Streams]:
    """Streams to `to`, encrypted and with its certificate checked for https. Errors: NoAnswer."""
    reader, writer = await _first(to)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError, ssl.SSLError):
            await writer.wait_closed()


async def _first(to: Admitted) -> Streams:
    fault = "no connection"
    for address in to.addresses[:ADDRESSES_TRIED]:
        try:
            async with asyncio.timeout(CONNECT_TIME.total_seconds()):
                return await _to(to, address)
        except ssl.SSLCertVerificationError as error:
            raise NoAnswer(
                f"{to.place.shown} could not prove its identity: {error.verify_message}.", sent=False
            ) from error
        except TimeoutError:
            fault = "no answer in time"
        except OSError as error:
            fault = error.strerror or "no connection"
    raise NoAnswer(f"{to.place.shown} could not be reached: {fault}.", sent=False)


async def _to(to: Admitted, address: Ip) -> Streams:
    place = to.place
    if place.url.scheme == "http":
        return await asyncio.open_connection(str(address), place.port, limit=HEAD_MAX_BYTES)
    tls = to.tls or await asyncio.to_thread(ssl.create_default_context)
    return await asyncio.open_connection(
        str(address), place.port, ssl=tls, server_hostname=place.host, limit=HEAD_MAX_BYTES
    )
