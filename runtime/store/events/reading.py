"""Events: sealed rows of the audit in order, each with the conversation that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, func, literal_column, select

from runtime.domain.events.event import Event, EventPage, Only, Place, event_of, ids_of
from runtime.store.operations.audit import AFTER, LAST_SEALED, row_of
from runtime.store.protocol import AuditRow
from runtime.store.schema import approvals, audit, deliveries, occurrences, runs, schedules, signals
from runtime.store.sql.driver import Op

SLICE_ROWS: Final = 100
"""Rows that are looked at together; also the number of ids in one statement."""
LOOKED_AT_ROWS: Final = 2_000
"""Rows that one reading looks at: a filter may take none of them."""


def _among(column: ColumnElement[str], *read: ColumnElement[Any]) -> Select[Any]:
    """Rows whose `column` is one of a slice of ids."""
    return select(column, *read).where(column.in_([bindparam(f"i{n}") for n in range(SLICE_ROWS)]))


PLACES_OF: Final = (
    _among(signals.c.id, signals.c.address, signals.c.session, signals.c.run_id),
    _among(runs.c.id, runs.c.address, runs.c.session, runs.c.id.label("own")),
    _among(approvals.c.id, approvals.c.address, approvals.c.session, approvals.c.run_id),
)
OF_DELIVERIES: Final = (
    select(deliveries.c.id, deliveries.c.address, runs.c.session, deliveries.c.run_id)
    .outerjoin(runs, runs.c.id == deliveries.c.run_id)
    .where(deliveries.c.id.in_([bindparam(f"i{n}") for n in range(SLICE_ROWS)]))
)
_NOTHING: Final[ColumnElement[str]] = literal_column("''")
OF_SCHEDULES: Final = _among(schedules.c.id, schedules.c.home, _NOTHING.label("s"), _NOTHING.label("r"))
"""The room where a schedule was planned: its work may be shown in several."""
OF_OCCURRENCES: Final = (
    select(
        occurrences.c.id,
        func.coalesce(func.nullif(occurrences.c.home, ""), schedules.c.home),
        runs.c.session,
        occurrences.c.run_id,
    )
    .outerjoin(schedules, schedules.c.id == occurrences.c.schedule)
    .outerjoin(runs, runs.c.id == occurrences.c.run_id)
    .where(occurrences.c.id.in_([bindparam(f"i{n}") for n in range(SLICE_ROWS)]))
)
OLDEST = select(func.min(audit.c.number))


def page(after: int, limit: int, only: Only) -> Op[EventPage]:
    """Events behind `after`, at most `limit`; of at most LOOKED_AT_ROWS rows, so that no reading takes long."""
    oldest = (yield OLDEST, {})[0][0] or 0
    last = yield LAST_SEALED, {}
    found: list[Event] = []
    reached, looked = max(after, oldest - 1, 0), 0
    while len(found) < limit and looked < LOOKED_AT_ROWS:
        rows = [row_of(row) for row in (yield AFTER, {"after": reached, "n": SLICE_ROWS})]
        places = yield from _places(rows)
        for row in rows:
            if len(found) == limit:
                break
            reached = row.number or reached
            if (event := event_of(row, places)) and only.takes(event):
                found.append(event)
        looked += len(rows)
        if len(rows) < SLICE_ROWS:
            break
    return EventPage(tuple(found), reached, oldest, last[0][0] if last else 0)


def _places(rows: Sequence[AuditRow]) -> Op[Mapping[str, Place]]:
    ids = list(dict.fromkeys(one for row in rows for one in ids_of(row)))[:SLICE_ROWS]
    if not ids:
        return {}
    given = {f"i{n}": ids[n] if n < len(ids) else "" for n in range(SLICE_ROWS)}
    found: dict[str, Place] = {}
    for statement in (*PLACES_OF, OF_DELIVERIES, OF_SCHEDULES, OF_OCCURRENCES):
        found |= _placed((yield statement, given))
    return found


def _placed(rows: Iterable[Sequence[Any]]) -> dict[str, Place]:
    return {str(one): Place(address or "", session or "", run or "") for one, address, session, run in rows}
