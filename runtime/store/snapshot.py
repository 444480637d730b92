"""Snapshot of a database, read row by row while others go on writing.

On SQLite a read transaction of its own in WAL mode, on PostgreSQL a REPEATABLE READ one: both see what was committed
when they began, hold up nobody, and need no copy. Every column is a text, a whole number or bytes, so rows need no engine.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from runtime.errors import StoreError
from runtime.store.schema import metadata
from runtime.store.sql.driver import Rows
from runtime.store.sql.sqlite import MEMORY_DATABASE, connect, explain
from runtime.store.upgrade import CURRENT, check_revision

SQLITE: Final = "sqlite:///"
BATCH: Final = 500
"""Rows in memory at once."""
OURS: Final = tuple(table.name for table in metadata.sorted_tables)
NO_TABLES: Final = "There is no Signalbox database at {place}, so there's nothing to back up."
IN_MEMORY: Final = "A database in memory ends with its process: it can be neither backed up nor restored."


class Snapshot(Protocol):
    """`taken_at`: nothing that was committed before is missing. `columns` by table, in the order of the rows."""

    @property
    def revision(self) -> str: ...
    @property
    def taken_at(self) -> datetime: ...
    @property
    def columns(self) -> Mapping[str, Sequence[str]]: ...

    def rows(self, table: str) -> AsyncIterator[Rows]:
        """All rows of a table, in pieces. Errors: StoreError."""


@asynccontextmanager
async def snapshot(url: str) -> AsyncIterator[Snapshot]:
    """The database at `url` as it is now. Errors: StoreError when it is away, none of ours, or newer than we are."""
    if url.startswith(SQLITE):
        with _sqlite(url.removeprefix(SQLITE)) as found:
            yield found
    else:
        async with _postgres(url) as found:
            yield found


# ------------------------------------------------------------------------------------------------------------ SQLite


@dataclass(frozen=True, slots=True)
class SqliteSnapshot:
    raw: sqlite3.Connection
    path: str
    revision: str
    taken_at: datetime
    columns: Mapping[str, Sequence[str]]

    async def rows(self, table: str) -> AsyncIterator[Rows]:
        # In the thread of the caller, who has nothing else to do; the pieces are small.
        names = ", ".join(self.columns[table])
        try:
            cursor = self.raw.execute(f"SELECT {names} FROM {table}")  # noqa: S608 - names of the database itself
            while rows := cursor.fetchmany(BATCH):
                yield rows
        except sqlite3.Error as error:
            raise explain(error, self.path) from error


@contextmanager
def _sqlite(path: str) -> Iterator[Snapshot]:
    if path == MEMORY_DATABASE:
        raise StoreError(IN_MEMORY)
    if not Path(path).is_file():
        raise StoreError(NO_TABLES.format(place=path))
    with closing(connect(path)) as raw:
        taken_at = datetime.now(UTC)
        try:
            raw.execute("PRAGMA query_only = 1")
            raw.execute("BEGIN")
            names = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "alembic_version" not in names:
                raise StoreError(NO_TABLES.format(place=path))
            revision = check_revision(raw.execute(CURRENT).fetchone()[0])
            columns = {name: _columns(raw, name) for name in OURS if name in names}
        except sqlite3.Error as error:
            raise explain(error, path) from error
        yield SqliteSnapshot(raw, path, revision, taken_at, columns)


def _columns(raw: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]


# -------------------------------------------------------------------------------------------------------- PostgreSQL

COLUMNS_OF_A_TABLE: Final = (
    "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
)


@dataclass(frozen=True, slots=True)
class PostgresSnapshot:
    connection: Any
    revision: str
    taken_at: datetime
    columns: Mapping[str, Sequence[str]]

    async def rows(self, table: str) -> AsyncIterator[Rows]:
        names = ", ".join(self.columns[table])
        cursor = await self.connection.cursor(f"SELECT {names} FROM {table}")  # noqa: S608 - the database's own names
        while records := await cursor.fetch(BATCH):
            yield [tuple(record) for record in records]


@asynccontextmanager
async def _postgres(url: str) -> AsyncIterator[Snapshot]:
    import asyncpg

    from runtime.store.sql.postgres import open_pool
    from runtime.store.sql.wire.database_errors import AWAY, explain

    pool = await open_pool(url)
    try:
        async with pool.acquire() as connection:
            taken_at = await connection.fetchval("SELECT clock_timestamp()")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                revision, columns = await _shape(connection)
                yield PostgresSnapshot(connection, revision, taken_at.astimezone(UTC), columns)
    except (*AWAY, asyncpg.PostgresError) as error:
        raise explain(error) from error
    finally:
        await pool.close()


async def _shape(connection: Any) -> tuple[str, Mapping[str, Sequence[str]]]:
    columns: dict[str, list[str]] = {}
    for table, column in await connection.fetch(COLUMNS_OF_A_TABLE):
        columns.setdefault(table, []).append(column)
    if "alembic_version" not in columns:
        raise StoreError(NO_TABLES.format(place="database_url"))
    revision = check_revision(await connection.fetchval(CURRENT))
    return revision, {name: columns[name] for name in OURS if name in columns}
