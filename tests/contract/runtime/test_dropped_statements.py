"""A statement that takes too long is given up, in a way that poolers outlive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import asyncpg
import pytest

from runtime.contract import NodeId
from runtime.errors import StoreError
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres

CANCEL_REQUEST: Final = (80877102).to_bytes(4)
LINGERS: Final = 0.3  # seconds for which the word is passed on: longer than the server takes to obey


class Relay:
    """Leads to a server, and passes a request to drop a statement on at once, but closes its connection later, as a pooler may."""

    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self.hung_up: list[bool] = []
        """For each such request: did the client close before us?"""

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[str]:
        """The URL of the same database, past this."""
        listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        try:
            yield self._server._replace(netloc=self._server.netloc.replace(str(self._server.port), str(port))).geturl()
        finally:
            listening.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        near, far = await asyncio.open_connection(self._server.hostname, self._server.port)
        head = await reader.read(16)
        far.write(head)
        if head[4:8] == CANCEL_REQUEST:
            await near.read()
            done, _ = await asyncio.wait([asyncio.ensure_future(reader.read())], timeout=LINGERS)
            self.hung_up.append(bool(done))
        else:
            await asyncio.wait([asyncio.ensure_future(_pass(near, writer)), asyncio.ensure_future(_pass(reader, far))])
        for each in (writer, far):
            each.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


async def test_whoever_passes_on_that_a_statement_is_given_up_is_not_hung_up_on(postgres: Postgres) -> None:
    """PgBouncer before 1.19.1 would end, and with it the way of every node to its store."""
    url = postgres.create_database()
    relay = Relay(f"{url}?sslmode=disable")
    async with relay.at_work() as past:
        store = await open_store(past)
        lease = await store.cluster.join(NodeId("n1"), "n1", timedelta(minutes=1), alone=False)
        other = await asyncpg.connect(url)
        async with other.transaction():
            await other.execute("LOCK TABLE nodes")
            with pytest.raises(StoreError, match="no result in time"):
                await store.cluster.beat(lease, timedelta(seconds=1))
        async with asyncio.timeout(10):
            while not relay.hung_up:  # noqa: ASYNC110 - nothing rings when the relay has closed
                await asyncio.sleep(0.01)
        assert await store.cluster.beat(lease, timedelta(minutes=1))
        await other.close()
        await store.close()
    assert relay.hung_up == [False]
