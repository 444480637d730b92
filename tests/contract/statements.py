"""What tests ask the database in words of their own."""

from __future__ import annotations

from functools import cache

from sqlalchemy import TextClause, text


@cache
def statement(sql: str) -> TextClause:
    """The same for the same words: engines compile each statement that they have not seen, and keep it."""
    return text(sql)
