"""Statements that the two engines write in their own words, such as those of full text."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Executable, TextClause
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ClauseElement


class PerEngine(Executable, ClauseElement):
    """One statement in the words of each engine, with the same parameters and columns."""

    inherit_cache = False

    def __init__(self, *, sqlite: TextClause, postgres: TextClause) -> None:
        self.sqlite = sqlite
        self.postgres = postgres


@compiles(PerEngine, "sqlite")
def _sqlite(element: PerEngine, compiler: Any, **options: Any) -> str:
    written: str = compiler.process(element.sqlite, **options)
    return written


@compiles(PerEngine, "postgresql")
def _postgres(element: PerEngine, compiler: Any, **options: Any) -> str:
    written: str = compiler.process(element.postgres, **options)
    return written
