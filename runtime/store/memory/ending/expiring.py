"""Memories whose time is over: they are read by nobody from that moment on, and go with the next round of retention."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, delete, select

from runtime.store.common import held
from runtime.store.memory.rows import DROP_USES, DROP_VECTORS
from runtime.store.protocol import Duty
from runtime.store.schema import memories
from runtime.store.sql.driver import Op, micros

ENDED_VALUES_MAX: Final = 20
"""Earlier values of one thing that are kept: what changes each minute would fill the table."""

EXPIRED = (
    select(memories.c.id)
    .where(memories.c.expires_at.is_not(None), memories.c.expires_at <= bindparam("now"))
    .order_by(memories.c.expires_at)
    .limit(bindparam("n", type_=Integer))
)
DROP_EXPIRED = delete(memories).where(memories.c.id == bindparam("memory"))
ENDED_VALUES = (
    select(memories.c.id)
    .where(
        memories.c.reach == bindparam("reach"),
        memories.c.subject_key == bindparam("subject"),
        memories.c.relation_key == bindparam("relation"),
        memories.c.valid_to.is_not(None),
    )
    .order_by(memories.c.number.desc())
    .limit(ENDED_VALUES_MAX)
    .offset(ENDED_VALUES_MAX)
)


def drop_expired(duty: Duty, now: datetime, limit: int) -> Op[int | None]:
    """Remove rows whose time is over, at most `limit`; how many that were, None when the duty was lost.

    A backup that still has one has its time too, so nothing more is kept of it.
    """
    if not (yield from held(duty)):
        return None
    expired = yield EXPIRED, {"now": micros(now), "n": limit}
    yield from _drop(memory for (memory,) in expired)
    return len(expired)


def drop_earliest(topic: dict[str, str]) -> Op[None]:
    """Remove the earliest of the values that a thing had."""
    rows = yield ENDED_VALUES, topic
    yield from _drop(memory for (memory,) in rows)


def _drop(ids: Iterable[str]) -> Op[None]:
    for memory in ids:
        for statement in (DROP_VECTORS, DROP_USES, DROP_EXPIRED):
            yield statement, {"memory": memory}
