"""Trail of one message, read from the rows it left. Nothing is written for this on the straight way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, literal, or_, select

from runtime.contract import Address, Identity, NodeId, RunId
from runtime.domain.approvals import Approval
from runtime.domain.runs import RunEvent
from runtime.store.approvals.rulings import approval_of
from runtime.store.operations.history import MOST_ROOMS, conversations, titles
from runtime.store.operations.trail_rows import (
    DELIVERY_COLUMNS,
    MOVE_COLUMNS,
    PART_COLUMNS,
    RUN_COLUMNS,
    SIGNAL_COLUMNS,
    STEP_COLUMNS,
    delivery_of,
    move_of,
    run_of,
    signal_of,
    step_of,
)
from runtime.store.schema import approvals, deliveries, moves, nodes, parts, people, runs, signals, steps, turns, usage
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.timeline.trail import Candidate, Move, Thing, TracedDelivery, TracedRun, TracedSignal, Trail

SIGNAL = select(*SIGNAL_COLUMNS).where(signals.c.id == bindparam("id"))
TOGETHER = (
    select(*SIGNAL_COLUMNS)
    .where(or_(signals.c.id == bindparam("id"), signals.c.merged_into == bindparam("id")))
    .order_by(signals.c.accepted_at, signals.c.id)
)
OF_RUN = (
    select(*SIGNAL_COLUMNS)
    .where(signals.c.run_id == bindparam("run"))
    .order_by(signals.c.accepted_at, signals.c.seq, signals.c.id)
)
OF_THE_SINK = "signal:"
"""How the origin of an answer begins that the sink gave by itself: a command's, or a pairing code."""
SESSION_OF = select(signals.c.session).where(signals.c.id == bindparam("id"))
RUN = select(*RUN_COLUMNS).outerjoin(people, people.c.id == runs.c.requester).where(runs.c.id == bindparam("run"))
STEPS_OF_RUN = (
    select(*STEP_COLUMNS)
    .outerjoin(usage, (usage.c.run_id == steps.c.run_id) & (usage.c.step == steps.c.number))
    .where(steps.c.run_id == bindparam("run"))
    .order_by(steps.c.number)
)
APPROVALS_OF_RUN = (
    select(*approvals.columns)
    .where(approvals.c.run_id == bindparam("run"))
    .order_by(approvals.c.asked_at, approvals.c.step)
)
RUN_OF_APPROVAL = select(approvals.c.run_id).where(approvals.c.id == bindparam("id"))
OF_ORIGIN = select(*DELIVERY_COLUMNS).where(deliveries.c.origin == bindparam("o")).order_by(deliveries.c.ordinal)
DELIVERY = select(deliveries.c.run_id, deliveries.c.origin).where(deliveries.c.id == bindparam("d"))
PARTS = select(*PART_COLUMNS).where(parts.c.delivery_id == bindparam("d")).order_by(parts.c.ordinal)
MOVES = select(*MOVE_COLUMNS).where(moves.c.subject == bindparam("subject")).order_by(moves.c.number)
NODE = select(nodes.c.label, nodes.c.state, nodes.c.expires_at).where(nodes.c.id == bindparam("node"))
LIVE = select(runs.c.id).where(runs.c.session == bindparam("s"), is_word(runs.c.state, "running"))
# The last turn that another run wrote before this one began tells who had the lane, and until when.
RUNS_BEFORE = (
    select(turns.c.run_id, turns.c.at, runs.c.ended_at)
    .outerjoin(runs, runs.c.id == turns.c.run_id)
    .where(
        turns.c.session == bindparam("s"),
        turns.c.number <= bindparam("last"),
        turns.c.at <= bindparam("began"),
        turns.c.run_id != bindparam("run"),
        turns.c.run_id != literal(""),  # what was only observed has no run
    )
    .order_by(turns.c.number.desc())
    .limit(1)
)
LAST_ASKED = select(func.max(approvals.c.asked_at)).where(
    approvals.c.run_id == bindparam("run"), approvals.c.asked_at <= bindparam("until")
)
JOINED = (
    select(turns.c.at)
    .where(
        turns.c.session == bindparam("s"),
        turns.c.number > bindparam("first"),
        turns.c.number <= bindparam("last"),
        turns.c.run_id == bindparam("run"),
        is_word(turns.c.role, "user"),
        turns.c.author != literal(""),  # what has no author was said by us
    )
    .order_by(turns.c.number)
)


def trail(about: str, now: datetime) -> Op[Trail | None]:
    """Everything around the message, run, approval or delivery with this id."""
    run, signal, origins = yield from _named(about)
    if run and (row := (yield RUN, {"run": run})):
        found = yield from _of_run(Trail(about), row[0])
    else:
        found = yield from _without_run(Trail(about), signal, origins)
    if not (found.run or found.signals or found.deliveries):
        return None
    return (yield from _with_nodes(replace(found, moves=(yield from _moves(found))), now))


def _named(about: str) -> Op[tuple[str | None, str | None, list[str]]]:
    """The run it belongs to, if any; and what is told without one, or when that is gone: a signal, and deliveries."""
    if rows := (yield SIGNAL, {"id": about}):
        merged_into, run = rows[0][7], rows[0][8]
        return run, merged_into or about, [f"run:{run}" if run else f"{OF_THE_SINK}{about}"]
    if rows := (yield DELIVERY, {"d": about}):
        run, origin = rows[0]
        answered = origin.removeprefix(OF_THE_SINK) if origin.startswith(OF_THE_SINK) else None
        return run, run or answered, [origin]
    rows = yield RUN_OF_APPROVAL, {"id": about}
    return (rows[0][0] if rows else about), None, []


def _without_run(found: Trail, signal: str | None, origins: Sequence[str]) -> Op[Trail]:
    rows = (yield TOGETHER, {"id": signal}) if signal else []
    waits = any(row[6] == "waiting" for row in rows)
    behind = (yield from _live(signal)) if signal and waits else None
    return replace(
        found, signals=tuple(map(signal_of, rows)), behind=behind, deliveries=(yield from _deliveries(origins))
    )


def _live(signal: str) -> Op[RunId | None]:
    session = yield SESSION_OF, {"id": signal}
    rows = yield LIVE, {"s": session[0][0]}
    return RunId(rows[0][0]) if rows else None


def _of_run(found: Trail, row: Sequence[Any]) -> Op[Trail]:
    run, session, last = run_of(row), row[9], row[10]
    came = tuple(map(signal_of, (yield OF_RUN, {"run": run.id})))
    step_rows = yield STEPS_OF_RUN, {"run": run.id}
    if step_rows:
        came = yield from _joined(came, run, session, step_rows[0][-1], last)
    asked = tuple(map(approval_of, (yield APPROVALS_OF_RUN, {"run": run.id})))
    return replace(
        found,
        run=run,
        signals=came,
        behind=(yield from _behind(run, came, session, last)),
        steps=tuple(map(step_of, step_rows)),
        approvals=asked,
        deliveries=(yield from _deliveries(_origins(run, asked))),
    )


def _origins(run: TracedRun, asked: Sequence[Approval]) -> list[str]:
    return [*(f"approval:{one.id}" for one in asked), f"run:{run.id}:preview", f"run:{run.id}"]


def _joined(
    came: tuple[TracedSignal, ...], run: TracedRun, session: str, first: int, last: int
) -> Op[tuple[TracedSignal, ...]]:
    """With the time at which each later message became a turn of this run: they did so in the order they came."""
    later = [one.id for one in came if one.state == "consumed" and one.accepted_at > run.started_at]
    if not later:
        return came
    rows = yield JOINED, {"s": session, "run": run.id, "first": first, "last": last}
    at = {one: moment(row[0]) for one, row in zip(later, rows, strict=False)}
    return tuple(replace(one, joined_at=at.get(one.id)) for one in came)


def _behind(run: TracedRun, came: Sequence[TracedSignal], session: str, last: int) -> Op[RunId | None]:
    """The run that had the lane when the first message of this one came in."""
    first = min((one.accepted_at for one in came), default=run.started_at)
    rows = yield RUNS_BEFORE, {"s": session, "last": last, "began": micros(run.started_at), "run": run.id}
    if not rows:
        return None
    other, wrote, ended = rows[0]
    asked = yield LAST_ASKED, {"run": other, "until": micros(run.started_at)}
    until = max(at for at in (wrote, ended, asked[0][0]) if at is not None and at <= micros(run.started_at))
    return RunId(other) if until > micros(first) else None


def _deliveries(origins: Sequence[str]) -> Op[tuple[TracedDelivery, ...]]:
    found = []
    for origin in origins:
        for row in (yield OF_ORIGIN, {"o": origin}):
            own = yield PARTS, {"d": row[0]}
            found.append(delivery_of(row, own))
    return tuple(found)


def _moves(found: Trail) -> Op[tuple[Move, ...]]:
    subjects: list[str] = [one.id for one in found.signals if one.state == "refused"]
    subjects += [found.run.id] if found.run else []
    told = []
    for subject in [*subjects, *(one.id for one in found.deliveries)]:
        told += [move_of(row) for row in (yield MOVES, {"subject": subject})]
    return tuple(sorted(told, key=lambda one: one.at))


def _with_nodes(found: Trail, now: datetime) -> Op[Trail]:
    """With the names of all nodes that appear, and which of them are gone. One that retention took away has no name."""
    own = [found.run] if found.run else []
    pieces = [part for one in found.deliveries for part in one.parts]
    seen = {one.node for group in (found.signals, own, found.steps, pieces, found.moves) for one in group}
    seen |= {NodeId(one.detail) for one in found.moves if one.what == RunEvent.RESUME}
    labels, gone = {}, set()
    for node in sorted(filter(None, seen)):
        rows = yield NODE, {"node": node}
        if rows:
            labels[node] = rows[0][0]
        if not rows or rows[0][1] != "live" or rows[0][2] <= micros(now):
            gone.add(node)
    return replace(found, labels=labels, gone=frozenset(gone))


class TraceStore(Base):
    """Implements `protocol.Traces`."""

    async def find(self, words: str, *, things: Collection[Thing] = tuple(Thing), limit: int = 10) -> list[Candidate]:
        from runtime.store.operations.finding import find  # asked for by hand, as the two below

        return await self._driver.read(lambda: find(words, things, limit))

    async def titles(self, rooms: Collection[Address], owner: Identity | None = None) -> dict[Address, str]:
        return await self._driver.read(lambda: titles(rooms, owner))

    async def conversations(
        self, channel: str, account: str, *, limit: int = MOST_ROOMS, owner: Identity | None = None
    ) -> dict[Address, str]:
        return await self._driver.read(lambda: conversations(channel, account, limit, owner))

    async def recent(self, address: Address | None = None, *, limit: int = 10) -> list[Candidate]:
        from runtime.store.operations.finding import recent

        return await self._driver.read(lambda: recent(address, limit))

    async def trail(self, about: str) -> Trail | None:
        now = self.now()
        return await self._driver.read(lambda: trail(about, now))

    async def platforms(self) -> list[str]:
        from runtime.store.operations.finding import platforms

        return await self._driver.read(platforms)
