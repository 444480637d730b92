"""Bare writers: they run the statements that the product's store ran, with the same parameters, and do nothing else.

The statements come from a tape (`bench.tape`), so what is compared is always the same work, however the product
changes. There is no task, no future, no thread and no row to build here: the least that Python can do to have these
statements executed. It is therefore a hard measure; a program that built its rows would be slower.

How many operations share a commit is what the other side could do at best: with one session each operation waits for
the one before, so each is a commit of its own; with 1,000 sessions at once the embedded writer may take 256 together
(`runtime.store.sql.sqlite.BATCH`), and so does the bare one. On PostgreSQL each operation is a transaction on both sides,
over as many connections (`runtime.store.sql.postgres.POOL`).
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import asyncpg

from bench.tape import Operation, Tape, Timed

# ------------------------------------------------------------------------------------------------------------ SQLite


def bare_sqlite(path: Path, tape: Tape, *, batch: int) -> Timed:
    """Run the tape on the database at `path`, `batch` operations a commit, as safely as the product does."""
    with closing(sqlite3.connect(path, isolation_level=None, cached_statements=512)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        _commit(connection, tape.warm)
        began, used = time.perf_counter(), time.process_time()
        for at in range(0, len(tape.operations), batch):
            _commit(connection, tape.operations[at : at + batch])
        return Timed(tape.sets, time.perf_counter() - began, time.process_time() - used)


def _commit(connection: sqlite3.Connection, operations: Sequence[Operation]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for operation in operations:
        for statement in operation.statements:
            cursor = connection.execute(statement.sql, statement.arguments)
            if cursor.description:
                cursor.fetchall()
    connection.execute("COMMIT")


# -------------------------------------------------------------------------------------------------------- PostgreSQL


async def bare_postgres(url: str, tape: Tape, *, connections: int) -> Timed:
    """Run the tape over so many connections, a transaction an operation, each set on one of them."""
    opened = [await asyncpg.connect(url, statement_cache_size=512) for _ in range(connections)]
    await _play(opened, tape.warm)
    began, used = time.perf_counter(), time.process_time()
    await _play(opened, tape.operations)
    timed = Timed(tape.sets, time.perf_counter() - began, time.process_time() - used)
    for connection in opened:
        await connection.close()
    return timed


async def _play(connections: Sequence[Any], operations: Sequence[Operation]) -> None:
    left, claiming = iter(_by_set(operations)), asyncio.Lock()
    async with asyncio.TaskGroup() as group:
        for connection in connections:
            group.create_task(_work(connection, left, claiming))


def _by_set(operations: Sequence[Operation]) -> Sequence[Sequence[Operation]]:
    """Sets that ran one after another, cut where each begins."""
    begins = [place for place, operation in enumerate(operations) if operation.name == operations[0].name]
    return [operations[begin:end] for begin, end in zip(begins, [*begins[1:], len(operations)], strict=True)]


async def _work(connection: Any, left: Iterator[Sequence[Operation]], claiming: asyncio.Lock) -> None:
    for operations in left:
        for operation in operations:
            await _transaction(connection, operation, claiming)


async def _transaction(connection: Any, operation: Operation, claiming: asyncio.Lock) -> None:
    # A claim locks any ready lane and then takes the one that is on the tape: two at once could wait for each other.
    async with claiming if operation.name == "claim" else nullcontext(), connection.transaction():
        for statement in operation.statements:
            await connection.fetch(statement.sql, *statement.arguments)
