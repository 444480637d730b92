"""One move of a delivery, and of a part, as every transaction of the outbox makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Executable, bindparam, select, update

from runtime.contract import DeliveryId
from runtime.domain.deliveries import DELIVERY_MOVES, PART_MOVES, DeliveryEvent, DeliveryState, PartEvent, PartState
from runtime.domain.machines import move
from runtime.store.common import at_once, holding, moved
from runtime.store.protocol import Duty
from runtime.store.schema import deliveries, parts
from runtime.store.sql.driver import Op, Query

DELIVERY = select(
    deliveries.c.state, deliveries.c.kind, deliveries.c.run_id, deliveries.c.address, deliveries.c.rank
).where(deliveries.c.id == bindparam("d"))
LOCK_DELIVERY = select(deliveries.c.state).where(deliveries.c.id == bindparam("d")).with_for_update()
SET_DELIVERY = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("d"))
    .values(state=bindparam("new_state"), reason=bindparam("why"), settled_at=bindparam("at"))
)
PART = select(parts.c.state, parts.c.attempts, parts.c.looks).where(
    parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n")
)
SET_PART = (
    update(parts)
    .where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n"))
    .values(
        state=bindparam("new_state"),
        attempts=bindparam("tries"),
        looks=bindparam("looked"),
        reason=bindparam("why"),
    )
)
# Of the last attempt it is certain now; of one before it that nobody could tell about it still is not.
LAST_ONE_FAILED = (
    update(parts)
    .where(
        parts.c.delivery_id == bindparam("d"),
        parts.c.ordinal == bindparam("n"),
        parts.c.first_at == parts.c.marked_at,
    )
    .values(first_at=None)
)
NONE_LEFT_ANYTHING = (
    update(parts).where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n")).values(first_at=None)
)
REPEAT_MARK = (
    update(parts).where(parts.c.delivery_id == bindparam("d"), parts.c.ordinal == bindparam("n")).values(repeat_mark=1)
)

AFTER: Final[Mapping[PartEvent, Executable]] = {
    PartEvent.RETRY: LAST_ONE_FAILED,
    PartEvent.PLAIN: LAST_ONE_FAILED,
    PartEvent.ABSENT: NONE_LEFT_ANYTHING,
    PartEvent.REPEAT: REPEAT_MARK,
}
"""What a move changes in its part beside the state."""


def ours(duty: Duty, delivery: DeliveryId, *more: Query) -> Op[Sequence[Any] | None]:
    """Answers to `more`, asked with the fence of a courier, which locks the delivery's row.

    None where it lost its duty, or somebody threw the delivery away.
    """
    held, locked, *answers = yield at_once(holding(duty), (LOCK_DELIVERY, {"d": delivery}), *more)
    if not held or not locked or locked[0][0] == DeliveryState.DISCARDED:
        return None
    return answers


def move_delivery(
    delivery: DeliveryId, event: DeliveryEvent, why: str, at: int | None, known: Sequence[Any] = ()
) -> Op[Mapping[str, Any]]:
    """`known` are the rows of `DELIVERY`, where they were read under the fence."""
    rows = known or (yield DELIVERY, {"d": delivery})
    state, kind, run, address, rank = rows[0]
    after = move(DELIVERY_MOVES, DeliveryState(state), event)
    yield SET_DELIVERY, {"d": delivery, "new_state": after.value, "why": why, "at": at}
    return {"kind": kind, "run": run, "address": address, "rank": rank}


def move_part(
    delivery: DeliveryId,
    ordinal: int,
    event: PartEvent,
    why: str = "",
    *,
    tried: int = 0,
    looked: int | None = None,
    known: Sequence[Any] = (),
) -> Op[None]:
    """One move of a part. `tried` attempts are added; `looked` looks are set (None keeps them). `known` are the rows of
    `PART`, where they were read under the fence."""
    rows = known or (yield PART, {"d": delivery, "n": ordinal})
    state, attempts, looks = rows[0]
    after = move(PART_MOVES, PartState(state), event)
    yield (
        SET_PART,
        {
            "d": delivery,
            "n": ordinal,
            "new_state": after.value,
            "tries": attempts + tried,
            "looked": looks if looked is None else looked,
            "why": why,
        },
    )


def changed(
    duty: Duty,
    delivery: DeliveryId,
    ordinal: int,
    event: PartEvent,
    why: str,
    now: datetime,
    *,
    looked: int | None = None,
) -> Op[None]:
    """The move, what it changes in its part, and the word about it for those who trace."""
    yield from move_part(delivery, ordinal, event, why, looked=looked)
    yield from moved(now, delivery, duty.node, event, f"part {ordinal}: {why}".removesuffix(": "))
    if event in AFTER:
        yield AFTER[event], {"d": delivery, "n": ordinal}
