"""Pages of every table along its primary key, with what tells whose a row is; and the change of rows, each as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Executable,
    Integer,
    Table,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from runtime.store.operations.text_columns import TEXT_COLUMNS
from runtime.store.operations.text_kinds import Forgets
from runtime.store.protocol.memory.forgetting import ForgetPage, ForgetRow, RowChange
from runtime.store.protocol.operations import RowKey
from runtime.store.schema import approvals, deliveries, memories, metadata, parts, runs, schedules
from runtime.store.sql.driver import Op

UNREAD_KINDS: Final = (Forgets.NONE, Forgets.STAYS, Forgets.RESEALED, Forgets.GONE)
"""Kinds of columns that no walk reads."""
LAST_TABLES: Final = ("approvals", "deliveries", "runs", "sessions")
"""Tables by which other rows are known to be somebody's: they come behind those."""
NOT_WALKED: Final = ("audit", "audit_signatures", "forgettings", "signals", "people", "identities")
"""Tables with a way of their own. The name of another person is theirs, whatever it has in it."""
ADDED_VALUES: Final = 4
"""Values beside key and text: requester and room of the run behind a row, the row's own room, and if it is at work."""


def walked_tables() -> tuple[str, ...]:
    """Tables in the order in which a walk goes through them."""
    every = [name for name in TEXT_COLUMNS if name not in NOT_WALKED and _columns(name)]
    return (*(name for name in every if name not in LAST_TABLES), *LAST_TABLES)


@cache
def _columns(name: str) -> tuple[str, ...]:
    return tuple(column for column, one in TEXT_COLUMNS[name].items() if one.forgets not in UNREAD_KINDS)


@dataclass(frozen=True, slots=True)
class Statements:
    """The walk through one table."""

    names: Sequence[str]
    keys: Sequence[str]
    first: Executable
    further: Executable
    drop: Executable


@cache
def _statements(name: str) -> Statements:
    table = metadata.tables[name]
    key, names = [*table.primary_key], _columns(name)
    rows = (
        select(*key, *whose(table), *(table.c[one] for one in names))
        .order_by(*key)
        .limit(bindparam("n", type_=Integer))
    )
    after = tuple_(*(bindparam(f"k_{one.name}", type_=one.type) for one in key))
    here = [one == bindparam(f"k_{one.name}") for one in key]
    keys = [one.name for one in key]
    return Statements(names, keys, rows, rows.where(tuple_(*key) > after), delete(table).where(*here))


def whose(table: Table) -> Sequence[ColumnElement[Any]]:
    return _requester(table), _room(table), _own_room(table), _is_at_work(table)


def _requester(table: Table) -> ColumnElement[Any]:
    """Person who asked for the run behind a row."""
    found = [_of_run(runs.c.requester, one) for one in _runs_behind(table)]
    if "schedule" in table.c:
        found.append(select(schedules.c.owner).where(schedules.c.id == table.c.schedule).limit(1).scalar_subquery())
    if "approval_id" in table.c:
        asked = select(approvals.c.requester).where(approvals.c.id == table.c.approval_id)
        found.append(asked.limit(1).scalar_subquery())
    return func.coalesce(*found, literal_column("''")) if found else literal_column("''")


def _room(table: Table) -> ColumnElement[Any]:
    found = [_of_run(runs.c.address, one) for one in _runs_behind(table)]
    if table is parts:
        found.append(
            select(deliveries.c.address).where(deliveries.c.id == parts.c.delivery_id).limit(1).scalar_subquery()
        )
    return func.coalesce(*found, literal_column("''")) if found else literal_column("''")


def _of_run(column: Column[Any], run: ColumnElement[Any]) -> ColumnElement[Any]:
    return select(column).where(runs.c.id == run).limit(1).scalar_subquery()


def _runs_behind(table: Table) -> Sequence[ColumnElement[Any]]:
    """Runs that a row belongs to: its own, that of its delivery or of the one that it edits, the one it was handed on by."""
    if table is parts:
        return [*_of_delivery(parts.c.delivery_id)]
    found: list[ColumnElement[Any]] = [table.c.run_id] if "run_id" in table.c and table is not runs else []
    if table is deliveries:
        found += _of_delivery(deliveries.c.edits)
    found += [table.c[one] for one in ("root_run", "source_run") if one in table.c]
    return found


def _of_delivery(delivery: Column[Any]) -> Sequence[ColumnElement[Any]]:
    """Correlated by hand: SQLAlchemy looks one statement up, and would else read the whole table in here, for any row of it."""
    shown, edited = deliveries.alias(), deliveries.alias()
    own = select(shown.c.run_id).where(shown.c.id == delivery).limit(1).correlate(delivery.table).scalar_subquery()
    edits = select(shown.c.edits).where(shown.c.id == delivery).limit(1).correlate(delivery.table).scalar_subquery()
    before = select(edited.c.run_id).where(edited.c.id == edits).limit(1).scalar_subquery()
    return own, before


def _own_room(table: Table) -> ColumnElement[Any]:
    """An address in three columns."""
    if {"channel", "account", "room"} <= set(table.c.keys()):
        return table.c.channel + literal_column("':'") + table.c.account + literal_column("'/'") + table.c.room
    return literal_column("''")


def _is_at_work(table: Table) -> ColumnElement[Any]:
    if table.name in ("processes", "runs", "sessions"):
        return table.c.state.in_([literal_column(f"'{one}'") for one in ("running", "stopping", "parked", "ready")])
    return literal_column("0")


def page(table: str, after: RowKey | None, limit: int) -> Op[ForgetPage]:
    how = _statements(table)
    given: dict[str, object] = {"n": limit}
    if after is None:
        rows = yield how.first, given
    else:
        rows = yield how.further, given | {f"k_{name}": one for name, one in zip(how.keys, after, strict=True)}
    found = [_row(row, len(how.keys), how.names) for row in rows]
    return ForgetPage(found, found[-1].key if found else None)


def _row(row: tuple[Any, ...], keys: int, names: Sequence[str]) -> ForgetRow:
    requester, room, own_room, is_at_work = row[keys : keys + ADDED_VALUES]
    values = dict(zip(names, row[keys + ADDED_VALUES :], strict=True))
    return ForgetRow(tuple(row[:keys]), requester or "", (room or "", own_room or ""), bool(is_at_work), values)


# --------------------------------------------------------------------------------------------------------- the change


@cache
def _put(name: str, changed: tuple[str, ...]) -> Executable:
    table = metadata.tables[name]
    here = [one == bindparam(f"k_{one.name}") for one in table.primary_key]
    same = [table.c[one].is_not_distinct_from(bindparam(f"old_{one}", type_=table.c[one].type)) for one in changed]
    new = {one: bindparam(f"new_{one}", type_=table.c[one].type) for one in changed}
    return update(table).where(*here, *same).values(new).returning(literal_column("1"))


def apply(table: str, changes: Sequence[RowChange]) -> Op[int]:
    """Change rows that are still as they were read, and remove those that go; how many."""
    how, done = _statements(table), 0
    for one in changes:
        key = {f"k_{name}": value for name, value in zip(how.keys, one.row.key, strict=True)}
        if one.new is None:
            yield how.drop, key
            done += 1
            continue
        names = tuple(sorted(one.new))
        given = key | {f"old_{name}": one.row.texts[name] for name in names}
        given |= {f"new_{name}": one.new[name] for name in names}
        done += len((yield _put(table, names), given))
    return done


def memory_ids(numbers: Sequence[RowKey]) -> Op[list[str]]:
    found = []
    for (number,) in numbers:
        found += [row[0] for row in (yield MEMORY_ID, {"number": number})]
    return found


MEMORY_ID: Final = select(memories.c.id).where(memories.c.number == bindparam("number"))
PARKED_OF: Final = (
    select(runs.c.id, runs.c.state, runs.c.session, runs.c.address)
    .where(
        or_(runs.c.requester == bindparam("who"), runs.c.requester == bindparam("mark")),
        runs.c.state.in_([literal_column("'parked'"), literal_column("'ready'")]),
    )
    .order_by(runs.c.session)
    .limit(bindparam("n", type_=Integer))
)
THEIRS_AT_WORK: Final = select(
    exists().where(
        or_(runs.c.requester == bindparam("who"), runs.c.requester == bindparam("mark")),
        runs.c.state == literal_column("'running'"),
    )
)
AT_WORK_SINCE: Final = select(
    exists().where(runs.c.state == literal_column("'running'"), runs.c.ready_at < bindparam("since"))
)
