"""Counts of memories by agent and scope: all that operators see of what is kept for people."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import exists, func, or_, select

from runtime.contract.memory.facts import Scope
from runtime.store.memory.rows import is_current
from runtime.store.schema import memories, person_summaries
from runtime.store.sql.driver import Op, micros

COUNTS = (
    select(memories.c.agent, memories.c.scope, func.count())
    .where(is_current)
    .group_by(memories.c.agent, memories.c.scope)
    .order_by(memories.c.agent, memories.c.scope)
)

ANY_KEPT = select(
    or_(exists(select(memories.c.id)), exists(select(person_summaries.c.agent).where(person_summaries.c.enabled == 1)))
)


def is_used() -> Op[bool]:
    """True if anything is kept for anybody."""
    return bool((yield ANY_KEPT, {})[0][0])


def counts(now: datetime) -> Op[list[tuple[str, Scope, int]]]:
    rows = yield COUNTS, {"now": micros(now)}
    return [(agent, Scope.parse(scope), int(count)) for agent, scope, count in rows]
