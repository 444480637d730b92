"""A line on which every byte takes its time: what a PostgreSQL on another machine is to a program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from bench.engines import Server

CHUNK: Final = 1 << 16  # bytes


class Far(Server):
    """The same databases at the end of a line, whose port is `port`."""

    name = "PostgreSQL over a line of 1 ms"

    def __init__(self, server: Server, port: int) -> None:
        self.__dict__.update(server.__dict__)
        self._port = port

    def copy(self, url: str) -> str:
        there = super().copy(url)
        return there.replace(f":{urlsplit(there).port}/", f":{self._port}/")


@asynccontextmanager
async def far(server: Server, round_trip: timedelta) -> AsyncIterator[Far]:
    """A line that is half of `round_trip` long in each direction."""
    to, half = urlsplit(server.empty()), round_trip.total_seconds() / 2

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(to.hostname, to.port)
        async with asyncio.TaskGroup() as group:
            group.create_task(_carry(reader, back, half))
            group.create_task(_carry(there, writer, half))

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield Far(server, listening.sockets[0].getsockname()[1])
    finally:
        listening.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    while chunk := await reader.read(CHUNK):
        loop.call_later(seconds, writer.write, chunk)
    loop.call_later(seconds, writer.close)
