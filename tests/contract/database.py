"""One PostgreSQL database at the newest revision for many tests, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import asyncpg

from runtime.store.schema import metadata
from tests.contract.kept import KeptLoop
from tests.fakes.postgres import Postgres

EMPTY: Final = "; ".join(f"DELETE FROM {table.name}" for table in metadata.sorted_tables)


@dataclass(frozen=True)
class EmptyDatabase:
    """Emptying takes a millisecond on a connection that has done so before, twenty on a new one; a clone takes eighty."""

    url: str
    kept: KeptLoop
    _loop: asyncio.AbstractEventLoop
    _connection: asyncpg.Connection[Any]
    _times: Iterator[int] = field(default_factory=lambda: count(1))

    def emptied(self) -> str:
        """Its URL; nothing that another test said is in it. Called where no loop runs."""
        self._loop.run_until_complete(self._connection.execute(EMPTY, timeout=20))
        if next(self._times) % 100 == 0:  # no process of the server clears away what was deleted
            self._loop.run_until_complete(self._connection.execute("VACUUM", timeout=20))
        return self.url


@contextmanager
def empty_database(postgres: Postgres) -> Iterator[EmptyDatabase]:
    url = postgres.newest_database()
    with asyncio.Runner() as runner:
        runner.run(_settle(url))
        connection = runner.run(asyncpg.connect(url))
        kept = KeptLoop(url)
        try:
            yield EmptyDatabase(url, kept, runner.get_loop(), connection)
        finally:
            kept.end()
            runner.run(connection.close())


async def _settle(url: str) -> None:
    """Nothing that tests would see: no power is lost and nobody watches the server at work."""
    connection = await asyncpg.connect(url)
    try:
        for name in ("synchronous_commit", "track_activities", "track_counts"):
            await connection.execute(f'ALTER DATABASE "{url.rsplit("/", 1)[1]}" SET {name} = off')
    finally:
        await connection.close()
