"""`python -m runtime.store.check`: do the migrations make exactly the tables of the schema? Exit 1 says where not.

Two ways lead to the newest tables, the migrations and a first start that makes them at once: both must agree to the
letter, and with the schema. Only quotes and the order of a table's constraints, which SQLite changes when it makes a
table anew, are of no account.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from runtime.store.schema import REVISION, metadata
from runtime.store.upgrade import configuration, create_sqlite, migrate_sqlite


def differences() -> list[Any]:
    """Differences between an upgraded empty database and the schema; the newest revision counts too."""
    head = ScriptDirectory.from_config(configuration()).get_current_head()
    raw, created = _empty(), _empty()
    migrate_sqlite(raw)
    create_sqlite(created)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
    found += sorted(_statements(raw) ^ _statements(created))
    return [*found, *([] if head == REVISION else [f"schema.REVISION is {REVISION}, the newest migration {head}"])]


def _empty() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)


def _statements(raw: sqlite3.Connection) -> set[str]:
    """Statements that SQLite keeps of each table and index, without blanks; partial indexes with their predicates."""
    rows = raw.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'")
    return {_plain(sql) for (sql,) in rows}


def _plain(sql: str) -> str:
    body, *constraints = "".join(sql.split()).replace('"', "").removesuffix(")").split(",CONSTRAINT")
    return ",CONSTRAINT".join([body, *sorted(constraints)])


def main() -> int:
    found = differences()
    for difference in found:
        sys.stderr.write(f"{difference}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
