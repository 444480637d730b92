"""What the product makes once in a process and tests would make anew for each of their stores: half of their time."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy.engine import Dialect

from runtime.store import store
from runtime.store.sql import postgres, sqlite
from runtime.store.sql.driver import Compiler
from runtime.store.upgrade import upgrade_sqlite
from tests.contract.kept import lending
from tests.fakes import forked, new_sqlite


def share(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """All stores of an engine share their compiled statements, new SQLite databases are copies of one, no commit waits
    for the disk, and a server of PostgreSQL is asked once if it is one."""
    for engine in (sqlite, postgres):
        patch.setattr(engine, "Compiler", _made_once(Compiler))
    newest = folder / "newest.db"
    hurried = new_sqlite.Hurried(new_sqlite.make(newest))
    for user in (sqlite, store):
        patch.setattr(user, "connect", hurried)
    patch.setattr(forked, "NEWEST", newest)
    patch.setattr(store, "upgrade_sqlite", upgraded)
    patch.setattr(postgres, "kept_statements", _asked_once(postgres.kept_statements))
    patch.setattr(postgres, "open_pool", lending(postgres.open_pool))


def _made_once(make: Callable[[Dialect], Compiler]) -> Callable[[Dialect], Compiler]:
    made: list[Compiler] = []

    def again(dialect: Dialect) -> Compiler:
        if not made:
            made.append(make(dialect))
        return made[0]

    return again


@cache
def _newest() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    upgrade_sqlite(made)
    return made


def upgraded(raw: sqlite3.Connection) -> None:
    """An empty database becomes a copy of one at the newest revision; another one is upgraded."""
    if raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        upgrade_sqlite(raw)
    else:
        _newest().backup(raw)


def _asked_once(ask: Callable[[str], Awaitable[int]]) -> Callable[[str], Awaitable[int]]:
    known: dict[str, int] = {}

    async def again(url: str) -> int:
        if url not in known:
            known[url] = await ask(url)
        return known[url]

    return again
