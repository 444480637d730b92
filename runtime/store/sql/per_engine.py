"""Statements that the two engines write in their own words, such as those of full text."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import BigInteger, Executable, Integer, Text, TextClause, bindparam, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ClauseElement

NO_PAIR: Final = "\x01"
"""Stands for a pair that a query does not have: no text holds it."""
_NAMES: Final = re.compile(r"(?<!:):(\w+)")


def statement_of(sql: str, counts: Collection[str] = ()) -> TextClause:
    """A statement with its parameters typed: `n` and those of `counts` are whole numbers, the others texts."""
    kinds = {name: BigInteger if name in counts else Integer if name == "n" else Text for name in _NAMES.findall(sql)}
    return text(sql).bindparams(*(bindparam(name, type_=kind) for name, kind in kinds.items()))


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
