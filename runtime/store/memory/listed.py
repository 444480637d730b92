"""Lists of memories: for a reader, and for operators."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, Select, bindparam

from runtime.contract.memory.facts import Memory, Reader, Scope, Trust
from runtime.domain.memory.scopes import reaches_of
from runtime.store.memory.rows import MEMORIES, Row, in_reaches, is_current, reaching
from runtime.store.schema import memories
from runtime.store.sql.driver import Op, micros

ABOVE_EVERY_ID: Final = "~"
"""Above every id."""


def _newest(rows: Select[Any], by: ColumnElement[Any]) -> Select[Any]:
    return rows.order_by(by.desc()).limit(bindparam("n", type_=Integer))


READABLE_MEMORIES: Final = {
    (trust, past): _newest(
        MEMORIES.where(
            in_reaches,
            *[memories.c.trust == bindparam("trust")] * trust,
            *[is_current] * (not past),
        ),
        memories.c.number,
    )
    for trust, past in product((False, True), repeat=2)
}
LISTED_MEMORIES: Final = {
    (agent, scope, past): _newest(
        MEMORIES.where(
            memories.c.id < bindparam("before"),
            *[memories.c.agent == bindparam("agent")] * agent,
            *[memories.c.scope == bindparam("scope")] * scope,
            *[is_current] * (not past),
        ),
        memories.c.id,
    )
    for agent, scope, past in product((False, True), repeat=3)
}


def readable(reader: Reader, trust: Trust | None, past: bool, limit: int, now: datetime) -> Op[list[Memory]]:
    given: dict[str, object] = {**reaching(reaches_of(reader)), "n": limit}
    if trust is not None:
        given["trust"] = trust.value
    rows = yield READABLE_MEMORIES[trust is not None, past], given if past else given | {"now": micros(now)}
    return [Row(*row).memory for row in rows]


def listed(
    agent: str | None,
    scope: Scope | None,
    past: bool,
    before: str,
    limit: int,
    now: datetime,
) -> Op[list[Memory]]:
    given: dict[str, object] = {"before": before or ABOVE_EVERY_ID, "n": limit}
    if agent is not None:
        given["agent"] = agent
    if scope is not None:
        given["scope"] = str(scope)
    rows = yield (
        LISTED_MEMORIES[agent is not None, scope is not None, past],
        given if past else given | {"now": micros(now)},
    )
    return [Row(*row).memory for row in rows]
