"""Answers of a database, as the model reads them and as a file. No I/O."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from runtime.markup.moments import several
from runtime.text.glyphs import clip

CELL_KEPT_MAX_CHARS: Final = 2_000
"""Characters of a value in a file."""
CELL_SHOWN_MAX_CHARS: Final = 200
ROWS_SHOWN_MAX: Final = 50
TABLE_MAX_CHARS: Final = 12_000
ANSWER_MAX_CHARS: Final = 4_000_000
"""Of all values that are read: rows beyond are left out."""
COLUMNS_MAX: Final = 200
NO_VALUE: Final = "NULL"
RUN_BY_SPREADSHEETS: Final = ("=", "+", "-", "@", "\t", "\r")
NUMBER_FORM: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class QueryBounds:
    """Bounds of one question."""

    rows: int
    time: timedelta


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of an answer, each value as a text. `more`: there are others."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    more: bool = False
    seconds: float = 0.0


class QueryFault(Exception):
    """A question was not answered. `words` are those of the database, which may repeat its values; `why` is ours."""

    def __init__(self, why: str, words: str = "") -> None:
        super().__init__(f"{why} {words}".strip())
        self.why, self.words = why, words


class Database(Protocol):
    """A database that can only be read. Errors of each: QueryFault."""

    @property
    def name(self) -> str: ...

    @property
    def bounds(self) -> QueryBounds: ...

    async def query(self, sql: str) -> Rows: ...

    async def tables(self) -> Rows:
        """A row for each column: table, column, type."""

    async def objection(self) -> str:
        """The reason for which it isn't asked, such as a role that may write; empty for none."""


def told(answer: Rows) -> tuple[str, bool]:
    """Rows as a table, and True where all of them are in it."""
    lines, chars = [" | ".join(_shown(name) for name in answer.columns)], 0
    for row in answer.rows[:ROWS_SHOWN_MAX]:
        line = " | ".join(map(_shown, row))
        chars += len(line)
        if chars > TABLE_MAX_CHARS:
            break
        lines.append(line)
    shown = len(lines) - 1
    is_whole = shown == len(answer.rows) and not any(_is_long(cell) for row in answer.rows for cell in row)
    if shown < len(answer.rows):
        lines.append(f"[… the first {shown:,} of {len(answer.rows):,} rows]")
    return "\n".join(lines), is_whole


def summed(answer: Rows) -> str:
    """Size of an answer, and the time it took."""
    count = f"{len(answer.rows):,} rows and more" if answer.more else several(len(answer.rows), "row")
    return f"{count}, {several(len(answer.columns), 'column')}, {answer.seconds:.2f} s."


def schema_told(columns: Rows) -> str:
    """A line for each table: its columns with their types."""
    tables: dict[str, list[str]] = {}
    for table, column, kind in columns.rows:
        tables.setdefault(str(table), []).append(f"{column} {kind}".strip())
    return "\n".join(f"{table}({', '.join(names)})" for table, names in tables.items()) or "It has no tables to read."


def as_csv(answer: Rows) -> bytes:
    """A file of all rows. A text that a spreadsheet would run as a formula gets a quote before it."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow([_inert(name) for name in answer.columns])
    writer.writerows([_inert(cell) for cell in row] for row in answer.rows)
    return made.getvalue().encode("utf-8", "replace")


def bounded(rows: Iterator[Sequence[str | None]], most: int) -> tuple[list[Sequence[str | None]], bool]:
    """At most so many rows, and no more text than is kept of one answer; True where there are more."""
    kept, chars = list[Sequence[str | None]](), 0
    for row in rows:
        chars += sum(len(cell or "") for cell in row)
        if len(kept) == most or chars > ANSWER_MAX_CHARS:
            return kept, True
        kept.append(row)
    return kept, False


def _shown(cell: str | None) -> str:
    return NO_VALUE if cell is None else clip(" ".join(cell.split()), CELL_SHOWN_MAX_CHARS)


def _is_long(cell: str | None) -> bool:
    return cell is not None and len(cell) > CELL_SHOWN_MAX_CHARS


def _inert(cell: str | None) -> str:
    """A value that is only a value, wherever it's opened.

    >>> _inert("=cmd()"), _inert("-12.5"), _inert(None)
    ("'=cmd()", '-12.5', '')
    """
    text = cell or ""
    return f"'{text}" if text.startswith(RUN_BY_SPREADSHEETS) and not NUMBER_FORM.fullmatch(text) else text
