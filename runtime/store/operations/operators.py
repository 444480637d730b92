"""Reads and repairs of operators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, and_, bindparam, func, literal_column, select, update

from runtime.contract import Address, Content, DeliveryId, Kind, RunId, SessionKey, Trigger
from runtime.domain.deliveries import DELIVERY_MOVES, DeliveryEvent, DeliveryState
from runtime.domain.machines import sources
from runtime.domain.runs import RunState, StepState
from runtime.store.approvals.granted.rows import allowed
from runtime.store.approvals.rulings import approval_of
from runtime.store.common import fact, moved, narrowed
from runtime.store.delegation.costs import cost_of
from runtime.store.delivery.moves import LOCK_DELIVERY
from runtime.store.delivery.open_deliveries import PARTS_OF, part_of
from runtime.store.protocol import DeliveryRow, Posted, RoomWork, RunRow, StepRow
from runtime.store.runs.suspects import AT_WORK
from runtime.store.schema import approvals, deliveries, parts, people, runs, sessions, signals, steps, usage
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment

RUN_COLUMNS = (
    runs.c.id,
    runs.c.session,
    runs.c.address,
    runs.c.state,
    people.c.name,
    runs.c.started_at,
    runs.c.ended_at,
    runs.c.iterations,
    runs.c.error,
    runs.c.trigger,
    sessions.c.agent,
)
ALL_RUNS = (
    select(*RUN_COLUMNS)
    .outerjoin(people, people.c.id == runs.c.requester)
    .outerjoin(sessions, sessions.c.key == runs.c.session)
    .order_by(runs.c.started_at.desc())
)
RUNS = narrowed(ALL_RUNS.limit(bindparam("n", type_=Integer)), state=runs.c.state, address=runs.c.address)
RUN = ALL_RUNS.where(runs.c.id == bindparam("run"))
WORDS_OF_RUN = (
    select(signals.c.text)
    .where(signals.c.run_id == bindparam("run"), is_word(signals.c.state, "consumed"))
    .order_by(signals.c.seq)
)
STEPS_OF_RUN = (
    select(
        steps.c.number,
        steps.c.kind,
        steps.c.tool,
        steps.c.arguments,
        steps.c.state,
        steps.c.result,
        steps.c.started_at,
        steps.c.ended_at,
        steps.c.called_at,
        func.coalesce(usage.c.input_tokens, 0),
        func.coalesce(usage.c.output_tokens, 0),
        func.coalesce(usage.c.cost_micros, 0),
    )
    .outerjoin(usage, and_(usage.c.run_id == steps.c.run_id, usage.c.step == steps.c.number))
    .where(steps.c.run_id == bindparam("run"))
    .order_by(steps.c.number)
)
NEWEST_OF = (
    select(deliveries.c.origin, deliveries.c.ordinal)
    .where(deliveries.c.origin >= bindparam("low"), deliveries.c.origin < bindparam("high"))
    .order_by(deliveries.c.origin.desc(), deliveries.c.ordinal.desc())
    .limit(1)
)
DELIVERY_COLUMNS = (
    deliveries.c.id,
    deliveries.c.kind,
    deliveries.c.address,
    deliveries.c.origin,
    deliveries.c.state,
    select(func.coalesce(func.sum(parts.c.attempts), 0))
    .where(parts.c.delivery_id == deliveries.c.id)
    .scalar_subquery(),
    deliveries.c.created_at,
    deliveries.c.settled_at,
    deliveries.c.not_before,
    deliveries.c.reason,
    deliveries.c.content,
)
ALL_DELIVERIES = select(*DELIVERY_COLUMNS).order_by(deliveries.c.number.desc())
DELIVERIES = narrowed(
    ALL_DELIVERIES.limit(bindparam("n", type_=Integer)), state=deliveries.c.state, address=deliveries.c.address
)
DELIVERY = select(*DELIVERY_COLUMNS).where(deliveries.c.id == bindparam("d"))
POSTED = (
    select(
        deliveries.c.id, deliveries.c.kind, deliveries.c.address, deliveries.c.state, parts.c.ordinal, parts.c.receipt
    )
    .outerjoin(parts, and_(parts.c.delivery_id == deliveries.c.id, parts.c.receipt.is_not(None)))
    .where(deliveries.c.origin == bindparam("of"), is_word(deliveries.c.kind, "final", "report"))
    .order_by(deliveries.c.ordinal, parts.c.ordinal)
)
REQUEUE = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("d"), is_word(deliveries.c.state, "held", "dead"))
    .values(state="open", not_before=bindparam("at"), reason="", settled_at=None)
    .returning(deliveries.c.id)
)
REVIVE = (
    update(parts)
    .where(parts.c.delivery_id == bindparam("d"), is_word(parts.c.state, "held", "dead"))
    .values(state="pending", reason="", looks=0)
)
SENDING = (
    select(func.count())
    .select_from(parts)
    .where(parts.c.delivery_id == bindparam("d"), is_word(parts.c.state, "marked"))
)
DISCARD = (
    update(deliveries)
    .where(
        deliveries.c.id == bindparam("d"),
        is_word(deliveries.c.state, *sorted(sources(DELIVERY_MOVES, DeliveryEvent.DISCARD))),
    )
    .values(state="discarded", settled_at=bindparam("at"))
    .returning(deliveries.c.id)
)
# The newest message that a run took up tells which run is the room's newest, by an index that rooms have anyway.
NEWEST_RUN_IN = (
    select(runs.c.state, runs.c.id)
    .join(signals, signals.c.run_id == runs.c.id)
    .where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),
    )
    .order_by(signals.c.accepted_at.desc())
    .limit(1)
)
ASKED_IN = (
    select(*approvals.columns)
    .where(is_word(approvals.c.state, "pending"), approvals.c.address == bindparam("room"))
    .order_by(approvals.c.asked_at.desc(), approvals.c.step)
)
# Each line by a partial index of its own, whatever there is of history.
COUNTED = (
    ("signals", signals.c.state, ("waiting",)),
    ("runs", runs.c.state, ("running", "parked", "ready")),
    ("approvals", approvals.c.state, ("pending",)),
    ("deliveries", deliveries.c.state, ("queued", "open")),
    ("deliveries", deliveries.c.state, ("held", "dead")),
)
COUNT = [
    (name, select(column, func.count()).where(is_word(column, *states)).group_by(column))
    for name, column, states in COUNTED
]

SUSPECTS = select(func.count()).select_from(runs).where(*AT_WORK)


def _run_row(row: tuple[Any, ...]) -> Op[RunRow]:
    run, session, address, state, name, started, ended, iterations, error, trigger, agent = row
    words = yield WORDS_OF_RUN, {"run": run}
    return RunRow(
        RunId(run),
        SessionKey(session),
        Address.parse(address),
        RunState(state),
        name or "",
        moment(started),
        maybe_moment(ended),
        iterations,
        error,
        tuple(w[0] for w in words),
        (yield from cost_of(RunId(run))),
        Trigger(trigger),
        agent or "",
    )


def run_list(state: RunState | None, room: Address | None, limit: int) -> Op[list[RunRow]]:
    rows = yield RUNS(state, room, limit)
    found = []
    for row in rows:
        found.append((yield from _run_row(row)))  # noqa: PERF401 - a comprehension cannot yield
    return found


def run_detail(run_id: RunId) -> Op[tuple[RunRow, list[StepRow]] | None]:
    rows = yield RUN, {"run": run_id}
    if not rows:
        return None
    row = yield from _run_row(rows[0])
    step_rows = yield STEPS_OF_RUN, {"run": run_id}
    granted = yield from allowed(run_id)
    return row, [
        StepRow(
            n,
            kind,
            tool,
            arguments,
            StepState(state),
            result,
            maybe_moment(started),
            maybe_moment(ended),
            granted.get(n, ""),
            maybe_moment(called),
            *used,
        )
        for n, kind, tool, arguments, state, result, started, ended, called, *used in step_rows
    ]


def _delivery_row(row: tuple[Any, ...]) -> DeliveryRow:
    delivery_id, kind, address, origin, state, attempts, created, settled, not_before, reason, content = row
    return DeliveryRow(
        DeliveryId(delivery_id),
        Kind(kind),
        Address.parse(address),
        origin,
        DeliveryState(state),
        int(attempts),
        moment(created),
        maybe_moment(settled),
        moment(not_before),
        reason,
        Content.from_json(content),
    )


def delivery_list(state: DeliveryState | None, room: Address | None, limit: int) -> Op[list[DeliveryRow]]:
    rows = yield DELIVERIES(state, room, limit)
    return [_delivery_row(row) for row in rows]


def delivery_detail(delivery_id: DeliveryId) -> Op[DeliveryRow | None]:
    rows = yield DELIVERY, {"d": delivery_id}
    if not rows:
        return None
    own = yield PARTS_OF, {"d": delivery_id}
    return replace(_delivery_row(rows[0]), parts=tuple(map(part_of, own)))


def posted(origins: Collection[str]) -> Op[list[Posted]]:
    found: dict[str, Posted] = {}
    for origin in origins:
        for delivery, kind, address, state, ordinal, receipt in (yield POSTED, {"of": origin}):
            told = Kind(kind), Address.parse(address), DeliveryState(state)
            found.setdefault(delivery, Posted(DeliveryId(delivery), origin, *told, ordinal or 0, receipt or ""))
    return list(found.values())


def requeue(delivery_id: DeliveryId, actor: str, now: datetime) -> Op[DeliveryRow | None]:
    if not (yield REQUEUE, {"d": delivery_id, "at": micros(now)}):
        return None
    yield REVIVE, {"d": delivery_id}
    yield from moved(now, delivery_id, None, DeliveryEvent.REQUEUE, actor)
    yield from fact(now, "requeued", actor, delivery_id)
    return (yield from delivery_detail(delivery_id))


def discard(delivery_id: DeliveryId, actor: str, now: datetime) -> Op[DeliveryRow | None]:
    yield LOCK_DELIVERY, {"d": delivery_id}
    sending = yield SENDING, {"d": delivery_id}
    if sending[0][0] or not (yield DISCARD, {"d": delivery_id, "at": micros(now)}):
        return None
    yield from moved(now, delivery_id, None, DeliveryEvent.DISCARD, actor)
    yield from fact(now, "discarded", actor, delivery_id)
    return (yield from delivery_detail(delivery_id))


def room_work(address: Address) -> Op[RoomWork]:
    newest = yield NEWEST_RUN_IN, {"room": str(address)}
    asked = yield ASKED_IN, {"room": str(address)}
    state, run_id = newest[0] if newest else (None, "")
    return RoomWork(RunState(state) if state else None, tuple(map(approval_of, asked)), run_id)


def counts() -> Op[Mapping[str, int]]:
    found = {}
    for name, statement in COUNT:
        rows = yield statement, {}
        found.update({f"{name}.{state}": int(count) for state, count in rows})
    rows = yield SUSPECTS, {}
    return found | ({"runs.suspect": int(rows[0][0])} if rows[0][0] else {})


def newest_of(prefix: str) -> Op[tuple[str, int] | None]:
    rows = yield NEWEST_OF, {"low": prefix, "high": prefix[:-1] + chr(ord(prefix[-1]) + 1)}
    return (rows[0][0], rows[0][1]) if rows else None


class OperationStore(Base):
    """Implements `protocol.Operations`."""

    async def runs(
        self, *, state: RunState | None = None, room: Address | None = None, limit: int = 100
    ) -> list[RunRow]:
        return await self._driver.read(lambda: run_list(state, room, limit))

    async def run(self, run_id: RunId) -> tuple[RunRow, list[StepRow]] | None:
        return await self._driver.read(lambda: run_detail(run_id))

    async def room_work(self, address: Address) -> RoomWork:
        return await self._driver.read(lambda: room_work(address))

    async def posted(self, origins: Collection[str]) -> list[Posted]:
        return await self._driver.read(lambda: posted(origins))

    async def deliveries(
        self, *, state: DeliveryState | None = None, room: Address | None = None, limit: int = 100
    ) -> list[DeliveryRow]:
        return await self._driver.read(lambda: delivery_list(state, room, limit))

    async def delivery(self, delivery_id: DeliveryId) -> DeliveryRow | None:
        return await self._driver.read(lambda: delivery_detail(delivery_id))

    async def requeue(self, delivery_id: DeliveryId, actor: str) -> DeliveryRow | None:
        now = self.now()
        return await self._driver.write(lambda: requeue(delivery_id, actor, now))

    async def discard(self, delivery_id: DeliveryId, actor: str) -> DeliveryRow | None:
        now = self.now()
        return await self._driver.write(lambda: discard(delivery_id, actor, now))

    async def newest_of(self, prefix: str) -> tuple[str, int] | None:
        return await self._driver.read(lambda: newest_of(prefix))

    async def counts(self) -> Mapping[str, int]:
        return await self._driver.read(counts)
