"""A database made from the rows of a snapshot: whole, or not at all."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol

from sqlalchemy import Integer
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from runtime.errors import StoreError
from runtime.store.schema import REVISION, metadata
from runtime.store.snapshot import OURS
from runtime.store.sql.driver import SEVERAL, Compiler, Op, T, each_of
from runtime.store.sql.sqlite import drive, explain
from runtime.store.upgrade import create_sqlite, migrate, migrate_sqlite, postgres_engine, upgrade_sqlite

SQL_NAME: Final = re.compile(r"[a-z_]+")
SERIALS: Final = tuple(
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.primary_key
    if isinstance(column.type, Integer) and column.autoincrement is True
)
Finish = Callable[[datetime], Op[T]]
"""The last operation, at this time by the database's clock, in the same transaction."""


class Source(Protocol):
    """Rows as a snapshot of `revision` gave them. `columns` by table, in the order of the rows."""

    @property
    def revision(self) -> str: ...
    @property
    def columns(self) -> Mapping[str, Sequence[str]]: ...
    def rows(self, table: str) -> Iterator[Sequence[Sequence[Any]]]: ...


def check_names(source: Source) -> None:
    """Errors: StoreError for names that are not plain words of ours: they become part of statements."""
    for table, columns in source.columns.items():
        strange = next((name for name in columns if not SQL_NAME.fullmatch(name)), None)
        if table not in OURS or strange is not None:
            raise StoreError(f"There is no {strange or table!r} in a Signalbox database.")


# ------------------------------------------------------------------------------------------------------------ SQLite


def load_sqlite(path: Path, source: Source, finish: Finish[T]) -> T:
    """Make the database file `path`, which is not there yet. Errors: StoreError; what was begun is the caller's."""
    check_names(source)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            # Nobody looks before it is whole, so that nothing need be safe before the end.
            raw.execute("PRAGMA journal_mode = MEMORY")
            raw.execute("PRAGMA synchronous = OFF")
            _fill_sqlite(raw, source)
            upgrade_sqlite(raw)
            raw.execute("BEGIN")
            result = drive(raw, Compiler(SQLiteDialect(paramstyle="qmark")), finish(datetime.now(UTC)))
            raw.execute("COMMIT")
    except sqlite3.Error as error:
        raise explain(error, str(path)) from error
    _flush(path)
    return result


def _fill_sqlite(raw: sqlite3.Connection, source: Source) -> None:
    if source.revision == REVISION:
        create_sqlite(raw)
    else:
        migrate_sqlite(raw, source.revision)
    raw.execute("BEGIN")
    for table, columns in source.columns.items():
        marks = ", ".join("?" * len(columns))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names were checked
        raw.executemany(insert, chain.from_iterable(source.rows(table)))
    raw.execute("COMMIT")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -------------------------------------------------------------------------------------------------------- PostgreSQL


async def load_postgres(url: str, source: Source, finish: Finish[T]) -> T:
    """Make the tables in the empty database at `url` and fill them: one transaction. Errors: StoreError."""
    import asyncpg
    from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
    from sqlalchemy.exc import DBAPIError

    from runtime.store.sql.wire.database_errors import AWAY, explain

    check_names(source)
    compiler = Compiler(PGDialect_asyncpg())  # type: ignore[no-untyped-call]  # a dialect takes no arguments here
    engine = postgres_engine(url)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(migrate, source.revision)
            raw: Any = (await connection.get_raw_connection()).driver_connection
            await _fill_postgres(raw, source)
            await connection.run_sync(migrate)
            now = await raw.fetchval("SELECT clock_timestamp()")
            return await _drive(raw, compiler, finish(now.astimezone(UTC)))
    except (*AWAY, asyncpg.PostgresError, DBAPIError) as error:
        raise explain(error) from error
    finally:
        await engine.dispose()


async def _drive(raw: Any, compiler: Compiler, op: Op[T]) -> T:
    """Run an operation inside the transaction that is open, a statement at a time."""
    try:
        query = next(op)
        while True:
            rows: list[Any] = []
            for statement, given in each_of(query):
                compiled = compiler(statement)
                found = await raw.fetch(compiled.sql, *compiled.arguments(given))
                rows.append([tuple(record) for record in found])
            query = op.send(rows if query[0] in SEVERAL else rows[0])
    except StopIteration as end:
        result: T = end.value
        return result


async def _fill_postgres(raw: Any, source: Source) -> None:
    for table, columns in source.columns.items():
        rows = chain.from_iterable(source.rows(table))
        await raw.copy_records_to_table(table, records=map(tuple, rows), columns=list(columns))
    for table, column in SERIALS:
        if column in source.columns.get(table, ()):
            sequence = f"pg_get_serial_sequence('{table}', '{column}')"
            await raw.execute(f"SELECT setval({sequence}, (SELECT max({column}) FROM {table}))")  # noqa: S608 - ours


# ------------------------------------------------------------------------------------------------- what is there now


async def is_empty(url: str) -> bool:
    """True if nothing of ours is in the PostgreSQL database at `url`."""
    return await _ask(url, "SELECT to_regclass('alembic_version') IS NULL") is True


async def was_restored(url: str, backup: str) -> bool:
    """True if the PostgreSQL database at `url` came out of the restore of `backup`."""
    if await is_empty(url):
        return False
    found = "SELECT EXISTS (SELECT 1 FROM audit WHERE kind = 'restored' AND subject = $1)"
    return await _ask(url, found, backup) is True


async def _ask(url: str, question: str, *given: str) -> object:
    from runtime.store.sql.postgres import open_pool

    pool = await open_pool(url)
    try:
        return await pool.fetchval(question, *given)
    finally:
        await pool.close()
