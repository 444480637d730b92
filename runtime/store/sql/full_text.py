"""Full text indexes: what SQLAlchemy has no words for. Kept by the database itself, so that none can lag behind its table.

SQLite: FTS5 tables without a copy of the text, in words and in threes of letters, filled by triggers. PostgreSQL: indexes
of expressions; the second kind needs the extension pg_trgm, which a server may lack or forbid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Indexed:
    """A table whose `text` is searched, among rows with the same `within`."""

    table: str
    within: str

    @property
    def words(self) -> str:
        return f"{self.table}_words"

    @property
    def letters(self) -> str:
        return f"{self.table}_letters"


MEMORIES: Final = Indexed("memories", "reach")
CHUNKS: Final = Indexed("knowledge_chunks", "pack")
INDEXED: Final = (MEMORIES, CHUNKS)

WORDS: Final = "unicode61 remove_diacritics 2"
LETTERS: Final = "trigram"


def sqlite_statements() -> Iterator[str]:
    """Statements that make the indexes in SQLite, whose tables are there."""
    for one in INDEXED:
        for name, tokens in ((one.words, WORDS), (one.letters, LETTERS)):
            of = f"content='{one.table}', content_rowid='number', tokenize='{tokens}'"
            yield f"CREATE VIRTUAL TABLE {name} USING fts5(text, {of})"
        yield f"CREATE TRIGGER {one.table}_added AFTER INSERT ON {one.table} BEGIN {_put(one)} END"
        yield f"CREATE TRIGGER {one.table}_removed AFTER DELETE ON {one.table} BEGIN {_take(one)} END"
        yield f"CREATE TRIGGER {one.table}_changed AFTER UPDATE OF text ON {one.table} BEGIN {_take(one)} {_put(one)} END"


def _put(one: Indexed) -> str:
    return " ".join(f"INSERT INTO {name}(rowid, text) VALUES (new.number, new.text);" for name in _both(one))  # noqa: S608 - our own names


def _take(one: Indexed) -> str:
    values = "('delete', old.number, old.text)"
    return " ".join(f"INSERT INTO {name}({name}, rowid, text) VALUES {values};" for name in _both(one))  # noqa: S608 - our own names


def _both(one: Indexed) -> tuple[str, str]:
    return one.words, one.letters


def postgres_statements() -> Iterator[str]:
    """Statements that make those indexes in PostgreSQL which need no extension."""
    for one in INDEXED:
        yield f"CREATE INDEX {one.words} ON {one.table} USING gin (to_tsvector('simple', text))"


def trigram_statements() -> Iterator[str]:
    """Statements for the indexes that need pg_trgm."""
    for one in INDEXED:
        yield f"CREATE INDEX {one.letters} ON {one.table} USING gin (text gin_trgm_ops)"
