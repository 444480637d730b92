"""Conversations that their owner deletes: gone from the list at once, taken back within seconds, and then really removed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, exists, literal_column, or_, select, update

from runtime.contract import (
    Address,
    Identity,
    NewId,
    Outcome,
    Person,
    Signal,
    SignalId,
    Stopped,
    TaskState,
    Trigger,
    Verdict,
)
from runtime.domain.copies.copy import IMPORTED
from runtime.store.common import fact, put
from runtime.store.intake.run_stop import stop
from runtime.store.operations.history import room_owner
from runtime.store.protocol import Gate, Taken
from runtime.store.schema import deleted_rooms, schedules, sessions, signals, triggers
from runtime.store.sql.driver import Op, is_like, is_word, micros
from runtime.store.tasks.board import listed
from runtime.store.tasks.turning import drop

TAKEN_BACK_WITHIN: Final = timedelta(seconds=70)
"""The page offers it for thirty seconds, and for a minute to whoever stays at the offer; a slow network may take a few more."""
TAKEN_BACK_MICROS: Final = TAKEN_BACK_WITHIN // timedelta(microseconds=1)
NOT_YOURS: Final = "Only the person who began this conversation can delete it. You can archive it."
OTHERS_HERE: Final = "Others have written here too, so I can't delete it. You can archive it."
PLANNED_HERE: Final = "A schedule posts here. End it first, or archive the conversation."
WATCHED_HERE: Final = "A trigger works here. Remove it first, or archive the conversation."

SPEAKERS = (
    select(signals.c.actor)
    .where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),
        ~is_like(signals.c.actor, f"{IMPORTED}%"),  # it belongs to whoever imported it
    )
    .group_by(signals.c.actor)
    .limit(2)
)
PLANNED_IN_ROOM = select(
    exists().where(
        is_word(schedules.c.state, "active", "paused"),
        or_(schedules.c.home == bindparam("room"), schedules.c.addresses.contains(bindparam("room"))),
    ),
    exists().where(
        triggers.c.home == bindparam("room"),
        is_word(triggers.c.state, "active", "paused"),
        or_(triggers.c.ends_at.is_(None), triggers.c.ends_at > bindparam("now")),
    ),
)
PUT_DELETED = put(deleted_rooms)
WITHDRAW_WAITING = (
    update(signals)
    .where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.state, "waiting"),
        or_(is_word(signals.c.kind, "said"), is_word(signals.c.trigger, Trigger.HAND_OVER)),
    )
    .values(state="stale", answered_at=bindparam("at"))
    .returning(signals.c.session)
)
FEWER_WAIT = (
    update(sessions).where(sessions.c.key == bindparam("k")).values(waiting=sessions.c.waiting - bindparam("less"))
)
TAKE_BACK = (
    delete(deleted_rooms)
    .where(
        deleted_rooms.c.address == bindparam("room"),
        deleted_rooms.c.owner == bindparam("who"),
        deleted_rooms.c.due_at > bindparam("now"),
        # A removal that began, on a node whose clock is ahead perhaps, has moved it.
        deleted_rooms.c.due_at == deleted_rooms.c.deleted_at + literal_column(str(TAKEN_BACK_MICROS)),
    )
    .returning(deleted_rooms.c.address)
)


def delete_room(
    signal: Signal, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Note that its owner deleted a room, and end all that is under way there; the signal is stored already."""
    room = str(signal.address)
    if objection := (yield from _objection(signal.actor, signal.address, now)):
        return Taken(Verdict(Outcome.UNCHANGED, signal_id, objection))
    due = micros(now + TAKEN_BACK_WITHIN)
    yield PUT_DELETED, {"address": room, "owner": signal.actor, "deleted_at": micros(now), "due_at": due}
    yield from fact(now, "conversation deleted", who.name, signal_id, room)
    taken = yield from stop(signal, Stopped(), signal_id, who, gate, now, new_id)
    withdrawn = yield WITHDRAW_WAITING, {"room": room, "at": micros(now)}
    for session, less in Counter(session for (session,) in withdrawn).items():
        yield FEWER_WAIT, {"k": session, "less": less}
    taken = yield from _drop_tasks(taken, signal.address, who, now, new_id)
    return replace(taken, verdict=Verdict(Outcome.DECIDED, signal_id))


def _drop_tasks(taken: Taken, room: Address, who: Person, now: datetime, new_id: NewId) -> Op[Taken]:
    """Drop what is to be done in a room, so that nobody begins with it any more; added to what ended."""
    for state in (TaskState.OPEN, TaskState.CLAIMED):
        for task in (yield from listed(room, state, now)):
            turned = yield from drop(task.id, room, who, now, new_id)
            if not isinstance(turned, str):
                taken = replace(
                    taken,
                    stop_runs=(*taken.stop_runs, *turned.stop_runs),
                    deliveries=(*taken.deliveries, *turned.rooms),
                    ended=(*taken.ended, *turned.ended),
                )
    return taken


def _objection(who: Identity, address: Address, now: datetime) -> Op[str]:
    """The reason somebody can't delete a room; empty for none."""
    if (yield from room_owner(address)) != who:
        return NOT_YOURS
    room = str(address)
    if len((yield SPEAKERS, {"room": room})) > 1:
        return OTHERS_HERE
    planned, watched = (yield PLANNED_IN_ROOM, {"room": room, "now": micros(now)})[0]
    return PLANNED_HERE if planned else WATCHED_HERE if watched else ""


def take_back(owner: Identity, name: str, address: Address, now: datetime) -> Op[bool]:
    """Have a deleted room as it was; False where it is too late. What was stopped stays so."""
    found = yield TAKE_BACK, {"room": str(address), "who": owner, "now": micros(now)}
    if found:
        yield from fact(now, "conversation restored", name, str(address), "")
    return bool(found)
