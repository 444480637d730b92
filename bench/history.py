"""A store with a long past: conversations that were answered long ago, written by plain SQL in one statement a table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import asyncpg
from sqlalchemy import Column, Table, Text

from runtime.store.schema import deliveries, runs, sessions, signals, turns

ROOM: Final = "'bench:main/r' || (100000000 + i)"
KEY: Final = f"'main|' || {ROOM}"
RUN: Final = "'g' || (100000000 + i)"

# What is not named here is empty: NULL where it may be, else '' or 0. Each past conversation is a question with its
# answer, so every table has a row a conversation, and the turns two.
PAST: Final[Mapping[Table, Mapping[str, str]]] = {
    sessions: {
        "key": KEY,
        "agent": "'main'",
        "address": ROOM,
        "state": "'idle'",
        "fence": "1",
        "last_seq": "1",
        "next_turn": "3",
        "ready_at": "i",
        "created_at": "i",
    },
    signals: {
        "id": RUN,
        "platform": "'bench:main'",
        "dedupe_key": "'k' || i",
        "kind": "'said'",
        "urgency": "'normal'",
        "actor": "'bench:ada'",
        "actor_name": "'Ada'",
        "person_id": "'p'",
        "address": ROOM,
        "text": "'What changed in the notes since yesterday?'",
        "files": "'[]'",
        "words_hash": "'h' || i",
        "session": KEY,
        "seq": "1",
        "state": "'consumed'",
        "run_id": RUN,
        "received_at": "i",
        "accepted_at": "i",
        "answered_at": "i",
    },
    runs: {
        "id": RUN,
        "session": KEY,
        "address": ROOM,
        "state": "'done'",
        "requester": "'p'",
        "claims": "1",
        "iterations": "1",
        "next_step": "2",
        "last_turn": "2",
        "started_at": "i",
        "ready_at": "i",
        "ended_at": "i",
    },
    turns: {
        "session": KEY,
        "number": "1 + two.j",
        "run_id": RUN,
        "role": "CASE two.j WHEN 0 THEN 'user' ELSE 'assistant' END",
        "text": "'Three notes are new since yesterday.'",
        "calls": "'[]'",
        "at": "i",
        "files": "'[]'",
    },
    deliveries: {
        "number": "i",
        "id": "'d' || (100000000 + i)",
        "origin": f"'run:' || {RUN}",
        "kind": "'final'",
        "channel": "'bench'",
        "account": "'main'",
        "address": ROOM,
        "content": "'{}'",
        "run_id": RUN,
        "state": "'shown'",
        "rank": "2",
        "not_before": "i",
        "created_at": "i",
        "settled_at": "i",
    },
}


def past_room(number: int) -> str:
    """The room of a past conversation, counted from 1."""
    return f"r{100_000_000 + number}"


def statements(conversations: int) -> Iterator[str]:
    count = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {conversations})"
    for table, given in PAST.items():
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        values = ", ".join(given.get(column.name, _empty(column)) for column in table.columns)
        twice = ", (SELECT 0 AS j UNION ALL SELECT 1) AS two" if table is turns else ""
        yield f"INSERT INTO {table.name} ({names}) {count} SELECT {values} FROM n{twice}"


def _empty(column: Column[object]) -> str:
    if column.nullable:
        return "NULL"
    return "''" if isinstance(column.type, Text) else "0"


def fill_sqlite(path: Path, conversations: int) -> None:
    """Into a database that nobody has open; fast rather than safe."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -400000")
        for statement in statements(conversations):
            connection.execute(statement)


async def fill_postgres(url: str, conversations: int) -> None:
    """Tables that were emptied in the same transaction are filled without a log of it (`wal_level = minimal`).

    The planner's figures are brought up to date, as the server does by itself within a minute.
    """
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        await connection.execute(f"TRUNCATE {', '.join(table.name for table in PAST)}")
        for statement in statements(conversations):
            await connection.execute(statement)
    await connection.execute("ANALYZE")
    await connection.close()
