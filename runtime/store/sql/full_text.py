"""Full text indexes: what SQLAlchemy has no words for. Kept by the database itself, so that none can lag behind its table.

SQLite: FTS5 tables without a copy of the text, in words and in threes of letters, filled by triggers. PostgreSQL: indexes
of expressions; the second kind needs the extension pg_trgm, which a server may lack or forbid.

The column within which is searched is indexed too, so that a search costs as much as its own rows, however many others
there are. Its value is compared once more by whoever reads the rows: here it only narrows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Indexed:
    """A table whose `text` is searched, among rows with the same `within`; also `by_letters`, whose index costs a row most."""

    table: str
    within: str
    by_letters: bool = True

    @property
    def words(self) -> str:
        return f"{self.table}_words"

    @property
    def letters(self) -> str:
        return f"{self.table}_letters"

    @property
    def names(self) -> Sequence[str]:
        """Names of its indexes in SQLite."""
        return [self.words, self.letters] if self.by_letters else [self.words]

    @property
    def vector(self) -> str:
        """Expression of PostgreSQL's index: the first word says within what the text is."""
        return self.vector_of("")

    def vector_of(self, alias: str) -> str:
        place = f"'w' || regexp_replace({alias}{self.within}, '{NOT_PLAIN}', '', 'g')"
        bare = f"CASE WHEN {alias}text ~ '[{ACCENTED}]' THEN translate({alias}text, '{ACCENTED}', '{BARE}') ELSE {alias}text END"
        return f"to_tsvector('simple', {place} || ' ' || {bare})"


_LATIN: Final = [chr(code) for code in range(0xC0, 0x180)]
_BASES: Final = {letter: unicodedata.normalize("NFD", letter)[0].lower() for letter in _LATIN}
_GREEK_TO_CYRILLIC: Final = [chr(code) for code in range(0x370, 0x530)]
_PLAIN: Final = {letter: base for letter, base in _BASES.items() if base.isascii()} | {
    letter: letter.lower() for letter in _GREEK_TO_CYRILLIC if letter.lower() != letter
}
ACCENTED: Final = "".join(_PLAIN)
"""Latin letters with accents, and capital ones of Greek and Cyrillic: PostgreSQL's index has them without, and small, as
SQLite's does. In a database with the locale C it knows no other capital letters than those of English. To translate a
text takes ten times as long as all else of its row, so it is asked first whether there is such a letter."""
BARE: Final = "".join(_PLAIN.values())
NOT_PLAIN: Final = "[^0-9A-Za-z]"
MEMORIES: Final = Indexed("memories", "reach")
CHUNKS: Final = Indexed("knowledge_chunks", "pack", by_letters=False)
INDEXED: Final = (MEMORIES, CHUNKS)

WORDS: Final = "unicode61 remove_diacritics 2"
LETTERS: Final = "trigram"
LETTERS_CHARS: Final = 3
"""Shortest text that the index of letters finds."""


def sqlite_statements() -> Iterator[str]:
    """Statements that make the indexes in SQLite, whose tables are there."""
    for one in INDEXED:
        for name in one.names:
            tokens = WORDS if name == one.words else LETTERS
            of = f"content='{one.table}', content_rowid='number', tokenize='{tokens}'"
            yield f"CREATE VIRTUAL TABLE {name} USING fts5({one.within}, text, {of})"
        yield from trigger_statements(one)


def trigger_statements(one: Indexed) -> Iterator[str]:
    """Statements that make the triggers of a table, which fill its indexes in SQLite."""
    changed = f"UPDATE OF {one.within}, text"
    yield f"CREATE TRIGGER {one.table}_added AFTER INSERT ON {one.table} BEGIN {_put(one)} END"
    yield f"CREATE TRIGGER {one.table}_removed AFTER DELETE ON {one.table} BEGIN {_take(one)} END"
    yield f"CREATE TRIGGER {one.table}_changed AFTER {changed} ON {one.table} BEGIN {_take(one)} {_put(one)} END"


def _put(one: Indexed) -> str:
    values = f"(new.number, new.{one.within}, new.text)"
    return " ".join(f"INSERT INTO {name}(rowid, {one.within}, text) VALUES {values};" for name in one.names)  # noqa: S608 - our own names


def _take(one: Indexed) -> str:
    values = f"('delete', old.number, old.{one.within}, old.text)"
    return " ".join(
        f"INSERT INTO {name}({name}, rowid, {one.within}, text) VALUES {values};"  # noqa: S608 - our own names
        for name in one.names
    )


def postgres_statements() -> Iterator[str]:
    """Statements that make those indexes in PostgreSQL which need no extension."""
    for one in INDEXED:
        yield f"CREATE INDEX {one.words} ON {one.table} USING gin ({one.vector})"


def trigram_statements() -> Iterator[str]:
    """Statements for the indexes that need pg_trgm."""
    for one in filter(lambda one: one.by_letters, INDEXED):
        yield f"CREATE INDEX {one.letters} ON {one.table} USING gin (text gin_trgm_ops)"


def quoted(text: str) -> str:
    """`text` as a phrase of FTS5: whatever stands in it is no operator.

    >>> quoted('say "no" OR *')
    '"say ""no"" OR *"'
    """
    return '"' + text.replace('"', '""') + '"'


def words_match(one: Indexed, within: Iterable[str], forms: Iterable[str]) -> str:
    """Query of FTS5 for rows with one of these words.

    >>> words_match(MEMORIES, ["a1", "b2"], ["moved", "moving"])
    '(reach : ("a1" OR "b2")) AND (text : ("moved" OR "moving"))'
    """
    return f"({one.within} : ({_any_of(within)})) AND (text : ({_any_of(forms)}))"


def all_words_match(one: Indexed, within: Iterable[str], each: Iterable[Iterable[str]]) -> str:
    """Query of FTS5 for rows with one of each of these words.

    >>> all_words_match(MEMORIES, ["a1"], [["tea", "teas"], ["cup"]])
    '(reach : ("a1")) AND (text : (("tea" OR "teas") AND ("cup")))'
    """
    words = " AND ".join(f"({_any_of(forms)})" for forms in each)
    return f"({one.within} : ({_any_of(within)})) AND (text : ({words}))"


def _any_of(texts: Iterable[str]) -> str:
    return " OR ".join(map(quoted, texts))


def letters_match(one: Indexed, within: Iterable[str], part: str) -> str:
    """Query of FTS5 for rows that contain `part`, of at least three characters. Within is told by its first three alone:
    a phrase of all of them would cost more than the few rows that it spares.

    >>> letters_match(MEMORIES, ["a1f09", "b2e11"], "oma")
    '((reach : ^"a1f") OR (reach : ^"b2e")) AND (text : "oma")'
    """
    firsts = {value[:LETTERS_CHARS] for value in within}
    found = f"(text : {quoted(part)})"
    if any(len(first) < LETTERS_CHARS for first in firsts):
        return found
    places = " OR ".join(f"({one.within} : ^{quoted(first)})" for first in sorted(firsts))
    return f"({places}) AND {found}"


def within_words(within: Iterable[str]) -> str:
    """Query of PostgreSQL for the first words of the rows' vectors.

    >>> within_words(["a1", "hand book"])
    "'wa1' | 'whandbook'"
    """
    return any_lexeme(f"w{re.sub(NOT_PLAIN, '', value).lower()}" for value in within)


def any_lexeme(words: Iterable[str]) -> str:
    """Query of PostgreSQL for one of these words, as `tsquery` reads it: whatever stands in them is no operator.

    >>> any_lexeme(["o'neil"])
    "'o''neil'"
    """
    return " | ".join("'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in words)


def all_lexemes(each: Iterable[Iterable[str]]) -> str:
    """Query of PostgreSQL for one of each of these words."""
    return " & ".join(f"({any_lexeme(forms)})" for forms in each)
