"""Cursors of event sinks: written by the node that serves them, and by no other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, exists, func, select, update

from runtime.domain.events.sinks import SINK_ROLE_PREFIX, Cursor
from runtime.store.common import add, held
from runtime.store.protocol import Duty
from runtime.store.schema import audit, event_cursors, roles
from runtime.store.sql.driver import Op, maybe_moment, micros, moment

CURSOR = (
    event_cursors.c.sink,
    event_cursors.c.number,
    event_cursors.c.at,
    event_cursors.c.failing_since,
    event_cursors.c.fault,
    event_cursors.c.told,
)
CURSORS = select(*CURSOR).order_by(event_cursors.c.sink)
CURSOR_OF = select(*CURSOR).where(event_cursors.c.sink == bindparam("name"))
NEWEST_NUMBER = select(func.max(audit.c.number))
BEGIN_CURSOR = add(event_cursors).on_conflict_do_nothing()
_of_sink = update(event_cursors).where(event_cursors.c.sink == bindparam("name"))
REACHED = _of_sink.where(event_cursors.c.number <= bindparam("reached")).values(
    number=bindparam("reached"), at=bindparam("now"), failing_since=None, fault="", told=0
)
FAILED = _of_sink.values(
    failing_since=func.coalesce(event_cursors.c.failing_since, bindparam("now")), fault=bindparam("why")
)
TOLD = _of_sink.where(event_cursors.c.told == 0).values(told=1).returning(event_cursors.c.sink)
FREE_ROLE = (
    update(roles)
    .where(roles.c.name == bindparam("r"), roles.c.node == bindparam("n"))
    .values(node=None, fence=roles.c.fence + 1)
)
UNSERVED = select(event_cursors.c.sink).where(
    event_cursors.c.at < bindparam("before"),
    ~exists().where(roles.c.name == SINK_ROLE_PREFIX + event_cursors.c.sink, roles.c.node.is_not(None)),
)
DROP_CURSOR = delete(event_cursors).where(event_cursors.c.sink == bindparam("name"))


def cursor_of(row: Sequence[Any]) -> Cursor:
    sink, number, at, since, fault, told = row
    return Cursor(sink, number, moment(at), maybe_moment(since), fault, bool(told))


def cursors() -> Op[list[Cursor]]:
    return [cursor_of(row) for row in (yield CURSORS, {})]


def begin_cursor(duty: Duty, sink: str, now: datetime) -> Op[Cursor | None]:
    """The cursor of `sink`: one that is new begins behind the newest event. None when the duty was lost."""
    if not (yield from held(duty)):
        return None
    newest = (yield NEWEST_NUMBER, {})[0][0] or 0
    row = {"sink": sink, "number": newest, "at": micros(now), "failing_since": None, "fault": "", "told": 0}
    yield BEGIN_CURSOR, row
    return cursor_of((yield CURSOR_OF, {"name": sink})[0])


def reach(duty: Duty, sink: str, number: int, now: datetime) -> Op[bool]:
    """Every event up to `number` was taken. It never goes back. False when the duty was lost."""
    if not (yield from held(duty)):
        return False
    yield REACHED, {"name": sink, "reached": number, "now": micros(now)}
    return True


def fail(duty: Duty, sink: str, why: str, now: datetime) -> Op[Cursor | None]:
    """It took none: the cursor stays. None when the duty was lost."""
    if not (yield from held(duty)):
        return None
    yield FAILED, {"name": sink, "why": why, "now": micros(now)}
    rows = yield CURSOR_OF, {"name": sink}
    return cursor_of(rows[0]) if rows else None


def tell(duty: Duty, sink: str) -> Op[bool]:
    """Note that operators are told of the failure; false where they were, or the duty was lost."""
    if not (yield from held(duty)):
        return False
    return bool((yield TOLD, {"name": sink}))


def leave(duty: Duty) -> Op[bool]:
    """Give a duty up before its node ends. False when it was lost."""
    if not (yield from held(duty)):
        return False
    yield FREE_ROLE, {"r": duty.role, "n": duty.node}
    return True


def drop_unserved(duty: Duty, known: Collection[str], before: datetime) -> Op[list[str]]:
    """Forget cursors that no node serves any more: the settings of another one may have sinks that ours don't."""
    if not (yield from held(duty)):
        return []
    found = [row[0] for row in (yield UNSERVED, {"before": micros(before)})]
    gone = [name for name in found if name not in known]
    for name in gone:
        yield DROP_CURSOR, {"name": name}
    return gone
