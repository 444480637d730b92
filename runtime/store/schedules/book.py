"""The book of schedules: what is planned, by whom, and when it is due next."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, bindparam, func, literal_column, or_, select, update

from runtime.contract import Address, Identity, Person, PersonId, Role, Schedule, ScheduleId, ScheduleState, Task, Terms
from runtime.domain.machines import move
from runtime.domain.schedules import SCHEDULE_MOVES, ScheduleEvent
from runtime.store.common import add, fact, in_room, put
from runtime.store.schema import occurrences, people, schedules, zones
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment

SCHEDULES_READ: Final = 1_000

SCHEDULE_COLUMNS = (*schedules.columns, people.c.id, people.c.name, people.c.role)
_ALL = select(*SCHEDULE_COLUMNS).select_from(schedules.outerjoin(people, people.c.id == schedules.c.owner))
ONE = _ALL.where(schedules.c.id == bindparam("schedule"))
LISTED = (
    _ALL.where(schedules.c.state != literal_column("'removed'"))
    .order_by(schedules.c.next_at.is_(None), schedules.c.next_at, schedules.c.id)
    .limit(SCHEDULES_READ)
)
OF_FILE = _ALL.where(schedules.c.by_file == literal_column("1"), schedules.c.state != literal_column("'removed'"))
OF_ROOM = LISTED.where(in_room(schedules.c.home), schedules.c.state != literal_column("'ended'"))
DUE = (
    _ALL.where(is_word(schedules.c.state, "active"), schedules.c.due_at <= bindparam("now"))
    .order_by(schedules.c.due_at)
    .limit(bindparam("n", type_=Integer))
)
NEXT_DUE = select(
    select(func.min(schedules.c.due_at)).where(is_word(schedules.c.state, "active")).scalar_subquery(),
    select(func.min(occurrences.c.not_before)).where(is_word(occurrences.c.state, "planned")).scalar_subquery(),
)
ADD = add(schedules).on_conflict_do_nothing()
ADDED = ADD.returning(schedules.c.id)
SCHEDULE_LOCKED = (
    select(schedules.c.state, schedules.c.next_at, schedules.c.failures, schedules.c.home, schedules.c.name)
    .where(schedules.c.id == bindparam("schedule"))
    .with_for_update()
)
SET_STATE = (
    update(schedules)
    .where(schedules.c.id == bindparam("schedule"))
    .values(
        state=bindparam("new_state"),
        reason=bindparam("why"),
        failures=bindparam("failed"),
        next_at=bindparam("next"),
        due_at=bindparam("due"),
    )
)
WORK: Final = ("name", "task", "home", "addresses", "terms", "agent")
TIMES: Final = (*("rule", "rule_text", "state", "reason", "anchor_at"), *("starts_at", "ends_at", "next_at", "due_at"))


def _change(columns: tuple[str, ...]) -> Any:
    return (
        update(schedules)
        .where(schedules.c.id == bindparam("schedule"), schedules.c.state != literal_column("'removed'"))
        .values({name: bindparam(f"new_{name}") for name in columns})
        .returning(schedules.c.id)
    )


# A schedule may be fired while it is changed: a change of its work alone must not write back what was due before.
CHANGE_WORK = _change(WORK)
CHANGE = _change((*WORK, *TIMES))
SCHEDULE_NAMED = select(schedules.c.id).where(
    schedules.c.home == bindparam("home"),
    schedules.c.name == bindparam("name"),
    is_word(schedules.c.state, "active", "paused"),
    schedules.c.id != bindparam("schedule"),
)
COUNTS = select(
    func.count().filter(schedules.c.owner == bindparam("owner")),
    func.count().filter(schedules.c.home == bindparam("home")),
).where(
    is_word(schedules.c.state, "active", "paused"),
    or_(schedules.c.owner == bindparam("owner"), schedules.c.home == bindparam("home")),
)
ZONES = select(zones.c.subject, zones.c.zone).where(
    or_(zones.c.subject == bindparam("person"), zones.c.subject == bindparam("room"))
)
SET_ZONE = put(zones)


def row_of(schedule: Schedule, due_at: datetime | None) -> dict[str, object]:
    return {
        "id": schedule.id,
        "name": schedule.name,
        "rule": schedule.when,
        "rule_text": schedule.when_text,
        "task": schedule.task.to_json(),
        "home": str(schedule.home),
        "addresses": json.dumps([str(address) for address in schedule.to]),
        "terms": schedule.terms.to_json(),
        "state": schedule.state.value,
        "reason": schedule.reason,
        "owner": schedule.owner.id if schedule.owner else None,
        "actor": schedule.actor,
        "agent": schedule.agent,
        "by_file": int(schedule.by_file),
        "failures": schedule.failures,
        "created_at": micros(schedule.created_at),
        "anchor_at": micros(schedule.anchor_at),
        "starts_at": _micros(schedule.starts_at),
        "ends_at": _micros(schedule.ends_at),
        "next_at": _micros(schedule.next_at),
        "due_at": _micros(due_at),
    }


def schedule_of(row: tuple[Any, ...]) -> Schedule:
    values = dict(zip((column.name for column in schedules.columns), row, strict=False))
    person_id, name, role = row[-3:]
    return Schedule(
        id=ScheduleId(values["id"]),
        name=values["name"],
        when=values["rule"],
        when_text=values["rule_text"],
        task=Task.from_json(values["task"]),
        to=tuple(Address.parse(text) for text in json.loads(values["addresses"])),
        terms=Terms.from_json(values["terms"]),
        state=ScheduleState(values["state"]),
        created_at=moment(values["created_at"]),
        anchor_at=moment(values["anchor_at"]),
        owner=Person(PersonId(person_id), name, Role(role)) if person_id else None,
        actor=Identity(values["actor"]),
        by_file=bool(values["by_file"]),
        starts_at=maybe_moment(values["starts_at"]),
        ends_at=maybe_moment(values["ends_at"]),
        next_at=maybe_moment(values["next_at"]),
        failures=values["failures"],
        reason=values["reason"],
        agent=values["agent"],
    )


def _micros(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


def add_schedule(schedule: Schedule, due_at: datetime | None, by: str, now: datetime) -> Op[bool]:
    if not (yield ADDED, row_of(schedule, due_at)):
        return False
    yield from fact(now, "schedule added", by, schedule.id, f"{schedule.name}: {schedule.when_text}")
    return True


def change(schedule: Schedule, due_at: datetime | None, by: str, now: datetime, *, retimed: bool) -> Op[bool]:
    if (yield SCHEDULE_NAMED, {"home": str(schedule.home), "name": schedule.name, "schedule": schedule.id}):
        return False
    row, columns = row_of(schedule, due_at), (*WORK, *TIMES) if retimed else WORK
    values = {f"new_{name}": row[name] for name in columns} | {"schedule": schedule.id}
    if not (yield (CHANGE if retimed else CHANGE_WORK), values):
        return False
    yield from fact(now, "schedule changed", by, schedule.id, f"{schedule.name}: {schedule.when_text}")
    return True


def turn(
    schedule: ScheduleId,
    event: ScheduleEvent,
    reason: str,
    by: str,
    next_at: datetime | None,
    due_at: datetime | None,
    now: datetime,
) -> Op[bool]:
    """Pause, resume, end or remove; False where that is no move from its state, since somebody was faster."""
    rows = yield SCHEDULE_LOCKED, {"schedule": schedule}
    state = ScheduleState(rows[0][0]) if rows else ScheduleState.REMOVED
    if (state, event) not in SCHEDULE_MOVES:
        return False
    after = move(SCHEDULE_MOVES, state, event)
    failures = 0 if event is ScheduleEvent.RESUME else rows[0][2]
    yield (
        SET_STATE,
        {
            "schedule": schedule,
            "new_state": after.value,
            "why": reason,
            "failed": failures,
            "next": _micros(next_at),
            "due": _micros(due_at),
        },
    )
    yield from fact(now, f"schedule {event.value}", by, schedule, reason)
    return True


def one(schedule: ScheduleId) -> Op[Schedule | None]:
    rows = yield ONE, {"schedule": schedule}
    return schedule_of(rows[0]) if rows else None


def listed() -> Op[list[Schedule]]:
    return [schedule_of(row) for row in (yield LISTED, {})]


def of_file() -> Op[list[Schedule]]:
    return [schedule_of(row) for row in (yield OF_FILE, {})]


def planned_in(room: Address) -> Op[list[Schedule]]:
    """Schedules to come or at rest whose home is this room or a thread of it; of a thread its own."""
    return [schedule_of(row) for row in (yield OF_ROOM, {"room": str(room)})]


def due(now: datetime, limit: int) -> Op[list[Schedule]]:
    return [schedule_of(row) for row in (yield DUE, {"now": micros(now), "n": limit})]


def next_due() -> Op[datetime | None]:
    rows = yield NEXT_DUE, {}
    return maybe_moment(min((at for at in rows[0] if at is not None), default=None))


def counts(owner: str | None, home: Address) -> Op[tuple[int, int]]:
    rows = yield COUNTS, {"owner": owner, "home": str(home)}
    return rows[0][0], rows[0][1]


def zones_of(person: str, room: str) -> Op[dict[str, str]]:
    return dict((yield ZONES, {"person": person, "room": room}))


def keep_zone(subject: str, zone: str, by: str, now: datetime) -> Op[None]:
    yield SET_ZONE, {"subject": subject, "zone": zone}
    yield from fact(now, "zone set", by, subject, zone)
