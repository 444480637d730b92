"""`python -m runtime.store.check`: do the migrations make exactly the tables of the schema? Exit 1 says where not.

It also says which text column the leak guard's list does not know, and which migration takes away what older programs need.

Two ways lead to the newest tables, the migrations and a first start that makes them at once: both must agree to the
letter, and with the schema. Only quotes and the order of a table's constraints, which SQLite changes when it makes a
table anew, are of no account.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Any, Final

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Integer, create_engine
from sqlalchemy.pool import StaticPool

from runtime.store.expanding import faults_of_revisions
from runtime.store.operations.text_columns import unlisted
from runtime.store.schema import REVISION, metadata
from runtime.store.sql.full_text import INDEXED
from runtime.store.upgrade import configuration, create_sqlite, migrate_sqlite

UNLISTED: Final = (
    "{column}: give it a row in runtime/store/operations/text_columns.py: the gate of the leak guard through which its text "
    "comes, or why it holds no free text. A column that is gone has no row."
)


def differences() -> list[Any]:
    """Differences between an upgraded empty database and the schema; the newest revision counts too."""
    head = ScriptDirectory.from_config(configuration()).get_current_head()
    raw, created = _empty(), _empty()
    migrate_sqlite(raw)
    create_sqlite(created)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _is_ours})
        found = compare_metadata(context, metadata)
    found += sorted(_statements(raw) ^ _statements(created))
    return [*found, *([] if head == REVISION else [f"schema.REVISION is {REVISION}, the newest migration {head}"])]


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """False for the tables of full text indexes, which are compared as statements alone."""
    if kind == "table" and name == "schema_contracts":  # as Alembic's own: it tells about the schema
        return False
    return kind != "table" or not any(name and name.startswith((one.words, one.letters)) for one in INDEXED)


def _empty() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)


def _statements(raw: sqlite3.Connection) -> set[str]:
    """Statements that SQLite keeps of each table and index, without blanks; partial indexes with their predicates."""
    rows = raw.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'")
    return {_plain(sql) for (sql,) in rows}


def _plain(sql: str) -> str:
    body, *constraints = "".join(sql.split()).replace('"', "").removesuffix(")").split(",CONSTRAINT")
    return ",CONSTRAINT".join([body, *sorted(constraints)])


def text_columns() -> dict[str, frozenset[str]]:
    """Columns that may hold text by table, as the schema has them: all but numbers."""
    return {
        name: frozenset(column.name for column in table.columns if not isinstance(column.type, Integer))
        for name, table in metadata.tables.items()
    }


def main() -> int:
    told = [f"{difference}" for difference in differences()]
    told += [UNLISTED.format(column=column) for column in unlisted(text_columns())]
    told += faults_of_revisions()
    for line in told:
        sys.stderr.write(f"{line}\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
