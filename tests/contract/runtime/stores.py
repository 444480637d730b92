"""Stores for tests of the runtime: in memory for most, a file and a real PostgreSQL for the core."""

from __future__ import annotations

import sqlite3
from functools import cache

from runtime.contract import Now
from runtime.domain.ids import new_id
from runtime.store.sql.sqlite import MEMORY_DATABASE, SqliteDriver, connect
from runtime.store.store import Store
from runtime.store.upgrade import upgrade_sqlite


@cache
def _template() -> sqlite3.Connection:
    """An empty database at the newest revision: copying it takes a fraction of a migration."""
    connection = connect(MEMORY_DATABASE)
    upgrade_sqlite(connection)
    return connection


def memory_store(now: Now) -> Store:
    connection = connect(MEMORY_DATABASE)
    _template().backup(connection)
    return Store.over(SqliteDriver(MEMORY_DATABASE, connection, now=now), new_id)
