"""Columns of our kinds, and what all tables belong to."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Text, text

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# SQLite numbers rows by itself only in a column declared INTEGER.
Serial = BigInteger().with_variant(Integer(), "sqlite")


def words(name: str, **options: object) -> Column[str]:
    return Column(name, Text, nullable=False, **options)  # type: ignore[arg-type]  # options are Column's own


def number(name: str, **options: object) -> Column[int]:
    return Column(name, BigInteger, nullable=False, **options)  # type: ignore[arg-type]  # options are Column's own


# Ids sort by time only byte by byte, which is not how most PostgreSQL databases compare texts.
Id = Text().with_variant(Text(collation="C"), "postgresql")


def time_id(name: str, **options: object) -> Column[str]:
    """A column of ids that is walked in the order of time, or is looked up by such an id."""
    return Column(name, Id, nullable=False, **options)  # type: ignore[arg-type]  # options are Column's own


def maybe_words(name: str) -> Column[str | None]:
    return Column(name, Text)


def maybe_number(name: str) -> Column[int | None]:
    return Column(name, BigInteger)


def partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """PostgreSQL's are made by the migrations: to name them here would load its dialect into every process, 3 MB."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where))


def numbers(name: str) -> Column[bytes]:
    """A column of float32 numbers, one behind the other, the lowest byte first."""
    return Column(name, LargeBinary, nullable=False)
