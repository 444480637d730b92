"""Stores for tests of the runtime: in memory for most, a file and a real PostgreSQL for the core."""

from __future__ import annotations

from runtime.contract import Now
from runtime.domain.ids import new_id
from runtime.store.sql.driver import UNWATCHED, Watch
from runtime.store.sql.sqlite import MEMORY_DATABASE, SqliteDriver, connect
from runtime.store.store import Store
from tests.once import upgraded


def memory_store(now: Now, watch: Watch = UNWATCHED) -> Store:
    connection = connect(MEMORY_DATABASE)
    upgraded(connection)
    return Store.over(SqliteDriver(MEMORY_DATABASE, connection, now=now, watch=watch), new_id)
