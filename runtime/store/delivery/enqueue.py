"""A new delivery goes into the outbox; where its courier handed the parts along, showing it begins in the same commit.

That saves a commit and a read a message: otherwise the courier reads the delivery, renders it, and commits its parts
with the marker. Order stands: it is done only while nothing else is open at the address, and under the courier's fence. Where
our store is the screen the fence of the run is enough, so every node shows there what it answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from runtime.contract import DeliveryId, Kind, NodeId, RunId, Wire
from runtime.domain.deliveries import DELIVERY_MOVES, PART_MOVES, DeliveryEvent, DeliveryState, PartEvent, PartState
from runtime.domain.machines import move
from runtime.store.common import ADD_DELIVERY, add, delivery_row, fact, holding
from runtime.store.delivery.replacing import replaced
from runtime.store.protocol import Duty, NewDelivery, Rendered
from runtime.store.schema import deliveries, parts, signals
from runtime.store.sql.driver import UNREAD_ROWS, Op, Query, is_word, micros

ADD_PART = add(parts)
NO_MORE: Final = "[]"
OPEN_HERE = (
    select(deliveries.c.number)
    .where(deliveries.c.address == bindparam("room"), is_word(deliveries.c.state, "queued", "open"))
    .limit(1)
)
# Locked before they are answered: a twin that joins one of them beside us is seen by the update after this.
ANSWERED = (
    select(signals.c.id)
    .where(signals.c.run_id == bindparam("run"), signals.c.answered_at.is_(None))
    .order_by(signals.c.id)
    .with_for_update()
    .execution_options(**UNREAD_ROWS)
)
ANSWER = (
    update(signals)
    .where(signals.c.run_id == bindparam("run"), signals.c.answered_at.is_(None))
    .values(answered_at=bindparam("at"))
)

RENDERED = move(DELIVERY_MOVES, DeliveryState.QUEUED, DeliveryEvent.RENDER)
MARK_SHOWN = move(DELIVERY_MOVES, RENDERED, DeliveryEvent.SHOW)
MARKED_PART = move(PART_MOVES, PartState.PENDING, PartEvent.MARK)
SHOWN_PART = move(PART_MOVES, PartState.PENDING, PartEvent.CHECKPOINT)


def put(new: NewDelivery, answers: Sequence[Any], now: datetime, run: RunId, node: NodeId) -> Op[bool]:
    """Add a delivery of a run at work on `node`; `answers` are those to `asks_free`. Whether it is begun: shown, or its first
    part marked for its courier to send."""
    handed, begun = new.rendered, bool(answers) and all(answers[:-1]) and not answers[-1]
    if new.replaces:
        under = yield from replaced(new.replaces, now)
        begun, new = begun and under == new.edits, replace(new, edits=under)
    if handed is None or not begun:
        yield ADD_DELIVERY, delivery_row(new, now, run)
        return False
    if handed.duty is None:
        yield from _put_shown(new, handed, now, run, node)
    else:
        yield from put_marked(new, handed, handed.duty, now, run)
    return True


def asks_free(new: NewDelivery) -> Sequence[Query]:
    """The queries whether the courier that rendered it to send it still has its duty, and then what waits for the room; none for
    what nobody rendered."""
    if new.rendered is None:
        return ()
    open_here = OPEN_HERE, {"room": str(new.address)}
    return (open_here,) if new.rendered.duty is None else (holding(new.rendered.duty), open_here)


def _put_shown(new: NewDelivery, handed: Rendered, now: datetime, run: RunId, node: NodeId) -> Op[None]:
    at = micros(now)
    yield ADD_DELIVERY, {**delivery_row(new, now, run), "state": MARK_SHOWN.value, "settled_at": at}
    for ordinal, (wire, receipt) in enumerate(zip(handed.wires, handed.receipts, strict=True), 1):
        row = part_row(new.id, ordinal, wire.body, wire.fallback, wire.more)
        done = {"state": SHOWN_PART.value, "receipt": receipt.message_id, "shown_at": at, "node": node}
        yield ADD_PART, row | done
    yield from on_screen(new.id, new.kind, run, str(new.address), now)


def put_marked(new: NewDelivery, handed: Rendered, duty: Duty, now: datetime, run: RunId) -> Op[None]:
    """Its parts, the first one marked: the courier sends that next."""
    yield ADD_DELIVERY, {**delivery_row(new, now, run), "state": RENDERED.value}
    yield from add_parts(new.id, handed.wires, duty, handed.floor, micros(now))


def add_parts(
    delivery: DeliveryId, wires: Sequence[Wire], duty: Duty, floor: str, marked_at: int | None = None
) -> Op[None]:
    """Its parts; the first one marked where its courier sends that next."""
    for ordinal, wire in enumerate(wires, 1):
        row = part_row(delivery, ordinal, wire.body, wire.fallback, wire.more)
        if ordinal == 1 and marked_at is not None:
            row |= {"state": MARKED_PART.value, "attempts": 1, "marked_at": marked_at, "first_at": marked_at}
            row |= {"node": duty.node, "floor": floor}
        yield ADD_PART, row


def part_row(
    delivery: DeliveryId, ordinal: int, body: str, fallback: str | None, more: Sequence[str] = ()
) -> dict[str, object]:
    return {
        "delivery_id": delivery,
        "ordinal": ordinal,
        "state": PartState.PENDING.value,
        "body": body,
        "fallback": fallback,
        "attempts": 0,
        "marked_at": None,
        "looks": 0,
        "repeat_mark": 0,
        "receipt": None,
        "shown_at": None,
        "reason": "",
        "node": None,
        "floor": "",
        "first_at": None,
        "more": json.dumps(more, ensure_ascii=False) if more else NO_MORE,
    }


def on_screen(delivery: DeliveryId, kind: Kind, run: str | None, address: str, now: datetime) -> Op[None]:
    """Every part is on screen. A final delivery, or the first report, answers the signals of its run."""
    if kind in (Kind.FINAL, Kind.REPORT) and run:
        yield ANSWERED, {"run": run}
        yield ANSWER, {"run": run, "at": micros(now)}
    yield from fact(now, "shown", "", delivery, address)
