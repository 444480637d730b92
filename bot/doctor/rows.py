"""Rows of the database, which the checks read and never write."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from bot.doctor.subject import REACH
from bot.settings.settings import Settings
from runtime.errors import BotError

SEALED_LOGINS: Final = "SELECT name, sealed FROM logins"
"""Grants of sign-ins, which stay sealed."""
LOGIN_FACTS: Final = "SELECT name, ends_at, renews, issuer, trouble, sealed FROM logins ORDER BY name"
"""All that is told of sign-ins without opening one."""
Rows = Sequence[Sequence[Any]]


async def rows_of(settings: Settings, *statements: str) -> Sequence[Rows]:
    """Rows of each statement; none where the database cannot be read, which the check of the store tells."""
    if (file := settings.database_file) is not None:
        found = await asyncio.to_thread(_embedded, file, statements) if file.exists() else None
    else:
        is_server = settings.database_url.startswith("postgresql://")
        found = await _server(settings.database_url, statements) if is_server else None
    return found or [()] * len(statements)


def _embedded(file: Path, statements: Sequence[str]) -> Sequence[Rows] | None:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA busy_timeout = 2000")
            return [database.execute(statement).fetchall() for statement in statements]
    except sqlite3.Error:  # an older schema, or a fault
        return None


async def _server(url: str, statements: Sequence[str]) -> Sequence[Rows] | None:
    from asyncpg import PostgresError

    from runtime.store.sql.postgres import open_pool  # not loaded for an embedded store

    try:
        async with asyncio.timeout(REACH.total_seconds()):
            pool = await open_pool(url)
    except (BotError, TimeoutError):
        return None
    try:
        async with pool.acquire() as connection:
            return [await connection.fetch(statement) for statement in statements]
    except PostgresError:  # an older schema
        return None
    finally:
        await pool.close()
