"""What the product makes once in a process and tests would make anew for each of their stores: a third of their time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest
from sqlalchemy.engine import Dialect

from runtime.store import upgrade
from runtime.store.schema import REVISION
from runtime.store.sql import postgres, sqlite
from runtime.store.sql.driver import Compiler


def share(patch: pytest.MonkeyPatch) -> None:
    """All stores of an engine share their compiled statements, and new SQLite databases the words of their tables."""
    for engine in (sqlite, postgres):
        patch.setattr(engine, "Compiler", _made_once(Compiler))
    patch.setattr(upgrade, "create_sqlite", _written_once(upgrade.create_sqlite))


def _made_once(make: Callable[[Dialect], Compiler]) -> Callable[[Dialect], Compiler]:
    made: list[Compiler] = []

    def again(dialect: Dialect) -> Compiler:
        if not made:
            made.append(make(dialect))
        return made[0]

    return again


def _written_once(create: Callable[[sqlite3.Connection], None]) -> Callable[[sqlite3.Connection], None]:
    statements: list[str] = []

    def again(raw: sqlite3.Connection) -> None:
        if not statements:
            with sqlite3.connect(":memory:", isolation_level=None) as first:
                create(first)
                words = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rootpage"
                statements.extend(sql for (sql,) in first.execute(words))
            first.close()
        for statement in statements:
            raw.execute(statement)
        raw.execute("INSERT INTO alembic_version VALUES (?)", (REVISION,))

    return again
