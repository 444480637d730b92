"""`python -m runtime.store.check`: do the migrations make exactly the tables of the schema? Exit 1 says where not."""

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
from runtime.store.upgrade import configuration, upgrade_sqlite


def differences() -> list[Any]:
    """What an upgraded empty database and the schema disagree on; the newest revision counts too."""
    head = ScriptDirectory.from_config(configuration()).get_current_head()
    raw = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    upgrade_sqlite(raw)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
    raw.close()
    return [*found, *([] if head == REVISION else [f"schema.REVISION is {REVISION}, the newest migration {head}"])]


def main() -> int:
    found = differences()
    for difference in found:
        sys.stderr.write(f"{difference}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
