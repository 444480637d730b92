"""Statements that may be asked: one, and one that reads. The database's own means hold in any case; these words are for people."""

from __future__ import annotations

import re
from typing import Final

from runtime.errors import ToolRetry

SQL_MAX_CHARS: Final = 20_000
READING: Final = ("select", "with", "values", "table", "explain", "show", "(")
COMMENT: Final = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*+\*/")
FIRST_WORD: Final = re.compile(r"[a-z]+|\(", re.IGNORECASE)


def statement_of(sql: str) -> str:
    """The statement without blanks, comments before it and the semicolon at its end.

    Errors: ToolRetry for one that is too long, or that doesn't begin as one that reads.

    >>> statement_of("-- how many?\\n SELECT 1; ")
    'SELECT 1'
    """
    if len(sql) > SQL_MAX_CHARS or "\0" in sql:
        raise ToolRetry(f"The statement is longer than {SQL_MAX_CHARS:,} characters, or no text.")
    at = 0
    while found := COMMENT.match(sql, at):
        at = found.end()
    statement = sql[at:].rstrip().rstrip(";").rstrip()
    word = FIRST_WORD.match(statement)
    if not word or word[0].lower() not in READING:
        raise ToolRetry(
            "It wasn't run: a statement here begins with SELECT, WITH, VALUES, TABLE, EXPLAIN or SHOW. Nothing can be changed."
        )
    return statement


def is_table(statement: str) -> bool:
    """True for a statement that can stand where a table does."""
    word = FIRST_WORD.match(statement)
    return word is not None and word[0].lower() not in ("explain", "show")
