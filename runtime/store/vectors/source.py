"""A table whose rows get vectors, the table of these, and the statements of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlalchemy import ColumnElement, Executable, Integer, Table, Text, bindparam, delete, exists, func, select

from runtime.store.common import put
from runtime.store.sql.per_engine import PerEngine, statement_of

DROPPED_AT_ONCE: Final = 100
"""Vectors that one transaction removes: of each it clears away some pages."""
SCALE_BYTES: Final = 4
"""Bytes of a vector before those of its numbers."""
WHOLE: Final = f"CASE WHEN length(vector) = :dims + {SCALE_BYTES} THEN true ELSE false END"
"""A vector has the length of this version. Said in such a way that PostgreSQL doesn't take it for a rare thing: else it sorts
all vectors for each batch rather than read them along an index, at forty times the cost."""
NUMBERS: Final = ("dims",)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Rows with an `id`, a `number` and a `text`, and the table of their vectors. `of` and `within` name columns there: the
    row's id, and the part of the table that is searched at once, which the row itself has too."""

    rows: Table
    vectors: Table
    of: str
    within: str
    text: ColumnElement[str]
    payer: ColumnElement[str]
    is_current: tuple[ColumnElement[bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Statements:
    without: Executable
    locked: Executable
    put: Executable
    some: Executable
    stock: Executable
    waiting: Executable
    of_other_dims: Executable
    of_other_models: Executable
    of_ended: Executable
    drop_one: Executable


@cache
def statements_of(source: Source) -> Statements:
    """The same ones each time: engines know a statement by its identity."""
    rows, vectors = source.rows, source.vectors
    of: ColumnElement[str] = vectors.c[source.of]
    model = bindparam("model", type_=Text)
    has_one = exists().where(of == rows.c.id, vectors.c.model == model)
    useless = select(of, vectors.c.model).limit(DROPPED_AT_ONCE)
    return Statements(
        without=select(rows.c.number, rows.c.id, source.payer, source.text)
        .where(*source.is_current, rows.c.number > bindparam("after", type_=Integer), ~has_one)
        .order_by(rows.c.number)
        .limit(bindparam("n", type_=Integer)),
        locked=select(rows.c[source.within]).where(rows.c.id == bindparam("row"), *source.is_current).with_for_update(),
        put=put(vectors),
        some=_some(source),
        stock=select(vectors.c.model, vectors.c.dims, func.count()).group_by(vectors.c.model, vectors.c.dims),
        waiting=select(func.count()).select_from(rows).where(*source.is_current, ~has_one),
        of_other_dims=useless.where(vectors.c.model == model, vectors.c.dims != bindparam("dims")),
        of_other_models=useless.where(vectors.c.model != model),
        of_ended=useless.where(~exists().where(rows.c.id == of, *source.is_current)),
        drop_one=delete(vectors)
        .where(of == bindparam("row"), vectors.c.model == bindparam("of_model"), vectors.c.dims != bindparam("but"))
        .returning(of),
    )


def _some(source: Source) -> PerEngine:
    """Vectors and their ids. PostgreSQL joins them, since a row of its own for each costs more than all else. What has another
    length is of another version of the program."""
    of, vectors = source.of, source.vectors.name
    found = (
        f"SELECT {of}, vector FROM {vectors} WHERE {source.within} = :within AND model = :model AND dims = :dims"  # noqa: S608 - our own names
        f" AND {of} > :after AND {WHOLE} ORDER BY {of} LIMIT :n"
    )
    joined = f"SELECT string_agg({of}, ' '), string_agg(vector, CAST('' AS bytea)) FROM ({found}) AS found"  # noqa: S608 - our own names
    return PerEngine(sqlite=statement_of(found, NUMBERS), postgres=statement_of(joined, NUMBERS))
