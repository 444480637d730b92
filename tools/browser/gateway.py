"""The one way out of a browser: a proxy that asks the egress rules about each request, and dials what they judged.

    Chromium -> socket in its own network namespace -> Gateway -> Egress.admitted -> those addresses

It sees each request whole, also over https, since it holds the key that its browser trusts. So the rules go by method, host,
port and path for pages, what they load, redirects, workers, web sockets and what the browser does on its own account alike.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import structlog

from runtime.egress import Egress, NoAnswer, Refused
from runtime.egress.streams import HEAD_MAX_BYTES, Streams, connected
from tools.browser.certificates import Certificates
from tools.browser.heads import BadHead, Head
from tools.browser.starting import readable

log = structlog.get_logger("browser")

CONNECTIONS_MAX: Final = 64
"""Of one browser at once; of more the rest waits."""
HEAD_TIMEOUT: Final = timedelta(seconds=15)
"""For the browser to say what it wants."""
SILENCE_MAX: Final = timedelta(seconds=60)
"""Time without a byte from either side after which a connection ends."""
BODY_MAX_BYTES: Final = 10 << 20
ANSWER_MAX_BYTES: Final = 32 << 20
SESSION_MAX_BYTES: Final = 256 << 20
"""Of all answers to one browser."""
CHUNK_BYTES: Final = 64 * 1024
REFUSED_KEPT: Final = 200
OWN_ERRANDS: Final = frozenset(
    (
        *(
            "update.googleapis.com",
            "content-autofill.googleapis.com",
            "safebrowsing.googleapis.com",
            "mtalk.google.com",
        ),
        *(
            "optimizationguide-pa.googleapis.com",
            "android.clients.google.com",
            "redirector.gvt1.com",
            "edgedl.me.gvt1.com",
        ),
        *(f"clients{number}.google.com" for number in range(1, 7)),
    )
)
"""Hosts that Chromium asks on its own account, for updates and the like. No page needs them, and nobody is told."""
TLS_FIRST_BYTE: Final = b"\x16"  # RFC 8446, 5.1: a handshake
ENDS: Final = (OSError, EOFError, ssl.SSLError, TimeoutError, BadHead, asyncio.LimitOverrunError, ValueError)
"""Ways in which a connection ends early. Nobody has to be told: the browser sees it."""


@dataclass(slots=True)
class Traffic:
    """Record of one browser's traffic. `tool` is the one at work, for which requests are judged; `active` are those under
    way, web sockets left out."""

    tool: str
    active: int = 0
    sent: int = 0
    received: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    why: dict[str, str] = field(default_factory=dict)
    """Words on an address that was refused or did not answer, by the address."""

    def refuse(self, url: str, words: str) -> None:
        if len(self.refused) < REFUSED_KEPT or words in self.refused:
            self.refused[words] += 1
        self.fail(url, words)

    def fail(self, url: str, words: str) -> None:
        if len(self.why) < REFUSED_KEPT:
            self.why[url.partition("#")[0]] = words


class Gateway:
    """One for each browser. `run` works until it is cancelled."""

    def __init__(self, egress: Egress, certificates: Certificates, traffic: Traffic) -> None:
        self._egress = egress
        self._certificates = certificates
        self._traffic = traffic
        self._turn = asyncio.Semaphore(CONNECTIONS_MAX)

    async def run(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        async with asyncio.TaskGroup() as group:
            while True:
                await self._turn.acquire()
                connection = await _accepted(listening)
                serving = group.create_task(self._served(connection))
                serving.add_done_callback(partial(self._over, connection))  # also if it never began

    def _over(self, connection: socket.socket, _: asyncio.Task[None]) -> None:
        connection.close()
        self._turn.release()

    async def _served(self, connection: socket.socket) -> None:
        try:
            await self._serve(connection)
        except ENDS as error:
            log.debug("connection of a browser ended", reason=type(error).__name__)

    async def _serve(self, connection: socket.socket) -> None:
        async with asyncio.timeout(HEAD_TIMEOUT.total_seconds()):
            raw, rest = await _first_head(connection)
            head, base, context = Head.parse(raw), "", None
            method, target = head.request
            if method == "CONNECT":
                await asyncio.get_running_loop().sock_sendall(connection, b"HTTP/1.1 200 OK\r\n\r\n")
                is_tls = await _peek(connection) == TLS_FIRST_BYTE
                base = f"{'https' if is_tls else 'http'}://{target.removesuffix(':443' if is_tls else ':80')}"
                context = await asyncio.to_thread(self._certificates.context, _host(target)) if is_tls else None
            streams = await _streams(connection, context, rest)
        try:
            if base:
                async with asyncio.timeout(HEAD_TIMEOUT.total_seconds()):
                    head = Head.parse(await streams[0].readuntil(b"\r\n\r\n"))
            self._traffic.active += not head.is_websocket
            try:
                await self._exchange(head, base, streams)
            finally:
                self._traffic.active -= not head.is_websocket
        finally:
            streams[1].close()
            with suppress(*ENDS):
                await streams[1].wait_closed()

    async def _exchange(self, head: Head, base: str, browser: Streams) -> None:
        """One request and its answer; a connection serves no second one."""
        method, target = head.request
        url = base + target
        try:
            if urlsplit(url).hostname in OWN_ERRANDS:
                await _answer(browser[1], HTTPStatus.FORBIDDEN, "Not a page's request.")
                return
            to = await self._egress.admitted(method, url, tool=self._traffic.tool)
            if head.length > BODY_MAX_BYTES:
                raise NoAnswer(f"A page may send {BODY_MAX_BYTES >> 20} MiB at once.", sent=False)
            async with connected(to) as away:
                where = to.place.url
                away[1].write(head.onward(f"{method} {where.raw_path_qs} HTTP/1.1", where.host_port_subcomponent or ""))
                self._traffic.sent += 1
                await self._carried(head, browser, away)
        except Refused as error:
            self._traffic.refuse(url, str(error))
            await _answer(browser[1], HTTPStatus.FORBIDDEN, str(error))
        except NoAnswer as error:
            self._traffic.fail(url, str(error))
            await _answer(browser[1], HTTPStatus.BAD_GATEWAY, str(error))

    async def _carried(self, head: Head, browser: Streams, away: Streams) -> None:
        if not head.is_websocket:
            await _copied(browser[0], away[1], head.length)
        await self._answered(browser, away, follows=head.is_websocket)

    async def _answered(self, browser: Streams, away: Streams, *, follows: bool = False) -> None:
        answer = await _final_head(away[0])
        if answer is None:
            raise NoAnswer("The other side ended the connection without an answer.", sent=True)
        browser[1].write(answer.onward(answer.first))
        await browser[1].drain()
        if follows and answer.status == HTTPStatus.SWITCHING_PROTOCOLS:
            await self._both_ways(browser, away)
            return
        left = min(ANSWER_MAX_BYTES, SESSION_MAX_BYTES - self._traffic.received)
        await _copied(away[0], browser[1], left, count=self._count)

    async def _both_ways(self, browser: Streams, away: Streams) -> None:
        left = min(ANSWER_MAX_BYTES, SESSION_MAX_BYTES - self._traffic.received)
        async with asyncio.TaskGroup() as group:
            ways = {
                group.create_task(_ended(browser[0], away[1], BODY_MAX_BYTES)),
                group.create_task(_ended(away[0], browser[1], left, count=self._count)),
            }
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()

    def _count(self, length: int) -> None:
        self._traffic.received += length


async def _accepted(listening: socket.socket) -> socket.socket:
    """The next connection. Who is cancelled in `loop.sock_accept` loses one that has just come, and nobody closes it."""
    while True:
        with suppress(BlockingIOError, ConnectionAbortedError):
            connection = listening.accept()[0]
            connection.setblocking(False)
            return connection
        await readable(listening)


async def _first_head(connection: socket.socket) -> tuple[bytes, bytes]:
    loop, data = asyncio.get_running_loop(), bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        piece = await loop.sock_recv(connection, CHUNK_BYTES)
        if not piece:
            raise EOFError
        data += piece
        if len(data) > HEAD_MAX_BYTES:
            raise BadHead
    return bytes(data[: end + 4]), bytes(data[end + 4 :])


async def _streams(connection: socket.socket, context: ssl.SSLContext | None, rest: bytes) -> Streams:
    """Streams over a connection that was accepted. Its socket is a copy, so that the caller may close its own."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=HEAD_MAX_BYTES)
    reader.feed_data(rest) if rest else None
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection.dup(), ssl=context)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _peek(connection: socket.socket) -> bytes:
    """The first byte, which stays to be read."""
    await readable(connection)
    return connection.recv(1, socket.MSG_PEEK)


def _host(target: str) -> str:
    host, colon, port = target.rpartition(":")
    if not colon or not port.isdigit():
        raise BadHead
    return host.removeprefix("[").removesuffix("]")


async def _final_head(reader: asyncio.StreamReader) -> Head | None:
    """The head of the answer itself, after hints that come before it."""
    async with asyncio.timeout(SILENCE_MAX.total_seconds()):
        while True:
            try:
                head = Head.parse(await reader.readuntil(b"\r\n\r\n"))
            except asyncio.IncompleteReadError:
                return None
            if head.status >= HTTPStatus.OK or head.status == HTTPStatus.SWITCHING_PROTOCOLS:
                return head


async def _copied(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    most: int,
    *,
    count: Callable[[int], None] = lambda _: None,
) -> None:
    """Carry at most `most` bytes over, until there are none or nothing came for a while."""
    left = most
    while left > 0:
        async with asyncio.timeout(SILENCE_MAX.total_seconds()):
            piece = await reader.read(min(CHUNK_BYTES, left))
            if not piece:
                break
            left -= len(piece)
            count(len(piece))
            writer.write(piece)
            await writer.drain()


async def _ended(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    most: int,
    *,
    count: Callable[[int], None] = lambda _: None,
) -> None:
    """One way of a web socket, however it ends."""
    with suppress(*ENDS):
        await _copied(reader, writer, most, count=count)


async def _answer(writer: asyncio.StreamWriter, status: HTTPStatus, words: str) -> None:
    body = words.encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()
