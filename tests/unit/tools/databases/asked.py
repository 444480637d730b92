"""A database of each kind with the same rows, and questions to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg

from runtime.contract import Address, FileRef, RunId, SessionKey, ToolContext
from tools.databases.answers import Database, QueryBounds
from tools.databases.postgres import PostgresDatabase
from tools.databases.sqlite import SqliteDatabase
from tools.databases.tool import OpenDatabase, query_tool

BOUNDS: Final = QueryBounds(100, timedelta(seconds=5))
ROWS: Final = [("North", 12.5, "Obey me"), ("South", None, "fine\nand well"), ("=West()", 3.0, "x" * 3_000)]
MADE: Final = "CREATE TABLE orders (region TEXT, total FLOAT, note TEXT)"


def sqlite(folder: Path, bounds: QueryBounds = BOUNDS) -> SqliteDatabase:
    path = folder / "sales data.db"
    if not path.exists():
        with closing(sqlite3.connect(path)) as made:
            made.execute(MADE)
            made.executemany("INSERT INTO orders VALUES (?, ?, ?)", ROWS)
            made.commit()
    return SqliteDatabase("sales", path, bounds)


async def postgres(owner: str, *grants: str, bounds: QueryBounds = BOUNDS, role: str = "reader") -> PostgresDatabase:
    """A new role of the database at `owner`, with these rights."""
    connection = await asyncpg.connect(owner)
    try:
        await connection.execute(MADE)
        await connection.executemany("INSERT INTO orders VALUES ($1, $2, $3)", ROWS)
        name = f"{role}_{owner.rpartition('/')[2]}"
        await connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'of-the-reader'")
        for grant in ("GRANT SELECT ON orders TO {}", *grants):
            await connection.execute(grant.format(name))
    finally:
        await connection.close()
    place = owner.partition("@")[2]
    return PostgresDatabase("sales", f"postgresql://{name}:of-the-reader@{place}", bounds)


async def ask(
    workspace: Path,
    *databases: Database | OpenDatabase,
    agent: str = "main",
    room: str = "web:main/r1",
    **arguments: Any,
) -> str:
    files: list[FileRef] = []
    context = ToolContext(
        workspace, SessionKey("s"), RunId("r"), "c", Address.parse(room), attach=files.append, agent=agent
    )
    opened: Sequence[OpenDatabase] = [one if isinstance(one, OpenDatabase) else OpenDatabase(one) for one in databases]
    return await query_tool(opened, str).call(arguments, context)
