"""Text of old rows, a page at a time along the primary key, and its replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    Integer,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    false,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from runtime.contract import Address
from runtime.store.operations.text_columns import free_columns
from runtime.store.protocol import RowKey, TextRow
from runtime.store.schema import (
    approvals,
    deliveries,
    grants,
    knowledge_chunks,
    knowledge_vectors,
    memories,
    memory_vectors,
    metadata,
    parts,
    runs,
    steps,
)
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.sql.traces import clear_in_steps

OPEN_RUN: Final = ("running", "parked", "ready")


@dataclass(frozen=True, slots=True)
class Statements:
    """The walk through one table, and the change of one row, which fails where the row has changed since."""

    names: Sequence[str]
    first: Executable
    further: Executable
    put: Executable


@cache
def _statements(name: str) -> Statements:
    table = metadata.tables[name]
    names = tuple(free_columns(name))
    key = [*table.primary_key]
    rows = (
        select(*key, _room_of(table), _is_open(table), *(table.c[one] for one in names))
        .order_by(*key)
        .limit(bindparam("n", type_=Integer))
    )
    after = tuple_(*(bindparam(f"k_{one.name}", type_=one.type) for one in key))
    return Statements(names, rows, rows.where(tuple_(*key) > after), _put(table, names))


def is_key(table: str, given: object) -> bool:
    """True if `given` has the form of a primary key of the table."""
    kinds = [int if isinstance(one.type, Integer | BigInteger) else str for one in metadata.tables[table].primary_key]
    return (
        isinstance(given, list | tuple)
        and len(given) == len(kinds)
        and all(type(one) is kind for one, kind in zip(given, kinds, strict=True))
    )


def _put(table: Table, names: Sequence[str]) -> Executable:
    key = [*table.primary_key]
    here = [one == bindparam(f"k_{one.name}") for one in key]
    unchanged = [table.c[one].is_not_distinct_from(bindparam(f"old_{one}", type_=table.c[one].type)) for one in names]
    changed = {one: bindparam(f"new_{one}", type_=table.c[one].type) for one in names}
    return update(table).where(*here, *unchanged).values(changed).returning(key[0])


def _room_of(table: Table) -> ColumnElement[Any]:
    """Address, session or scope that a row belongs to; empty for one that belongs to no room."""
    for name in ("address", "home", "session", "scope"):
        if name in table.c:
            return table.c[name]
    if table is parts:
        return _address(deliveries, deliveries.c.id == parts.c.delivery_id)
    if "approval_id" in table.c:
        return _address(approvals, approvals.c.id == table.c.approval_id)
    if "run_id" in table.c:
        return _address(runs, runs.c.id == table.c.run_id)
    return literal_column("''")


def _address(table: Table, which: ColumnElement[bool]) -> ColumnElement[Any]:
    found: Select[Any] = select(table.c.address).where(which).limit(1)
    return found.scalar_subquery()


def _is_open(table: Table) -> ColumnElement[bool]:
    """A call may still run with what stands in the row, or a grant goes by it."""
    if table is grants:
        return and_(grants.c.revoked_at.is_(None), grants.c.until > bindparam("now"))
    if table is steps:
        return and_(~is_word(steps.c.state, "done"), _has_open_run(table))
    if table is approvals:
        return or_(is_word(approvals.c.state, "pending"), _has_open_run(table))
    return false()


def _has_open_run(table: Table) -> ColumnElement[bool]:
    return exists().where(runs.c.id == table.c.run_id, is_word(runs.c.state, *OPEN_RUN))


def texts(table: str, after: RowKey | None, limit: int, now: datetime) -> Op[list[TextRow]]:
    how, keys = _statements(table), [one.name for one in metadata.tables[table].primary_key]
    given = {"n": limit, "now": micros(now)}
    if after is None:
        rows = yield how.first, given
    else:
        rows = yield how.further, given | {f"k_{name}": one for name, one in zip(keys, after, strict=True)}
    return [_text_row(row, len(keys), how.names) for row in rows]


def _text_row(row: tuple[Any, ...], keys: int, names: Sequence[str]) -> TextRow:
    place, is_open, *values = row[keys:]
    return TextRow(tuple(row[:keys]), _room(place or ""), bool(is_open), dict(zip(names, values, strict=True)))


def _room(place: str) -> Address | None:
    """A row tells its room as an address, or behind the agent of its session, or the kind of its scope."""
    try:
        return Address.parse(place.split("|", 1)[-1])
    except ValueError:
        return None


OUTDATED: Final[Mapping[str, Executable]] = {
    "memories": delete(memory_vectors).where(
        memory_vectors.c.memory_id.in_(select(memories.c.id).where(memories.c.number == bindparam("k_number")))
    ),
    "knowledge_chunks": delete(knowledge_vectors).where(
        knowledge_vectors.c.chunk_id.in_(
            select(knowledge_chunks.c.id).where(knowledge_chunks.c.number == bindparam("k_number"))
        )
    ),
}
"""What was made of a row's text, and isn't true any more once that is another one."""


def put_texts(table: str, changes: Sequence[tuple[TextRow, Mapping[str, str]]]) -> Op[int]:
    how, keys = _statements(table), [one.name for one in metadata.tables[table].primary_key]
    count = 0
    for row, changed in changes:
        given: dict[str, object] = {f"k_{name}": one for name, one in zip(keys, row.key, strict=True)}
        given |= {f"old_{name}": value for name, value in row.texts.items()}
        given |= {f"new_{name}": value for name, value in {**row.texts, **changed}.items()}
        is_put = bool((yield how.put, given))
        if is_put and table in OUTDATED:
            yield OUTDATED[table], given
        count += is_put
    return count


class TextStore(Base):
    """Implements `protocol.Texts`."""

    async def texts(self, table: str, after: RowKey | None = None, *, limit: int) -> list[TextRow]:
        now = self.now()
        return await self._driver.read(lambda: texts(table, after, limit, now))

    async def put_texts(self, table: str, changes: Sequence[tuple[TextRow, Mapping[str, str]]]) -> int:
        return await self._driver.write(lambda: put_texts(table, changes))

    async def clear_traces(self, table: str) -> None:
        await clear_in_steps(self._driver, table)
