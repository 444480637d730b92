"""Agenda in one statement: the one thing that a process at rest asks, whatever the tables hold.

Each part of it is the first row of a partial index.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from runtime.contract import NodeId
from runtime.store.agents.held_back import at_work
from runtime.store.common import at_once
from runtime.store.protocol.cluster import Agenda
from runtime.store.schema import audit, deliveries, nodes, occurrences, pings, roles, schedules, sessions
from runtime.store.sql.driver import Op, is_like, is_word, maybe_moment


def _first(column: ColumnElement[Any], *where: ColumnElement[bool]) -> Select[Any]:
    return select(func.min(column)).where(*where)


READY = _first(sessions.c.ready_at, is_word(sessions.c.state, "ready"), at_work())
SUSPECT = _first(sessions.c.ready_at, is_word(sessions.c.state, "suspect"))
LEAVING = _first(deliveries.c.channel, is_word(deliveries.c.state, "queued", "open"))
UNSEALED = _first(audit.c.entry, audit.c.number.is_(None))
DUE = _first(schedules.c.due_at, is_word(schedules.c.state, "active"))
OCCURRENCE_TO_REPEAT = _first(occurrences.c.not_before, is_word(occurrences.c.state, "planned"))
LEASE = _first(nodes.c.expires_at, is_word(nodes.c.state, "live"), nodes.c.id != bindparam("but"))
# Those of accounts, in which others wait; such as the timer's is taken when there is something to fire.
FREE = _first(roles.c.name, roles.c.node.is_(None), is_like(roles.c.name, "%:%"))
PING_ASKED = _first(pings.c.asked_at, pings.c.asked_at.is_not(None), pings.c.node != bindparam("but"))
AGENDA = select(
    *(
        part.scalar_subquery()
        for part in (READY, SUSPECT, LEAVING, UNSEALED, DUE, OCCURRENCE_TO_REPEAT, LEASE, FREE, PING_ASKED)
    )
)


def agenda(but: NodeId) -> Op[Agenda]:
    (rows,) = yield at_once((AGENDA, {"but": but}), last=True)
    ready, suspect, leaving, unsealed, due, again, lease, free, asked = rows[0]
    return Agenda(
        lanes=ready is not None,
        suspects=suspect is not None,
        deliveries=leaving is not None,
        facts=unsealed is not None,
        roles=free is not None,
        asked=asked is not None,
        fires_at=maybe_moment(min((at for at in (due, again) if at is not None), default=None)),
        lease_ends_at=maybe_moment(lease),
    )
