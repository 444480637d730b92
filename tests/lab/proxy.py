"""A way between a node and what it talks to, on which a test holds bytes, loses connections, cuts or slows them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from enum import Flag, auto
from typing import Any, Final

CHUNK: Final = 1 << 16  # bytes
DROPS_PER_SECOND: Final = 20
"""Pieces in which a way drips."""


class Side(Flag):
    """Which bytes are meant: those of the node, those of the server, or both."""

    ASKED = auto()
    ANSWERED = auto()
    BOTH = ASKED | ANSWERED


class Way:
    """One connection through the proxy. A lost one stays open, and its bytes go nowhere."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        self.reader = reader
        self.writer = writer
        self.side = side
        self.lost = False


class Proxy:
    """Passes everything on until it is told otherwise. `port` replaces that of the real server."""

    def __init__(self, host: str, port: int) -> None:
        self.port = 0
        self._target = (host, port)
        self._free = {side: asyncio.Event() for side in (Side.ASKED, Side.ANSWERED)}
        self._ways: set[Way] = set()
        self._served: set[asyncio.Task[Any]] = set()  # else one that waits for nothing is taken for garbage, and ends
        self._is_cut = False
        self._swallows = Side(0)
        self._delay = 0.0
        self._speed = 0  # bytes a second; 0: as fast as it comes
        self._watched: tuple[bytes, Callable[[], object]] | None = None
        self.lift()

    def stall(self, side: Side = Side.BOTH) -> None:
        """Hold bytes from now on: sockets stay open, also new ones, and nothing comes through."""
        for one in side:
            self._free[one].clear()

    def swallow(self, side: Side) -> None:
        """One way: from now on these bytes go nowhere, also on new connections, and the others pass."""
        self._swallows = side

    def delay(self, seconds: float) -> None:
        """Each piece takes so long, on both sides."""
        self._delay = seconds

    def drip(self, bytes_a_second: int) -> None:
        """Bytes come through no faster than this, in small pieces."""
        self._speed = bytes_a_second

    def cut(self) -> None:
        """End every connection, and each new one at once."""
        self._is_cut = True
        for way in list(self._ways):
            way.writer.transport.abort()

    def lose(self) -> None:
        """Forget the open connections as a firewall does: they stay open, deaf and dumb. New ones work."""
        for way in self._ways:
            way.lost = True

    def leave(self) -> None:
        """As `lose`, and the server's ends are closed: as a platform does with a socket that answers no ping."""
        self.lose()
        for way in self._ways:
            if way.side is Side.ASKED:
                way.writer.transport.abort()

    def lift(self) -> None:
        """Pass on again, first what was held. What was lost or swallowed stays so, and its connections with it."""
        self._is_cut = False
        if self._swallows:
            self.lose()
        self._swallows, self._delay, self._speed, self._watched = Side(0), 0.0, 0, None
        for free in self._free.values():
            free.set()

    def once_asked(self, words: bytes, then: Callable[[], object]) -> None:
        """Do `then` in the moment in which the node's next piece with these words has gone through to the server."""
        self._watched = (words, then)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        task = asyncio.current_task()
        assert task
        self._served.add(task)
        try:
            if not self._is_cut:
                await self._connect(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the other side is gone, or the test is over: so is this one
        finally:
            self._served.discard(task)
            writer.transport.abort()

    def close(self) -> None:
        """End every connection, however it is."""
        self._is_cut = True
        for task in self._served:
            task.cancel()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target)
        ways = [Way(reader, back, Side.ASKED), Way(there, writer, Side.ANSWERED)]
        self._ways.update(ways)
        try:
            async with asyncio.TaskGroup() as group:
                pumps = [group.create_task(self._pump(way)) for way in ways]
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                for pump in pumps:
                    pump.cancel()
        finally:
            self._ways.difference_update(ways)
            back.transport.abort()

    async def _pump(self, way: Way) -> None:
        with suppress(OSError):
            while chunk := await way.reader.read(CHUNK):
                await self._free[way.side].wait()
                if way.side is Side.ASKED and way.reader.at_eof():
                    return  # who asked has gone while it was held
                if self._delay:
                    await asyncio.sleep(self._delay)
                if not way.lost and way.side not in self._swallows:
                    await self._pass(way, chunk)
            if way.lost:
                await asyncio.Event().wait()

    async def _pass(self, way: Way, chunk: bytes) -> None:
        while chunk:
            size = max(1, self._speed // DROPS_PER_SECOND) if self._speed else len(chunk)
            way.writer.write(chunk[:size])
            await way.writer.drain()
            if self._watched and way.side is Side.ASKED and self._watched[0] in chunk:
                (_, then), self._watched = self._watched, None
                then()
            chunk = chunk[size:]
            if self._speed:
                await asyncio.sleep(1 / DROPS_PER_SECOND)


@asynccontextmanager
async def proxy(host: str, port: int) -> AsyncIterator[Proxy]:
    """A proxy before `host:port`, on a port of its own."""
    made = Proxy(host, port)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        made.close()
