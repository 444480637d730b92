"""Statements by which memories are looked for, in the words of each engine.

`within` is the query of PostgreSQL's index for the reaches, which narrows; SQLite's is in `match`. The reaches themselves
are compared once more. Lists of numbers and ids are parameters as JSON.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import TextClause

from runtime.store.memory.rows import REACHES_MOST, Row
from runtime.store.sql import per_engine
from runtime.store.sql.full_text import MEMORIES
from runtime.store.sql.per_engine import PerEngine

PAIRS: Final = 8
"""Pairs of signs that one statement looks for."""
_COUNTS: Final = ("now", "since", "any_trust", "dims")


def statement_of(sql: str) -> TextClause:
    return per_engine.statement_of(sql, _COUNTS)


def _both(sql: str, *, sqlite: dict[str, str], postgres: dict[str, str]) -> PerEngine:
    return PerEngine(sqlite=statement_of(sql.format(**sqlite)), postgres=statement_of(sql.format(**postgres)))


_MAY: Final = (
    "m.valid_to IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now) AND m.created_at >= :since"
    " AND (:any_trust = 1 OR m.trust = 'said')"
    " AND (:about = '' OR {find}(lower(m.subject || ' ' || m.object || ' ' || m.text), :about) > 0)"
)
_SQLITE: Final = {"find": "instr"}
_POSTGRES: Final = {"find": "strpos"}
_REACHES: Final = ", ".join(f":reach{number}" for number in range(REACHES_MOST))
_HERE: Final = f"m.reach IN ({_REACHES}) AND {_MAY}"


def _indexed(table: str, match: str) -> TextClause:
    """SQLite keeps the order of a CROSS JOIN: it looks into the index first."""
    found = f"{table} CROSS JOIN memories AS m ON m.number = {table}.rowid WHERE {table} MATCH :{match}"
    here = _HERE.format(**_SQLITE)
    return statement_of(f"SELECT m.number FROM {found} AND {here} ORDER BY {table}.rowid DESC LIMIT :n")  # noqa: S608 - our own names


def _filtered(where: str) -> TextClause:
    here = _HERE.format(**_POSTGRES)
    return statement_of(f"SELECT m.number FROM memories AS m WHERE {where} AND {here} LIMIT :n")  # noqa: S608 - our own names


_BY_VECTOR: Final = f"{MEMORIES.vector_of('m.')} @@ (CAST(:within AS tsquery) && CAST(:lexemes AS tsquery))"
BY_WORD: Final = PerEngine(sqlite=_indexed(MEMORIES.words, "match"), postgres=_filtered(_BY_VECTOR))
BY_LETTERS: Final = PerEngine(sqlite=_indexed(MEMORIES.letters, "letters"), postgres=_filtered("m.text ILIKE :pattern"))
_COUNTED: Final = " + ".join(f"CASE WHEN {{find}}(m.text, :pair{at}) > 0 THEN 1 ELSE 0 END" for at in range(PAIRS))
BY_PAIRS: Final = _both(
    f"SELECT number FROM (SELECT m.number AS number, {_COUNTED} AS found FROM memories AS m WHERE {_HERE}) AS counted"  # noqa: S608 - our own names
    " WHERE found > 0 ORDER BY found DESC, number DESC LIMIT :n",
    sqlite=_SQLITE,
    postgres=_POSTGRES,
)
_COLUMNS: Final = ", ".join(["m.number", *(f"m.{name}" for name in Row._fields[:-1]), "p.name"])
_FULL: Final = f"SELECT {_COLUMNS} FROM memories AS m LEFT JOIN people AS p ON p.id = m.by_person WHERE {_HERE}"  # noqa: S608 - our own names
BY_NUMBER: Final = _both(
    f"{_FULL} AND {{numbers}}",
    sqlite=_SQLITE | {"numbers": "m.number IN (SELECT value FROM json_each(:numbers))"},
    postgres=_POSTGRES
    | {
        "numbers": "m.number = ANY(ARRAY(SELECT CAST(n AS bigint) FROM json_array_elements_text(CAST(:numbers AS json)) AS n))"
    },
)
BY_ID: Final = _both(
    f"{_FULL} AND {{ids}}",
    sqlite=_SQLITE | {"ids": "m.id IN (SELECT value FROM json_each(:ids))"},
    postgres=_POSTGRES | {"ids": "m.id = ANY(ARRAY(SELECT json_array_elements_text(CAST(:ids AS json))))"},
)
PINNED: Final = _both(
    f"{_FULL} AND m.pinned = 1 ORDER BY m.importance DESC, m.number DESC LIMIT :n", sqlite=_SQLITE, postgres=_POSTGRES
)
HAS_LETTERS: Final = PerEngine(
    sqlite=statement_of("SELECT 1"), postgres=statement_of("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
)
