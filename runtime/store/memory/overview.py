"""Counts of memories by agent and scope: all that operators see of what is kept for people."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from runtime.contract.memory.facts import Scope
from runtime.store.memory.rows import is_current
from runtime.store.schema import memories
from runtime.store.sql.driver import Op, micros

COUNTS = (
    select(memories.c.agent, memories.c.scope, func.count())
    .where(is_current)
    .group_by(memories.c.agent, memories.c.scope)
    .order_by(memories.c.agent, memories.c.scope)
)


def counts(now: datetime) -> Op[list[tuple[str, Scope, int]]]:
    rows = yield COUNTS, {"now": micros(now)}
    return [(agent, Scope.parse(scope), int(count)) for agent, scope, count in rows]
