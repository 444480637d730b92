"""State of a delivery, found by what it came from."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select

from runtime.contract.deliveries import PostStanding
from runtime.store.schema import deliveries
from runtime.store.sql.driver import Op

OF_ORIGIN: Final = select(deliveries.c.state, deliveries.c.reason).where(
    deliveries.c.origin == bindparam("origin"), deliveries.c.ordinal == bindparam("ordinal")
)


def standing(origin: str) -> Op[PostStanding | None]:
    rows = yield OF_ORIGIN, {"origin": origin, "ordinal": 0}
    return PostStanding(*rows[0]) if rows else None
