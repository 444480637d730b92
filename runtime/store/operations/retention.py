"""Removing what is old, a slice at a time: each a short transaction over a range of a primary key.

Ids and numbers grow with time, so a walk over a primary key meets the oldest rows first, needs no index of its own and
ends at the first slice that holds a young row. What is still open is stepped over; a later walk meets it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Delete,
    Executable,
    Integer,
    Text,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
)

from runtime.contract import Address, SessionKey
from runtime.store.common import held
from runtime.store.intake.inbox import FORGET_SIGNAL
from runtime.store.memory.ending.expiring import drop_expired
from runtime.store.protocol import Cleared, Duty, Quiet, Stock, Swept
from runtime.store.schema import (
    approvals,
    asked_back,
    children,
    deliveries,
    feedback,
    memories,
    memory_uses,
    moves,
    nodes,
    occurrences,
    participation,
    parts,
    plans,
    processes,
    room_marks,
    rooms,
    runs,
    schedules,
    sessions,
    signals,
    steps,
    summaries,
    tasks,
    tool_forms,
    turns,
    undos,
    usage,
    votes,
    waits,
)
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.sql.traces import clear_in_steps


@dataclass(frozen=True, slots=True)
class Rule:
    """The walk through one stock: `bound` finds the end of the next slice, `act` removes its finished rows.

    `below` are removed with each row that `act` returns; `first` lies before every key.
    """

    first: str | int
    bound: Executable
    act: Update | Delete
    below: Sequence[Executable] = ()


# ------------------------------------------------------------------------------------------------------- the conditions

WALKED: Final = (signals, deliveries, runs, approvals, moves, sessions, occurrences, schedules, rooms, room_marks)
OPEN_RUN: Final = ("running", "parked", "ready")
UNSETTLED_STATES: Final = (
    "queued",
    "open",
    "held",
    "dead",
)  # a dead one keeps its payload until a person throws it away


def _none(*where: ColumnElement[bool]) -> ColumnElement[bool]:
    """No row is like this. A query with a limit, which PostgreSQL asks row by row: for NOT EXISTS it may read a whole
    table instead."""
    return select(literal_column("1")).where(*where).limit(1).correlate(*WALKED).scalar_subquery().is_(None)


def _no_final_of(run: ColumnElement[str]) -> ColumnElement[bool]:
    """Nothing of what this run has to say still waits to be shown."""
    own = deliveries.alias()
    return _none(own.c.origin == literal_column("'run:'").concat(run), is_word(own.c.state, *UNSETTLED_STATES))


def _no_open_run(run: ColumnElement[Any]) -> ColumnElement[bool]:
    own = runs.alias()
    return _none(own.c.id == run, is_word(own.c.state, *OPEN_RUN))


def _no_open_run_in(session: ColumnElement[str]) -> ColumnElement[bool]:
    own = runs.alias()
    return _none(own.c.session == session, is_word(own.c.state, *OPEN_RUN))


def _not_first_in_its_room() -> ColumnElement[bool]:
    """A room of the page belongs to whoever spoke there first, so that one message stays known."""
    first = signals.alias()
    return ~_none(
        first.c.address == signals.c.address,
        is_word(first.c.kind, "said"),
        first.c.state != literal_column("'refused'"),
        first.c.accepted_at < signals.c.accepted_at,
    )


ANSWERED = and_(
    is_word(signals.c.kind, "said"),
    is_word(signals.c.state, "consumed", "merged", "observed", "stale"),
    or_(
        signals.c.answered_at.is_not(None),
        and_(signals.c.run_id.is_not(None), _no_open_run(signals.c.run_id), _no_final_of(signals.c.run_id)),
    ),
)


def _settled_delivery() -> ColumnElement[bool]:
    """On screen or thrown away, and nothing that is still to come needs it: no edit of it, no sibling, no question."""
    other, edit, asked = deliveries.alias(), deliveries.alias(), approvals.alias()
    return and_(
        is_word(deliveries.c.state, "shown", "discarded"),
        deliveries.c.settled_at < bindparam("before"),
        _none(other.c.origin == deliveries.c.origin, is_word(other.c.state, *UNSETTLED_STATES)),
        _none(
            edit.c.address == deliveries.c.address,
            is_word(edit.c.state, "queued", "open"),
            edit.c.edits == deliveries.c.id,
        ),
        _none(
            asked.c.id == func.substr(deliveries.c.origin, literal_column("10")),  # behind "approval:"
            is_word(asked.c.state, "pending"),
        ),
    )


def _not_the_last() -> ColumnElement[bool]:
    """Its schedule was done once more since, for the next report knows the last one; or has none to come, or there is none."""
    later, over = occurrences.alias(), schedules.alias()
    ended = ~_none(over.c.id == occurrences.c.schedule, is_word(over.c.state, "ended", "removed"))
    return (
        ended
        | (occurrences.c.report != literal_column("''"))
        | ~_none(
            later.c.schedule == occurrences.c.schedule,
            is_word(later.c.state, "done"),
            later.c.silent == literal_column("0"),
            later.c.planned_at > occurrences.c.planned_at,
        )
    )


def _nobody_asks_about_it() -> ColumnElement[bool]:
    """The run or delivery that a move tells about is over."""
    own = deliveries.alias()
    return and_(
        _no_open_run(moves.c.subject),
        _none(own.c.id == moves.c.subject, is_word(own.c.state, *UNSETTLED_STATES)),
    )


# ------------------------------------------------------------------------------------------------------------ the rules


def _bound(key: Column[Any], at: Column[Any]) -> Executable:
    """(last key, number) of the old rows among the next `n`; fewer than `n` mean that the walk is at its end."""
    inner = select(key.label("k"), at.label("at")).where(key > bindparam("after")).order_by(key)
    slice_ = inner.limit(bindparam("n", type_=Integer)).subquery()
    return select(func.max(slice_.c.k), func.count()).where(slice_.c.at < bindparam("before"))


def _within(key: Column[Any]) -> ColumnElement[bool]:
    return and_(key > bindparam("after"), key <= bindparam("upto"))


def _rule(
    key: Column[Any], at: Column[Any], act: Update | Delete, *below: Executable, known_as: Column[Any] | None = None
) -> Rule:
    first: str | int = 0 if isinstance(key.type, Integer) else ""
    done = act.where(_within(key), at < bindparam("before"))
    return Rule(first, _bound(key, at), done.returning(key if known_as is None else known_as), below)


ABOVE: Final = bindparam("above", type_=Text)

CHILDS_SESSION: Final = select(children.c.session).where(children.c.id == ABOVE).scalar_subquery()
"""A child has a session to itself, which goes with it."""

RULES: Final[Mapping[Stock, Rule]] = {
    Stock.MESSAGES: _rule(signals.c.id, signals.c.accepted_at, FORGET_SIGNAL.where(ANSWERED)),
    Stock.TOMBSTONES: _rule(
        signals.c.id,
        signals.c.accepted_at,
        delete(signals).where(is_word(signals.c.state, "forgotten"), _not_first_in_its_room()),
    ),
    Stock.EVENTS: _rule(
        signals.c.id,
        signals.c.accepted_at,
        delete(signals).where(
            or_(
                is_word(signals.c.state, "refused", "decided"),
                and_(
                    is_word(signals.c.kind, "due"), signals.c.answered_at.is_not(None), _no_open_run(signals.c.run_id)
                ),
            )
        ),
    ),
    Stock.DELIVERIES: _rule(
        deliveries.c.number,
        deliveries.c.created_at,
        delete(deliveries).where(_settled_delivery()),
        delete(parts).where(parts.c.delivery_id == ABOVE),
        delete(feedback).where(feedback.c.delivery_id == ABOVE),
        known_as=deliveries.c.id,
    ),
    Stock.RUNS: _rule(
        runs.c.id,
        runs.c.started_at,
        delete(runs).where(
            is_word(runs.c.state, "done", "failed", "stopped"),
            runs.c.ended_at < bindparam("before"),
            _no_final_of(runs.c.id),
        ),
        delete(steps).where(steps.c.run_id == ABOVE),
        delete(waits).where(waits.c.run_id == ABOVE),
        delete(plans).where(plans.c.run_id == ABOVE),
        delete(memory_uses).where(memory_uses.c.run_id == ABOVE),
        delete(turns).where(turns.c.session == CHILDS_SESSION),
        delete(summaries).where(summaries.c.session == CHILDS_SESSION),
        delete(sessions).where(sessions.c.key == CHILDS_SESSION),
        delete(children).where(children.c.id == ABOVE),
    ),
    Stock.APPROVALS: _rule(
        approvals.c.id,
        approvals.c.asked_at,
        delete(approvals).where(
            approvals.c.state != literal_column("'pending'"),
            approvals.c.decided_at < bindparam("before"),
            _no_open_run(approvals.c.run_id),
        ),
        delete(votes).where(votes.c.approval_id == ABOVE),
        delete(undos).where(undos.c.approval_id == ABOVE),
        delete(asked_back).where(asked_back.c.approval_id == ABOVE),
    ),
    Stock.OCCURRENCES: _rule(
        occurrences.c.id,
        occurrences.c.created_at,
        delete(occurrences).where(is_word(occurrences.c.state, "done", "skipped", "failed"), _not_the_last()),
    ),
    Stock.SCHEDULES: _rule(
        schedules.c.id,
        schedules.c.created_at,
        delete(schedules).where(
            is_word(schedules.c.state, "ended", "removed"), _none(occurrences.c.schedule == schedules.c.id)
        ),
    ),
    Stock.TASKS: _rule(
        tasks.c.id,
        tasks.c.created_at,
        delete(tasks).where(
            is_word(tasks.c.state, "done", "failed", "dropped"), tasks.c.ended_at < bindparam("before")
        ),
    ),
    Stock.PROCESSES: _rule(
        processes.c.id,
        processes.c.started_at,
        delete(processes).where(
            is_word(processes.c.state, "ended", "stopped", "late", "lost"), processes.c.ended_at < bindparam("before")
        ),
    ),
    Stock.MOVES: _rule(moves.c.number, moves.c.at, delete(moves).where(_nobody_asks_about_it())),
    Stock.USAGE: _rule(usage.c.run_id, usage.c.at, delete(usage)),
    Stock.NODES: _rule(
        nodes.c.id,
        nodes.c.joined_at,
        delete(nodes).where(is_word(nodes.c.state, "dead"), nodes.c.expires_at < bindparam("before")),
    ),
}


def sweep(duty: Duty, stock: Stock, after: str | int | None, before: datetime, limit: int) -> Op[Swept | None]:
    """One slice of one stock."""
    if not (yield from held(duty)):
        return None
    rule = RULES[stock]
    start = rule.first if after is None else after
    rows = yield rule.bound, {"after": start, "before": micros(before), "n": limit}
    last, count = rows[0]
    if last is None:
        return Swept(start, more=False, removed=0)
    removed = yield rule.act, {"after": start, "upto": last, "before": micros(before)}
    for (key,) in removed:
        for statement in rule.below:
            yield statement, {"above": key}
    return Swept(last, more=count == limit, removed=len(removed))


# ------------------------------------------------------------------------------------------------------------- sessions

# Keys of sessions do not grow with time, so these walks read all of them; there is one a room.
SOME_SESSIONS = select(sessions.c.key).where(sessions.c.key > bindparam("after")).order_by(sessions.c.key)
NEXT_SESSIONS = SOME_SESSIONS.limit(bindparam("n", type_=Integer))
IDLE = and_(
    is_word(sessions.c.state, "idle"),
    sessions.c.waiting == 0,
    sessions.c.resumable == 0,
    _no_open_run_in(sessions.c.key),
)
QUIET = and_(
    sessions.c.key > bindparam("after"),
    sessions.c.key <= bindparam("upto"),
    IDLE,
    sessions.c.ready_at < bindparam("before"),
)
WITH_TURNS = (
    select(sessions.c.key, sessions.c.address)
    .where(QUIET, exists().where(turns.c.session == sessions.c.key))
    .with_for_update(skip_locked=True)  # so that nobody begins to work there before its turns are gone
)
QUIET_ROOMS = select(sessions.c.address).where(QUIET)
DROP_SUMMARIES = delete(summaries).where(summaries.c.session == bindparam("s"))
DROP_TURNS = delete(turns).where(turns.c.session == bindparam("s"))
LEAVE_THREAD = delete(participation).where(participation.c.address == bindparam("a"))


def _upto(after: str, limit: int) -> Op[tuple[str, bool]]:
    rows = yield NEXT_SESSIONS, {"after": after, "n": limit}
    return (rows[-1][0] if rows else after), len(rows) == limit


def drop_transcripts(duty: Duty, after: str, before: datetime, limit: int) -> Op[Swept | None]:
    """The turns of sessions that nobody used since `before`; who is not remembered in a thread is no part of it."""
    if not (yield from held(duty)):
        return None
    last, more = yield from _upto(after, limit)
    quiet = yield WITH_TURNS, {"after": after, "upto": last, "before": micros(before)}
    for session, address in quiet:
        yield DROP_SUMMARIES, {"s": session}
        yield DROP_TURNS, {"s": session}
        yield LEAVE_THREAD, {"a": address}
    return Swept(last, more, len(quiet))


def quiet_rooms(after: str, before: datetime, limit: int) -> Op[Quiet]:
    last, more = yield from _upto(after, limit)
    rows = yield QUIET_ROOMS, {"after": after, "upto": last, "before": micros(before)}
    return Quiet(SessionKey(last), more, tuple(Address.parse(address) for (address,) in rows))


# ------------------------------------------------------------------------------------------------- names that nobody uses

ROOM_ADDRESS = rooms.c.channel + literal_column("':'") + rooms.c.account + literal_column("'/'") + rooms.c.room
"""As addresses write it."""


def _unused(key: ColumnElement[str], act: Delete) -> tuple[Executable, Executable]:
    """The next keys, and the removal of those behind `after` up to `upto` that were not seen since `before`."""
    some = select(key).where(key > bindparam("after", type_=Text)).order_by(key).limit(bindparam("n", type_=Integer))
    within = and_(key > bindparam("after", type_=Text), key <= bindparam("upto", type_=Text))
    return some, act.where(within).returning(key)


def _nothing_in_it() -> ColumnElement[bool]:
    """Nobody was ever answered in this room, and nothing is planned for it."""
    own, planned = sessions.alias(), schedules.alias()
    threads = ROOM_ADDRESS + literal_column("'/'")
    begins = func.substr(own.c.address, 1, func.length(threads)) == threads
    named = planned.c.addresses.like(literal_column("'%'") + ROOM_ADDRESS + literal_column("'%'"))
    return and_(
        _none(or_(own.c.address == ROOM_ADDRESS, begins)),
        _none(is_word(planned.c.state, "active", "paused"), or_(planned.c.home == ROOM_ADDRESS, named)),
    )


OLD: Final[Mapping[Stock, tuple[Executable, Executable]]] = {
    Stock.ROOM_NAMES: _unused(
        ROOM_ADDRESS, delete(rooms).where(rooms.c.seen_at < bindparam("before"), _nothing_in_it())
    ),
    Stock.ROOM_MARKS: _unused(
        room_marks.c.owner + literal_column("' '") + room_marks.c.address,
        delete(room_marks).where(
            room_marks.c.changed_at < bindparam("before"), _none(signals.c.address == room_marks.c.address)
        ),
    ),
    Stock.TOOL_FORMS: _unused(tool_forms.c.tool, delete(tool_forms).where(tool_forms.c.seen_at < bindparam("before"))),
}
"""Keys do not grow with time, so these walks read all of them."""


def drop_unused(duty: Duty, stock: Stock, after: str, before: datetime, limit: int) -> Op[Swept | None]:
    if not (yield from held(duty)):
        return None
    some, drop = OLD[stock]
    rows = yield some, {"after": after, "n": limit}
    last = rows[-1][0] if rows else after
    removed = yield drop, {"after": after, "upto": last, "before": micros(before)}
    return Swept(last, len(rows) == limit, len(removed))


class RetentionStore(Base):
    """Implements `protocol.Sweeping`."""

    async def sweep(
        self, duty: Duty, stock: Stock, after: str | int | None, before: datetime, *, limit: int = 200
    ) -> Swept | None:
        if stock is Stock.TRANSCRIPTS:
            start = str(after or "")
            return await self._driver.write(lambda: drop_transcripts(duty, start, before, limit))
        if stock in OLD:
            start = str(after or "")
            return await self._driver.write(lambda: drop_unused(duty, stock, start, before, limit))
        return await self._driver.write(lambda: sweep(duty, stock, after, before, limit))

    async def drop_expired(self, duty: Duty, *, limit: int = 200) -> int | None:
        now = self.now()
        return await self._driver.write(lambda: drop_expired(duty, now, limit))

    async def clear_deleted(self, duty: Duty, *, limit: int = 200) -> Cleared | None:
        from runtime.store.shelf.removing import clear_deleted  # by these rules, and seldom needed

        now = self.now()
        return await self._driver.write(lambda: clear_deleted(duty, now, limit))

    async def end_deleted(self, duty: Duty, rooms: tuple[Address, ...]) -> None:
        from runtime.store.shelf.removing import end_deleted

        now = self.now()
        await self._driver.write(lambda: end_deleted(duty, rooms, now))

    async def clear_traces(self) -> None:
        await clear_in_steps(self._driver, memories.name)

    async def quiet_rooms(self, after: str, before: datetime, *, limit: int = 200) -> Quiet:
        return await self._driver.read(lambda: quiet_rooms(after, before, limit))
