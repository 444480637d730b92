"""What both engines read is what PostgreSQL's own construct would write, and an embedded store loads no PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, bindparam
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from runtime.store.sql.upsert import insert

TABLE = Table("t", MetaData(), Column("k", Text, primary_key=True), Column("n", Integer))
WAYS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda made: made.on_conflict_do_nothing(),
    "nothing, of a key": lambda made: made.on_conflict_do_nothing(index_elements=["k"]),
    "another value": lambda made: made.on_conflict_do_update(index_elements=["k"], set_={"n": made.excluded.n}),
    "where and what": lambda made: made.on_conflict_do_update(
        index_elements=["k"], index_where=TABLE.c.n > 3, set_={"n": TABLE.c.n + 1}, where=TABLE.c.n > 2
    ).returning(TABLE.c.n),
}


@pytest.mark.parametrize("dialect", [PGDialect_asyncpg, SQLiteDialect])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_both_engines_read_what_postgresql_writes(way: Callable[[Any], Any], dialect: Callable[[], Any]) -> None:
    ours, theirs = (
        str(way(made(TABLE).values(k=bindparam("k"), n=1)).compile(dialect=dialect()))
        for made in (insert, postgresql.insert)
    )
    assert ours == theirs


def test_an_embedded_store_loads_no_postgresql() -> None:
    code = "import sys, runtime.store.store; print('sqlalchemy.dialects.postgresql' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
