"""Bounds of conversations that `signalbox ask` began: kept before the first word, and never changed."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select

from runtime.contract import Address
from runtime.contract.memory.facts import Scope, ScopeKind
from runtime.domain.agents.bounds import Bounds, bounds_in
from runtime.store.common import add
from runtime.store.schema import state_values
from runtime.store.sql.driver import Op, micros

BOUNDS_REACH: Final = "bounds of asks"
"""No tool reads or writes values there: reaches of memory are digests."""
KEEP_BOUNDS = add(state_values).on_conflict_do_nothing().returning(state_values.c.key)
KEPT_BOUNDS = select(state_values.c.value).where(
    state_values.c.reach == BOUNDS_REACH, state_values.c.key == bindparam("room")
)


def keep_bounds(address: Address, bounds: Bounds, now: datetime) -> Op[bool]:
    """False where the room has other bounds already."""
    row = {
        "reach": BOUNDS_REACH,
        "key": str(address),
        "agent": "",
        "scope": str(Scope(ScopeKind.ROOM, str(address))),
        "value": bounds.as_text(),
        "version": 1,
        "changed_at": micros(now),
    }
    if (yield KEEP_BOUNDS, row):
        return True
    return (yield from bounds_of(address)) == bounds


def bounds_of(address: Address) -> Op[Bounds | None]:
    rows = yield KEPT_BOUNDS, {"room": str(address)}
    return bounds_in(rows[0][0]) if rows else None
