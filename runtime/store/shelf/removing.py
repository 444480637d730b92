"""Removal of what is left of deleted conversations, by the rules of retention: nothing that is still open is touched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, Executable, Integer, Text, bindparam, delete, exists, or_, select

from runtime.contract import Address
from runtime.store.common import fact, held
from runtime.store.operations.retention import DROP_SUMMARIES, DROP_TURNS, IDLE, RULES
from runtime.store.protocol import Cleared, Duty, Stock
from runtime.store.schema import (
    approvals,
    deleted_rooms,
    deliveries,
    processes,
    room_marks,
    runs,
    sessions,
    signals,
    tasks,
    turns,
)
from runtime.store.sql.driver import Op, is_word, micros

ROOMS_AT_ONCE: Final = 20
THE_ROOM: Final = bindparam("room", type_=Text)

TO_REMOVE = (
    select(deleted_rooms.c.address, deleted_rooms.c.owner, deleted_rooms.c.deleted_at)
    .where(deleted_rooms.c.due_at <= bindparam("now"))
    .order_by(deleted_rooms.c.due_at)
    .limit(ROOMS_AT_ONCE)
    .with_for_update()
)
NO_MORE = delete(deleted_rooms).where(deleted_rooms.c.address == THE_ROOM).returning(deleted_rooms.c.address)
DROP_MARKS = delete(room_marks).where(room_marks.c.address == THE_ROOM)
kept_words = (is_word(signals.c.kind, "said"), ~is_word(signals.c.state, "refused", "forgotten"))
SAID_SINCE = select(
    exists().where(signals.c.address == THE_ROOM, *kept_words, signals.c.accepted_at > bindparam("deleted_at"))
)


class _InRoom(NamedTuple):
    """A stock in one room: its next keys, and the removal of those up to `upto` that are done with."""

    first: str | int
    some: Executable
    act: Executable
    below: tuple[Executable, ...]


def _in_room(stock: Stock, key: Column[Any], address: Column[Any], *where: Any) -> _InRoom:
    rule = RULES[stock]
    some = select(key).where(address == THE_ROOM, *where).order_by(key).limit(bindparam("n", type_=Integer))
    return _InRoom(rule.first, some, rule.act.where(address == THE_ROOM), tuple(rule.below))


IN_ROOM: Final[Mapping[Stock, _InRoom]] = {
    Stock.MESSAGES: _in_room(Stock.MESSAGES, signals.c.id, signals.c.address, *kept_words),
    Stock.DELIVERIES: _in_room(Stock.DELIVERIES, deliveries.c.number, deliveries.c.address),
    Stock.APPROVALS: _in_room(Stock.APPROVALS, approvals.c.id, approvals.c.address),
    Stock.TASKS: _in_room(Stock.TASKS, tasks.c.id, tasks.c.room),
    Stock.PROCESSES: _in_room(Stock.PROCESSES, processes.c.id, processes.c.room),
    Stock.RUNS: _in_room(Stock.RUNS, runs.c.id, runs.c.address),
}
"""Those with texts, what others look at first: a message is looked at by its run."""
WITH_TURNS = (
    select(sessions.c.key)
    .where(sessions.c.address == THE_ROOM, IDLE, exists().where(turns.c.session == sessions.c.key))
    .with_for_update(skip_locked=True)  # so that nobody begins to work there before its turns are gone
)
ROWS_LEFT = select(
    or_(
        exists().where(signals.c.address == THE_ROOM, *kept_words),
        exists().where(deliveries.c.address == THE_ROOM),
        exists().where(runs.c.address == THE_ROOM),
        exists().where(approvals.c.address == THE_ROOM),
        exists().where(turns.c.session.in_(select(sessions.c.key).where(sessions.c.address == THE_ROOM))),
    )
)


def clear_deleted(duty: Duty, now: datetime, limit: int) -> Op[Cleared | None]:
    """One slice of each room that was deleted and not taken back; rooms of which nothing is left are told."""
    if not (yield from held(duty)):
        return None
    removed = 0
    bare: list[Address] = []
    for address, _, deleted_at in (yield TO_REMOVE, {"now": micros(now)}):
        if (yield SAID_SINCE, {"room": address, "deleted_at": deleted_at})[0][0]:
            yield NO_MORE, {"room": address}  # somebody goes on there
            continue
        removed += yield from _clear(address, now, limit)
        if not (yield ROWS_LEFT, {"room": address})[0][0]:
            bare.append(Address.parse(address))
    return Cleared(removed, tuple(bare))


def _clear(room: str, now: datetime, limit: int) -> Op[int]:
    removed = 0
    for walk in IN_ROOM.values():
        keys = yield walk.some, {"room": room, "n": limit}
        if not keys:
            continue
        gone = yield walk.act, {"room": room, "after": walk.first, "upto": keys[-1][0], "before": micros(now)}
        removed += len(gone)
        for (key,) in gone:
            for statement in walk.below:
                yield statement, {"above": key}
    for (session,) in (yield WITH_TURNS, {"room": room}):
        yield DROP_SUMMARIES, {"s": session}
        yield DROP_TURNS, {"s": session}
        removed += 1
    return removed


def end_deleted(duty: Duty, rooms: tuple[Address, ...], now: datetime) -> Op[None]:
    """Of these nothing is left, files included."""
    if not (yield from held(duty)):
        return
    for address in map(str, rooms):
        if (yield NO_MORE, {"room": address}):
            yield DROP_MARKS, {"room": address}
            yield from fact(now, "conversation removed", "retention", address, "")
