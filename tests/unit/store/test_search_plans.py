"""A search begins in its index, which has the reach too: rows of others are never looked at, however many there are."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import Executable
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from runtime.store.knowledge import searching
from runtime.store.memory.finding import statements
from runtime.store.memory.finding.vectors import MEMORY_VECTORS
from runtime.store.memory.rows import reaching
from runtime.store.sql.driver import Compiler
from runtime.store.sql.full_text import (
    CHUNKS,
    MEMORIES,
    letters_match,
    sqlite_statements,
    trigger_statements,
    words_match,
)
from runtime.store.upgrade import migrate_sqlite, upgrade_sqlite
from runtime.store.vectors.source import statements_of

REACHES = ["a1f0", "b2e1"]
BOUNDS = {**reaching(REACHES), "now": 1, "since": 0, "any_trust": 1, "about": "", "n": 10}
QUERIES: Mapping[str, tuple[Executable, Mapping[str, object], list[str]]] = {
    "words": (
        statements.BY_WORD,
        {"match": words_match(MEMORIES, REACHES, ["tea", "teas"])},
        ["SCAN memories_words VIRTUAL TABLE INDEX", "SEARCH m USING INTEGER PRIMARY KEY"],
    ),
    "letters": (
        statements.BY_LETTERS,
        {"letters": letters_match(MEMORIES, REACHES, "eplo")},
        ["SCAN memories_letters VIRTUAL TABLE INDEX", "SEARCH m USING INTEGER PRIMARY KEY"],
    ),
    "pairs": (
        statements.BY_PAIRS,
        {f"pair{at}": "妹妹" for at in range(statements.PAIRS)},
        ["SEARCH m USING INDEX ix_memories_reach"],
    ),
    "vectors": (
        statements_of(MEMORY_VECTORS).some,
        {"within": "a1f0", "model": "m", "dims": 2, "after": ""},
        ["SEARCH memory_vectors USING INDEX ix_memory_vectors_reach"],
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_search_begins_in_its_index(name: str) -> None:
    statement, given, steps = QUERIES[name]
    compiled = Compiler(SQLiteDialect(paramstyle="qmark"))(statement)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        upgrade_sqlite(database)
        rows = database.execute(
            f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.arguments({**BOUNDS, **given})
        ).fetchall()
    plan = [row[3] for row in rows if row[3].startswith(("SCAN", "SEARCH"))]
    assert [step for step, wanted in zip(plan, steps, strict=False) if not step.startswith(wanted)] == []
    assert len(plan) >= len(steps)


def test_the_reach_is_asked_of_the_index_itself() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        upgrade_sqlite(database)
        for column, words in (
            ("words", words_match(MEMORIES, ["a1f0"], ["tea"])),
            ("letters", letters_match(MEMORIES, ["a1f0"], "tea")),
        ):
            put = f"INSERT INTO memories_{column}(rowid, reach, text) VALUES (?, ?, 'tea')"
            database.executemany(put, [(1, "a1f0"), (2, "ffff"), (3, "0a1f")])
            found = database.execute(f"SELECT rowid FROM memories_{column} WHERE memories_{column} MATCH ?", (words,))
            assert found.fetchall() == [(1,)]


def test_every_full_text_index_has_a_search_of_its_own() -> None:
    """A row that comes pays for each of them: the letters most."""
    searches = [statements.BY_WORD, statements.BY_LETTERS, searching.BY_WORDS]
    compiled = [Compiler(SQLiteDialect(paramstyle="qmark"))(one).sql for one in searches]
    made = [name for sql in sqlite_statements() for name in re.findall(r"CREATE VIRTUAL TABLE (\w+)", sql)]
    assert len(made) == 3
    assert [name for name in made if not any(f"{name} MATCH" in sql for sql in compiled)] == []


def test_an_index_that_no_search_uses_goes_with_an_upgrade() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database, closing(_fresh()) as fresh:
        upgrade_sqlite(database)
        for name in ("added", "removed", "changed"):
            database.execute(f"DROP TRIGGER knowledge_chunks_{name}")
        before = replace(CHUNKS, by_letters=True)
        database.execute(f"CREATE VIRTUAL TABLE {before.letters} USING fts5(pack, text)")
        for statement in trigger_statements(before):
            database.execute(statement)
        database.execute("UPDATE alembic_version SET version_num = '0035'")
        database.execute("BEGIN IMMEDIATE")
        migrate_sqlite(database, "0036")
        assert _made(database) == _made(fresh)


def _fresh() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", isolation_level=None)
    upgrade_sqlite(database)
    return database


def _made(database: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(database.execute("SELECT name, sql FROM sqlite_master"))
