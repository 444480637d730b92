"""Rows of triggers: how one is read, and the book of them, for settings and for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Integer, bindparam, delete, func, literal_column, or_, select, update

from runtime.contract import Address, Person, PersonId, Role
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import SAID_KINDS, EventTrigger, TriggerState
from runtime.store.common import add, fact, in_room
from runtime.store.schema import people, trigger_fires, triggers
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros

TRIGGERS_READ: Final = 2_000
_WITH_OWNER = select(*triggers.columns, people.c.id, people.c.name, people.c.role).select_from(
    triggers.outerjoin(people, people.c.id == triggers.c.owner)
)
TRIGGER_LOCKED = _WITH_OWNER.where(triggers.c.id == bindparam("trigger")).with_for_update(of=triggers)
_IN_TIME = or_(triggers.c.ends_at.is_(None), triggers.c.ends_at > bindparam("now"))
TRIGGERS_FOR_MESSAGES = (
    select(triggers)
    .where(is_word(triggers.c.event, *sorted(SAID_KINDS)), is_word(triggers.c.state, "active"), _IN_TIME)
    .order_by(triggers.c.id)
    .limit(TRIGGERS_READ)
)
TRIGGERS_FOR_EVENT = (
    select(triggers)
    .where(triggers.c.event == bindparam("event"), is_word(triggers.c.state, "active"), _IN_TIME)
    .order_by(triggers.c.id)
)
ALL_TRIGGERS = _WITH_OWNER.order_by(triggers.c.created_at, triggers.c.id).limit(bindparam("n", type_=Integer))
TRIGGERS_OF_ROOM = (
    _WITH_OWNER.where(in_room(triggers.c.home), _IN_TIME).order_by(triggers.c.created_at, triggers.c.id).limit(50)
)
TRIGGERS_OF_FILE = _WITH_OWNER.where(triggers.c.by_file == literal_column("1")).order_by(triggers.c.id)
ADD_TRIGGER = add(triggers).on_conflict_do_nothing().returning(triggers.c.id)
CHANGE_TRIGGER = (
    update(triggers)
    .where(triggers.c.id == bindparam("trigger"))
    .values({name: bindparam(f"new_{name}") for name in ("event", "room", "definition", "home", "state", "reason")})
)
SET_TRIGGER_STATE = (
    update(triggers)
    .where(triggers.c.id == bindparam("trigger"))
    .values(state=bindparam("new_state"), reason=bindparam("why"))
)
DROP_TRIGGER = delete(triggers).where(triggers.c.id == bindparam("trigger")).returning(triggers.c.name)
DROP_FIRES = delete(trigger_fires).where(trigger_fires.c.trigger == bindparam("trigger"))
TRIGGERS_OVER = select(triggers.c.id).where(triggers.c.ends_at <= bindparam("now"))
COUNT_OF_OWNER = select(func.count()).select_from(triggers).where(triggers.c.owner == bindparam("owner"))


class Row(NamedTuple):
    """A row of a trigger, in the order of its columns."""

    id: str
    name: str
    event: str
    room: str
    definition: str
    state: str
    reason: str
    by_file: int
    owner: str | None
    actor: str
    home: str
    fires: int
    fired_at: int | None
    ends_at: int | None
    created_at: int

    @property
    def trigger(self) -> EventTrigger:
        return EventTrigger.from_json(self.id, self.name, self.event, self.room, self.definition)


def kept_of(found: tuple[Any, ...]) -> KeptTrigger:
    """With the person behind its columns."""
    row, (person_id, name, role) = Row(*found[:-3]), found[-3:]
    return KeptTrigger(
        trigger=row.trigger,
        state=TriggerState(row.state),
        home=row.home,
        reason=row.reason,
        owner=Person(PersonId(person_id), name, Role(role)) if person_id else None,
        actor=row.actor,
        by_file=bool(row.by_file),
        fires=row.fires,
        fired_at=maybe_moment(row.fired_at),
        ends_at=maybe_moment(row.ends_at),
    )


def row_of(new: KeptTrigger, now: datetime) -> dict[str, object]:
    trigger = new.trigger
    return {
        "id": trigger.id,
        "name": trigger.name,
        "event": trigger.on.value,
        "room": trigger.room,
        "definition": trigger.to_json(),
        "state": new.state.value,
        "reason": "",
        "by_file": int(new.by_file),
        "owner": new.owner.id if new.owner else None,
        "actor": new.actor,
        "home": new.home,
        "fires": 0,
        "fired_at": None,
        "ends_at": new.ends_at and micros(new.ends_at),
        "created_at": micros(now),
    }


def for_messages(now: datetime) -> Op[list[EventTrigger]]:
    return [Row(*row).trigger for row in (yield TRIGGERS_FOR_MESSAGES, {"now": micros(now)})]


def listed(limit: int = TRIGGERS_READ) -> Op[list[KeptTrigger]]:
    return [kept_of(row) for row in (yield ALL_TRIGGERS, {"n": limit})]


def listed_in(room: Address, now: datetime) -> Op[list[KeptTrigger]]:
    """Triggers that people asked for in a room or a thread of it."""
    rows = yield TRIGGERS_OF_ROOM, {"room": str(room), "now": micros(now)}
    return [kept_of(row) for row in rows]


def add_trigger(new: KeptTrigger, most: int, by: str, now: datetime) -> Op[bool]:
    """A person's; false where they have as many as they may. The same id again is the same one."""
    for (over,) in (yield TRIGGERS_OVER, {"now": micros(now)}):
        yield from drop_trigger(over, "", now)
    if new.owner and (yield COUNT_OF_OWNER, {"owner": new.owner.id})[0][0] >= most:
        return False
    if (yield ADD_TRIGGER, row_of(new, now)):
        yield from fact(now, "trigger added", by, new.trigger.id, f"{new.trigger.name}: {new.trigger.on}")
    return True


def drop_trigger(trigger: str, by: str, now: datetime) -> Op[bool]:
    rows = yield DROP_TRIGGER, {"trigger": trigger}
    if not rows:
        return False
    yield DROP_FIRES, {"trigger": trigger}
    yield from fact(now, "trigger ended", by, trigger, rows[0][0])
    return True


def keep_as_file(wanted: Sequence[KeptTrigger], spared: Collection[str], by: str, now: datetime) -> Op[list[str]]:
    """Bring the triggers of the settings in line with `wanted`; changes in words. One that changed is active again, and
    keeps its count. `spared` are ids of those that can't be read yet."""
    before = {one.trigger.id: one for one in map(kept_of, (yield TRIGGERS_OF_FILE, {}))}
    told = []
    for ident in sorted(before.keys() - {one.trigger.id for one in wanted} - set(spared)):
        yield from drop_trigger(ident, by, now)
        told.append(f"trigger {before[ident].trigger.name!r} removed")
    for new in wanted:
        old = before.get(new.trigger.id)
        if old is None and (yield ADD_TRIGGER, row_of(new, now)):
            told.append(f"trigger {new.trigger.name!r} added")
            yield from fact(now, "trigger added", by, new.trigger.id, new.trigger.name)
        elif old and (old.trigger, old.home) != (new.trigger, new.home):
            row = row_of(new, now)
            changed = {f"new_{name}": row[name] for name in ("event", "room", "definition", "home", "state", "reason")}
            yield CHANGE_TRIGGER, changed | {"trigger": new.trigger.id}
            told.append(f"trigger {new.trigger.name!r} changed")
            yield from fact(now, "trigger changed", by, new.trigger.id, new.trigger.name)
    return told


def set_paused(trigger: str, by: str, now: datetime) -> Op[bool]:
    """Have one that is active let events pass until it is resumed."""
    rows = yield TRIGGER_LOCKED, {"trigger": trigger}
    if not rows or kept_of(rows[0]).state is not TriggerState.ACTIVE:
        return False
    why = f"paused by {by}"
    yield SET_TRIGGER_STATE, {"trigger": trigger, "new_state": TriggerState.PAUSED.value, "why": why}
    yield from fact(now, "trigger paused", by, trigger, rows[0][1])
    return True


def set_active(trigger: str, by: str, now: datetime) -> Op[bool]:
    """Let one that ended, was stopped or was paused fire again."""
    rows = yield TRIGGER_LOCKED, {"trigger": trigger}
    if not rows or rows[0][5] == TriggerState.ACTIVE:
        return False
    yield SET_TRIGGER_STATE, {"trigger": trigger, "new_state": TriggerState.ACTIVE.value, "why": ""}
    yield from fact(now, "trigger resumed", by, trigger, rows[0][1])
    return True
