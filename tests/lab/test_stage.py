"""The laboratory's own ways and nodes do what they say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.lab.proxy import Proxy, Side, proxy


@asynccontextmanager
async def echo() -> AsyncIterator[Proxy]:
    """A way to a server that says again what it is told."""

    async def again(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError, ConnectionError):
            while chunk := await reader.read(1024):
                writer.write(chunk)
        writer.transport.abort()

    server = await asyncio.start_server(again, "127.0.0.1", 0)
    async with server, proxy("127.0.0.1", server.sockets[0].getsockname()[1]) as way:
        yield way


async def said(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, words: bytes, seconds: float = 0.3) -> bytes:
    """What comes back within so long."""
    writer.write(words)
    try:
        async with asyncio.timeout(seconds):
            return await reader.readexactly(len(words))
    except TimeoutError:
        return b""


async def test_a_way_holds_bytes_and_lets_them_go() -> None:
    async with echo() as way:
        reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
        assert await said(reader, writer, b"one") == b"one"
        way.stall()
        assert await said(reader, writer, b"two") == b""
        way.lift()
        assert await reader.readexactly(3) == b"two"
        writer.close()


@pytest.mark.parametrize("side", [Side.ASKED, Side.ANSWERED])
async def test_one_way_loses_one_side_and_for_good(side: Side) -> None:
    async with echo() as way:
        reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
        way.swallow(side)
        assert await said(reader, writer, b"one") == b""
        way.lift()
        assert await said(reader, writer, b"two") == b""
        again, other = await asyncio.open_connection("127.0.0.1", way.port)
        assert await said(again, other, b"three") == b"three"
        writer.close()
        other.close()


async def test_what_was_forgotten_stays_open_and_new_connections_work() -> None:
    async with echo() as way:
        reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
        assert await said(reader, writer, b"one") == b"one"
        way.lose()
        assert await said(reader, writer, b"two") == b""
        assert not reader.at_eof()
        again, other = await asyncio.open_connection("127.0.0.1", way.port)
        assert await said(again, other, b"three") == b"three"
        writer.close()
        other.close()


async def test_a_cut_ends_what_is_open_and_what_comes() -> None:
    async with echo() as way:
        reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
        assert await said(reader, writer, b"one") == b"one"
        way.cut()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await said(reader, writer, b"two")
        writer.close()


async def test_delay_and_drip_take_their_time_and_lose_nothing() -> None:
    async with echo() as way:
        reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
        way.delay(0.1)
        began = time.monotonic()
        assert await said(reader, writer, b"one", 5) == b"one"
        assert time.monotonic() - began >= 0.2
        way.lift()
        way.drip(1000)
        began = time.monotonic()
        assert await said(reader, writer, b"x" * 200, 5) == b"x" * 200
        assert time.monotonic() - began >= 0.1
        writer.close()


async def test_it_tells_the_moment_in_which_words_went_through() -> None:
    async with echo() as way:
        reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
        heard: list[int] = []
        way.once_asked(b"two", lambda: heard.append(1))
        assert await said(reader, writer, b"one") == b"one"
        assert not heard
        assert await said(reader, writer, b"two") == b"two"
        assert await said(reader, writer, b"two") == b"two"
        assert heard == [1]
        writer.close()
