"""Removal of what is left of deleted conversations, by the rules of retention: nothing that is still open is touched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    Delete,
    Executable,
    Integer,
    Text,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    or_,
    select,
    update,
)

from runtime.contract import Address
from runtime.domain.copies.copy import IMPORTED
from runtime.store.common import fact, held
from runtime.store.intake.inbox import FORGET_SIGNAL
from runtime.store.operations.retention import ANSWERED, DROP_SUMMARIES, DROP_TURNS, IDLE, OPEN_RUN, RULES
from runtime.store.processes.rows import give_up_lost
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
from runtime.store.shelf.deleting import TAKEN_BACK_MICROS
from runtime.store.sql.driver import Op, is_like, is_word, micros
from runtime.store.tasks.rows import give_back_lapsed

ROOMS_AT_ONCE: Final = 20
THE_ROOM: Final = bindparam("room", type_=Text)

TO_REMOVE = (
    select(deleted_rooms.c.address, deleted_rooms.c.owner, deleted_rooms.c.deleted_at)
    .where(deleted_rooms.c.due_at <= bindparam("now"))
    .order_by(deleted_rooms.c.due_at)
    .limit(ROOMS_AT_ONCE)
    .with_for_update()
)
LOOKED_AT = update(deleted_rooms).where(deleted_rooms.c.address == THE_ROOM).values(due_at=bindparam("seen_at"))
"""From then on it can't be taken back, whatever the clock of another node says; the others have their turn before it."""
NO_MORE = delete(deleted_rooms).where(deleted_rooms.c.address == THE_ROOM).returning(deleted_rooms.c.address)
DROP_MARKS = delete(room_marks).where(room_marks.c.address == THE_ROOM)
kept_words = (is_word(signals.c.kind, "said"), ~is_word(signals.c.state, "refused", "forgotten"))
SAID_SINCE = select(
    exists().where(
        signals.c.address == THE_ROOM,
        *kept_words,
        or_(
            signals.c.accepted_at > bindparam("deleted_at"),
            and_(signals.c.actor != bindparam("owner"), ~is_like(signals.c.actor, f"{IMPORTED}%")),
        ),
    )
)
"""Words of somebody else came in beside the deletion: the clock of their node may be behind."""


class _InRoom(NamedTuple):
    """A stock in one room: its next keys, and the removal of those up to `upto` that are done with."""

    first: str | int
    some: Executable
    act: Executable
    below: tuple[Executable, ...]


def _in_room(
    stock: Stock, key: Column[Any], address: Column[Any], *where: Any, act: Update | Delete | None = None
) -> _InRoom:
    """The walk that is usual for a stock, or one with an `act` of its own."""
    rule = RULES[stock]
    some = select(key).where(address == THE_ROOM, *where).order_by(key).limit(bindparam("n", type_=Integer))
    return _InRoom(rule.first, some, (rule.act if act is None else act).where(address == THE_ROOM), tuple(rule.below))


def _within(key: Column[Any], at: Column[Any]) -> Any:
    return and_(key > bindparam("after"), key <= bindparam("upto"), at < bindparam("before"))


# Elsewhere a command is an event, which has another age; here its words go with the others.
FORGET_WORDS = (
    FORGET_SIGNAL.where(or_(ANSWERED, and_(is_word(signals.c.kind, "said"), is_word(signals.c.state, "decided"))))
    .where(_within(signals.c.id, signals.c.accepted_at))
    .returning(signals.c.id)
)
# Their texts are of the conversation too, such as what an agent said when it handed it over.
DROP_OWN_SIGNALS = (
    delete(signals)
    .where(
        is_word(signals.c.kind, "due"),
        or_(signals.c.answered_at.is_not(None), signals.c.run_id.is_not(None)),
        ~exists().where(runs.c.id == signals.c.run_id, is_word(runs.c.state, *OPEN_RUN)),
        _within(signals.c.id, signals.c.accepted_at),
    )
    .returning(signals.c.id)
)
DROP_TASKS = (
    delete(tasks)
    .where(is_word(tasks.c.state, "open", "done", "failed", "dropped"), _within(tasks.c.id, tasks.c.created_at))
    .returning(tasks.c.id)
)
"""Nobody will do what is open any more. One that somebody works on is given back first."""


IN_ROOM: Final[Mapping[Stock, _InRoom]] = {
    Stock.MESSAGES: _in_room(Stock.MESSAGES, signals.c.id, signals.c.address, *kept_words, act=FORGET_WORDS),
    Stock.EVENTS: _in_room(
        Stock.EVENTS, signals.c.id, signals.c.address, is_word(signals.c.kind, "due"), act=DROP_OWN_SIGNALS
    ),
    Stock.DELIVERIES: _in_room(Stock.DELIVERIES, deliveries.c.number, deliveries.c.address),
    Stock.APPROVALS: _in_room(Stock.APPROVALS, approvals.c.id, approvals.c.address),
    Stock.TASKS: _in_room(Stock.TASKS, tasks.c.id, tasks.c.room, act=DROP_TASKS),
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
        exists().where(tasks.c.room == THE_ROOM),
        exists().where(processes.c.room == THE_ROOM),
        exists().where(turns.c.session.in_(select(sessions.c.key).where(sessions.c.address == THE_ROOM))),
    )
)


def clear_deleted(duty: Duty, now: datetime, limit: int) -> Op[Cleared | None]:
    """One slice of each room that was deleted and not taken back; rooms of which nothing is left are told."""
    if not (yield from held(duty)):
        return None
    removed = 0
    bare: list[Address] = []
    if found := (yield TO_REMOVE, {"now": micros(now)}):  # what nobody works on any more is over
        yield from give_up_lost(now)
        yield from give_back_lapsed(now)
    for address, owner, deleted_at in found:
        if (yield SAID_SINCE, {"room": address, "deleted_at": deleted_at, "owner": owner})[0][0]:
            yield NO_MORE, {"room": address}  # somebody goes on there
            continue
        yield LOOKED_AT, {"room": address, "seen_at": _seen_at(micros(now), deleted_at)}
        removed += yield from _clear(address, now, limit)
        if not (yield ROWS_LEFT, {"room": address})[0][0]:
            bare.append(Address.parse(address))
    return Cleared(removed, tuple(bare))


def _seen_at(now: int, deleted_at: int) -> int:
    """Now, but never the instant until which it could be taken back: by that the two are told apart."""
    return now - 1 if now == deleted_at + TAKEN_BACK_MICROS else now


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
