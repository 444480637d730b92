"""Instants of schedules: fired once each, and started with a signal of their own. `run_occurrence` has how they end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Integer, bindparam, func, literal_column, or_, select, update

from runtime.contract import (
    Address,
    Content,
    NewId,
    Occurrence,
    OccurrenceId,
    OccurrenceState,
    Report,
    RunId,
    Schedule,
    ScheduleId,
    ScheduleState,
    SignalId,
    TaskKind,
    Trigger,
)
from runtime.domain.machines import move
from runtime.domain.schedules import (
    OVERLAPS,
    SCHEDULE_MOVES,
    SPENT,
    Firing,
    Instant,
    OccurrenceEvent,
    ScheduleEvent,
    said,
    session_of,
)
from runtime.store.common import OPEN_LANE, add, fact, fresh_lane
from runtime.store.delegation.costs import MONEY, with_below
from runtime.store.own_signals import OwnSignal, add_own
from runtime.store.schedules.book import ONE, SCHEDULE_LOCKED, schedule_of
from runtime.store.schedules.run_occurrence import (
    LOCKED_ONE,
    OF_ID,
    OF_RUN,
    PREVIOUS,
    SET,
    Held,
    Kept,
    set_occurrence,
    values_of,
)
from runtime.store.schema import deliveries, occurrences, parts, runs, schedules, usage
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment

PLATFORM: Final = "timer"
DAY: Final = timedelta(days=1)

ADD = add(occurrences).on_conflict_do_nothing()
ADDED = ADD.returning(occurrences.c.id)
ADVANCE = (
    update(schedules)
    .where(schedules.c.id == bindparam("schedule"))
    .values(next_at=bindparam("next"), due_at=bindparam("due"), state=bindparam("new_state"))
)
AT_WORK = select(occurrences.c.id).where(
    occurrences.c.schedule == bindparam("schedule"), is_word(occurrences.c.state, "started")
)
COST = (
    select(MONEY)
    .select_from(
        tree := with_below(
            select(runs.c.id)
            .join(occurrences, occurrences.c.run_id == runs.c.id)
            .where(
                occurrences.c.schedule == bindparam("schedule"),
                or_(runs.c.ended_at.is_(None), runs.c.ended_at > bindparam("since")),
            )
        )
    )
    .join(usage, usage.c.run_id == tree.c.run)
    .where(usage.c.at > bindparam("since"))
)
"""With all that its runs handed on."""
PLAN_AGAIN = (
    select(occurrences.c.id)
    .where(is_word(occurrences.c.state, "planned"), occurrences.c.not_before <= bindparam("now"))
    .order_by(occurrences.c.not_before)
    .limit(bindparam("n", type_=Integer))
)
OCCURRENCES_WAITING = select(occurrences.c.id).where(
    occurrences.c.schedule == bindparam("schedule"), is_word(occurrences.c.state, "planned")
)
HISTORY = (
    select(
        *occurrences.columns,
        select(func.count(func.distinct(deliveries.c.address)))
        .where(
            deliveries.c.origin == literal_column("'occurrence:'").concat(occurrences.c.id),
            is_word(deliveries.c.state, "shown"),
        )
        .correlate(occurrences)
        .scalar_subquery(),
    )
    .where(occurrences.c.schedule == bindparam("schedule"))
    .order_by(occurrences.c.planned_at.desc())
    .limit(bindparam("n", type_=Integer))
)
LAST_SHOWN = (
    select(parts.c.receipt, deliveries.c.content)
    .select_from(
        occurrences.join(
            deliveries, deliveries.c.origin == literal_column("'occurrence:'").concat(occurrences.c.id)
        ).join(parts, parts.c.delivery_id == deliveries.c.id)
    )
    .where(
        occurrences.c.schedule == bindparam("schedule"),
        is_word(occurrences.c.state, "done"),
        occurrences.c.silent == literal_column("0"),
        deliveries.c.address == bindparam("room"),
        parts.c.ordinal == literal_column("1"),
        is_word(parts.c.state, "shown"),
    )
    .order_by(occurrences.c.planned_at.desc())
    .limit(1)
)
# ------------------------------------------------------------------------------------------------------------- firing


def fire(firing: Firing, now: datetime, new_id: NewId) -> Op[bool | None]:
    """Write what has come, start what is to be started, and move on to the next instant: one transaction.

    Shape:  whether any lane became ready; None where another process was faster, and nothing is written.
    """
    rows = yield SCHEDULE_LOCKED, {"schedule": firing.schedule}
    held = Held(*rows[0]) if rows else None
    if held is None or held.state != ScheduleState.ACTIVE or held.next_at != micros(firing.expected):
        return None
    schedule = schedule_of((yield ONE, {"schedule": firing.schedule})[0])
    busy = bool((yield AT_WORK, {"schedule": schedule.id}))
    yield from _overtake(schedule, now)
    spent = yield from _is_spent(schedule, now)
    started = False
    for instant in firing.instants:
        started |= yield from _fired(schedule, _judged(instant, busy=busy, spent=spent), now, new_id)
    ends = firing.next_at is None
    after = move(SCHEDULE_MOVES, ScheduleState.ACTIVE, ScheduleEvent.END) if ends else ScheduleState.ACTIVE
    next_at = None if firing.next_at is None else micros(firing.next_at)
    due_at = None if firing.due_at is None else micros(firing.due_at)
    yield ADVANCE, {"schedule": schedule.id, "next": next_at, "due": due_at, "new_state": after.value}
    return started


def _judged(instant: Instant, *, busy: bool, spent: bool) -> Instant:
    if instant.skip or not (busy or spent):
        return instant
    return Instant(instant.planned_at, OVERLAPS if busy else SPENT)


def _overtake(schedule: Schedule, now: datetime) -> Op[None]:
    """One that waits to be tried again gives way to the next."""
    for (waiting,) in (yield OCCURRENCES_WAITING, {"schedule": schedule.id}):
        row = Kept(*(yield OF_ID, {"occurrence": waiting})[0])
        yield from set_occurrence(
            row, OccurrenceEvent.FAIL, now, reason=f"{row.reason} The next run came first.".strip()
        )


def _is_spent(schedule: Schedule, now: datetime) -> Op[bool]:
    if not schedule.terms.most_micros:
        return False
    rows = yield COST, {"schedule": schedule.id, "since": micros(now - DAY)}
    return int(rows[0][0]) >= schedule.terms.most_micros


def _fired(schedule: Schedule, instant: Instant, now: datetime, new_id: NewId) -> Op[bool]:
    """The row of one instant; whether its run is to begin."""
    fresh = OccurrenceId(new_id())
    state = OccurrenceState.SKIPPED if instant.skip else OccurrenceState.STARTED
    row = _fresh(fresh, schedule.id, instant.planned_at, state, now) | {"reason": instant.skip}
    if not (yield ADDED, row):
        return False
    if instant.skip:
        return False
    yield from _start(schedule, fresh, instant.planned_at, 1, Trigger.SCHEDULE, now, new_id)
    return True


def _fresh(
    occurrence: OccurrenceId, schedule: str, planned_at: datetime, state: OccurrenceState, now: datetime
) -> dict[str, object]:
    return {
        "id": occurrence,
        "schedule": schedule,
        "planned_at": micros(planned_at),
        "state": state.value,
        "manual": 0,
        "silent": 0,
        "reason": "",
        "attempts": 0,
        "run_id": None,
        "not_before": None,
        "started_at": None,
        "ended_at": None,
        "result": "",
        "wanted": 0,
        "created_at": micros(now),
        "seen": "",
        "report": "",
        "home": "",
    }


def _start(
    work: Schedule | Report,
    occurrence: OccurrenceId,
    planned_at: datetime,
    attempt: int,
    trigger: Trigger,
    now: datetime,
    new_id: NewId,
    chain: Sequence[str] = (),
) -> Op[None]:
    """The signal of an occurrence, in a lane of its own: its id becomes the run's."""
    signal, key = SignalId(new_id()), session_of(work, occurrence, attempt)
    previous = yield PREVIOUS, {"schedule": work.id}
    text = said(work, in_zone(planned_at, work.zone), previous[0][0] if previous else "")
    yield OPEN_LANE, fresh_lane(key, work.agent, work.home, now)
    yield from add_own(
        OwnSignal(
            id=signal,
            platform=PLATFORM,
            key=key,
            trigger=trigger,
            session=key,
            room=str(work.home),
            text=text,
            actor=work.actor or PLATFORM,
            actor_name=work.owner.name if work.owner else work.name,
            person=work.owner.id if work.owner else None,
            chain=chain,
        ),
        now,
    )
    row = Kept(*(yield OF_ID, {"occurrence": occurrence})[0])
    changes = {"new_attempts": attempt, "new_run_id": signal, "new_started_at": micros(now), "new_not_before": None}
    yield SET, values_of(row) | {"new_state": OccurrenceState.STARTED.value} | changes
    yield from fact(now, "schedule fired", work.name, occurrence, f"{work.id} {planned_at:%Y-%m-%dT%H:%M:%SZ}")
    if work.task.kind is TaskKind.WORKFLOW:
        yield from fact(now, "workflow begun", work.name, signal, work.task.text)


def in_zone(at: datetime, zone: str) -> str:
    """An instant by the clocks of its schedule."""
    from runtime.calendar import zone_named  # not loaded where nothing is planned

    return f"{at.astimezone(zone_named(zone)):%A, %Y-%m-%d %H:%M} ({zone})"


def run_now(
    schedule: ScheduleId, by: str, now: datetime, new_id: NewId, occurrence: OccurrenceId | None = None
) -> Op[Occurrence | None]:
    """One occurrence that a person asked for, whatever its schedule's state. Of two with the same id the first counts."""
    rows = yield ONE, {"schedule": schedule}
    if not rows:
        return None
    found = schedule_of(rows[0])
    fresh = occurrence or OccurrenceId(new_id())
    row = _fresh(fresh, found.id, now, OccurrenceState.STARTED, now) | {"manual": 1}
    if not (yield ADDED, row):
        return None  # two in one microsecond: the other one counts
    yield from fact(now, "schedule run", by, schedule, fresh)
    yield from _start(found, fresh, now, 1, Trigger.MANUAL, now, new_id)
    return occurrence_of((yield OF_ID, {"occurrence": fresh})[0])


def begin_report(report: Report, by: str, now: datetime, new_id: NewId, chain: Sequence[str] = ()) -> Op[None]:
    """An occurrence that no schedule planned: what it is stands in it. `chain` names the triggers that began it."""
    row = _fresh(report.id, report.id, now, OccurrenceState.STARTED, now)
    if not (yield ADDED, row | {"manual": 1, "report": report.to_json(), "home": str(report.home)}):
        return  # a call that was cut by a kill is made again
    yield from fact(now, "schedule run", by, report.id, report.name)
    yield from _start(report, report.id, now, 1, Trigger.MANUAL, now, new_id, chain)


def again(occurrence: OccurrenceId, now: datetime, new_id: NewId) -> Op[bool]:
    """One more try of an occurrence that failed; whether its lane became ready."""
    rows = yield LOCKED_ONE, {"occurrence": occurrence}
    row = Kept(*rows[0]) if rows else None
    if row is None or row.state != OccurrenceState.PLANNED:
        return False
    schedule = schedule_of((yield ONE, {"schedule": row.schedule})[0])
    if schedule.state is ScheduleState.ACTIVE or schedule.state is ScheduleState.ENDED:
        attempt = row.attempts + 1
        yield from _start(schedule, occurrence, moment(row.planned_at), attempt, Trigger.SCHEDULE, now, new_id)
        return True
    yield from set_occurrence(
        row, OccurrenceEvent.FAIL, now, reason=f"{row.reason} Its schedule is {schedule.state}.".strip()
    )
    return False


# -------------------------------------------------------------------------------------------------------------- reading


def occurrence_of(row: tuple[Any, ...]) -> Occurrence:
    """With the number of reports on screen behind its columns, where it was read."""
    kept, shown = Kept(*row[: len(Kept._fields)]), row[len(Kept._fields) :]
    return Occurrence(
        OccurrenceId(kept.id),
        ScheduleId(kept.schedule),
        moment(kept.planned_at),
        OccurrenceState(kept.state),
        bool(kept.manual),
        bool(kept.silent),
        kept.reason,
        kept.attempts,
        RunId(kept.run_id) if kept.run_id else None,
        maybe_moment(kept.started_at),
        maybe_moment(kept.ended_at),
        kept.result,
        shown[0] if shown else 0,
        kept.wanted,
        Report.from_json(OccurrenceId(kept.id), kept.report) if kept.report else None,
    )


def history(schedule: ScheduleId, most: int) -> Op[list[Occurrence]]:
    return [occurrence_of(row) for row in (yield HISTORY, {"schedule": schedule, "n": most})]


def occurrence_by_run(run: RunId) -> Op[Occurrence | None]:
    rows = yield OF_RUN, {"run": run}
    return occurrence_of(rows[0]) if rows else None


def occurrence_by_id(occurrence: OccurrenceId) -> Op[Occurrence | None]:
    rows = yield OF_ID, {"occurrence": occurrence}
    return occurrence_of(rows[0]) if rows else None


def due_again(now: datetime, limit: int) -> Op[list[OccurrenceId]]:
    return [OccurrenceId(row[0]) for row in (yield PLAN_AGAIN, {"now": micros(now), "n": limit})]


def report_root(schedule: ScheduleId, room: Address) -> Op[str]:
    """Root under which the last report there stands, or else that report: so it is the same for all that follow."""
    rows = yield LAST_SHOWN, {"schedule": schedule, "room": str(room)}
    return (Content.from_json(rows[0][1]).under or rows[0][0] or "") if rows else ""
