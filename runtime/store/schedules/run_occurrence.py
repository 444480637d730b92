"""Occurrence that a run works for, where a schedule began it; and how its end becomes that of the occurrence.

A run of an occurrence has a session to itself: it reads nothing that was said in the room, and nothing said there waits
for it. Its address is the schedule's home. The run's trigger says where to look for one, the occurrence which run it has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, exists, literal_column, select, update

from runtime.contract import (
    Address,
    Content,
    DeliveryId,
    Job,
    Kind,
    NewId,
    OccurrenceId,
    OccurrenceState,
    Report,
    RunId,
    Schedule,
    ScheduleId,
    ScheduleState,
    Task,
    TaskKind,
    Trigger,
)
from runtime.domain.change_digest import seen_of
from runtime.domain.goals.progress import BEGIN_GOAL
from runtime.domain.machines import move
from runtime.domain.runs import FOR_SCHEDULES, RunState
from runtime.domain.schedules import (
    NO_MODEL,
    OCCURRENCE_MOVES,
    RESULT_MAX_CHARS,
    SCHEDULE_MOVES,
    OccurrenceEvent,
    ScheduleEvent,
    after_failure,
    put_off,
)
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.trigger import EventKind
from runtime.domain.workflows.calls import BEGIN
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import NewDelivery
from runtime.store.schedules.book import ONE, SCHEDULE_LOCKED, SET_STATE, schedule_of
from runtime.store.schema import deliveries, occurrences, schedules, signals, steps, usage
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment
from runtime.text.retold import retold
from runtime.text.words import marked, said_at, say

NOTHING_TOLD: Final[Mapping[str, object]] = {}

COMES_LATER: Final = marked("The report **{name}** comes later. {why}")
PUT_OFF: Final = marked("The report **{name}** couldn't be made. {why}")
NOT_MADE: Final = marked("The report **{name}** couldn't be made: {why}")
FAILED_IN_A_ROW: Final = marked("failed {number} times in a row: {why}")
PAUSED_TOLD: Final = marked(
    "The schedule **{name}** is paused, because it failed {number} times in a row. The last failure: {why}\n\n"
    'Once that is fixed, say "resume the schedule {name}" here, or run `signalbox schedules resume {id}`.'
)

OF_ID = select(occurrences).where(occurrences.c.id == bindparam("occurrence"))
LOCKED_ONE = OF_ID.with_for_update()
OF_RUN = select(occurrences).where(occurrences.c.run_id == bindparam("run"))
LOCKED_OF_RUN = OF_RUN.with_for_update()
SET = (
    update(occurrences)
    .where(occurrences.c.id == bindparam("occurrence"))
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in (
                *("state", "silent", "reason", "attempts", "run_id", "not_before"),
                *("started_at", "ended_at", "result", "wanted", "seen"),
            )
        }
    )
)
_DONE_BEFORE = (
    select(occurrences.c.result, occurrences.c.planned_at, occurrences.c.seen)
    .where(occurrences.c.schedule == bindparam("schedule"), is_word(occurrences.c.state, "done"))
    .order_by(occurrences.c.planned_at.desc())
    .limit(1)
)
LAST_DONE = _DONE_BEFORE
PREVIOUS = _DONE_BEFORE.where(occurrences.c.silent == literal_column("0"))
DATA = (
    select(steps.c.call_id, steps.c.result)
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.kind, "tool"))
    .order_by(steps.c.number)
)
BEGAN = select(steps.c.number).where(steps.c.run_id == bindparam("run"), is_word(steps.c.tool, BEGIN, BEGIN_GOAL))
"""The step with which a workflow or a goal begins."""
KINDS_BY_CALL: Final[Mapping[str, TaskKind]] = {BEGIN: TaskKind.WORKFLOW, BEGIN_GOAL: TaskKind.GOAL}
FIRST_CALL = (
    select(
        steps.c.tool,
        exists().where(usage.c.run_id == bindparam("run"), usage.c.model != literal_column(f"'{NO_MODEL}'")),
    )
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.kind, "tool"))
    .order_by(steps.c.number)
    .limit(1)
)
TOLD = select(deliveries.c.ordinal).where(deliveries.c.origin == bindparam("origin"))
FAILURES = update(schedules).where(schedules.c.id == bindparam("schedule")).values(failures=bindparam("failed"))
ANSWER = (
    update(signals)
    .where(signals.c.run_id == bindparam("run"), signals.c.answered_at.is_(None))
    .values(answered_at=bindparam("at"))
)


class Kept(NamedTuple):
    """A row of an occurrence, in the order of its columns."""

    id: str
    schedule: str
    planned_at: int
    state: str
    manual: int
    silent: int
    reason: str
    attempts: int
    run_id: str | None
    not_before: int | None
    started_at: int | None
    ended_at: int | None
    result: str
    wanted: int
    created_at: int
    seen: str
    report: str
    home: str


class Held(NamedTuple):
    """Schedule as `SCHEDULE_LOCKED` reads it."""

    state: str
    next_at: int | None
    failures: int
    home: str
    name: str


def job_of(run: RunId, trigger: Trigger) -> Op[Job | None]:
    """The occurrence that a run works for, as it needs to know it; None for a conversation's."""
    rows = (yield OF_RUN, {"run": run}) if trigger in FOR_SCHEDULES else []
    if not rows:
        return None
    row = Kept(*rows[0])
    found = yield from _work_of(row)
    task = yield from _task_begun(run, found.task)
    told, last = (yield PREVIOUS, {"schedule": row.schedule}), (yield LAST_DONE, {"schedule": row.schedule})
    return Job(
        OccurrenceId(row.id),
        ScheduleId(row.schedule),
        found.name,
        task,
        found.to,
        found.terms,
        moment(row.planned_at),
        previous=told[0][0] if told else "",
        previous_at=moment(told[0][1]) if told else None,
        seen=json.loads(last[0][2] or "{}") if last else {},
        zone=found.zone,
    )


def _work_of(row: Kept) -> Op[Schedule | Report]:
    """The schedule or report that an occurrence is made for."""
    if row.report:
        return Report.from_json(OccurrenceId(row.id), row.report)
    return schedule_of((yield ONE, {"schedule": row.schedule})[0])


def _task_begun(run: RunId, now: Task) -> Op[Task]:
    """The work of a run as it began with it, whatever its schedule says by now.

    A workflow or a goal stands in its own first call, and a prompt in the words that the run began with.
    """
    rows = yield FIRST_CALL, {"run": run}
    if not rows:
        return now  # it did nothing yet
    tool, asked_model = rows[0]
    kind = TaskKind.PROMPT if asked_model else KINDS_BY_CALL.get(tool, now.kind)
    return now if now.kind is kind else Task(kind, "")


def _held(row: Kept) -> Op[Held]:
    """Its schedule, locked; for a report the like of one that is over."""
    if row.report:
        report = Report.from_json(OccurrenceId(row.id), row.report)
        return Held(ScheduleState.REMOVED, None, 0, str(report.home), report.name)
    return Held(*(yield SCHEDULE_LOCKED, {"schedule": row.schedule})[0])


def ended(
    run: RunId,
    trigger: Trigger,
    state: RunState,
    text: str,
    shown: int,
    now: datetime,
    new_id: NewId,
    until: datetime | None = None,
) -> Op[tuple[Address, ...] | None]:
    """End the occurrence of a run that is over and made `shown` deliveries; where a courier is to look beside.

    None: it worked for none. `until`: see `protocol.RunStore.finish`.
    """
    rows = (yield LOCKED_OF_RUN, {"run": run}) if trigger in FOR_SCHEDULES else []
    if not rows:
        return None
    row = Kept(*rows[0])
    if row.state != OccurrenceState.STARTED:
        return ()
    if not shown:
        yield ANSWER, {"run": run, "at": micros(now)}
    schedule = yield from _held(row)
    if (yield BEGAN, {"run": run}):
        yield from fact(now, "workflow ended", schedule.name, run, state.value)
    match state:
        case RunState.DONE:
            seen = json.dumps(seen_of((yield DATA, {"run": run})), sort_keys=True)
            told = {
                "new_result": text[:RESULT_MAX_CHARS],
                "new_silent": int(not shown),
                "new_wanted": shown,
                "new_seen": seen,
            }
            yield from set_occurrence(row, OccurrenceEvent.FINISH, now, told=told)
            if schedule.failures and not row.manual:
                yield FAILURES, {"schedule": row.schedule, "failed": 0}
            return ()
        case RunState.STOPPED:
            yield from set_occurrence(row, OccurrenceEvent.FAIL, now, reason=text)
            return ()
        case _ if until:
            return (yield from _put_off(row, schedule, text, until, now, new_id))
        case _:
            return (yield from _failed(row, schedule, text, now, new_id))


def _put_off(
    row: Kept, schedule: Held, text: str, until: datetime, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...]]:
    """Nothing can be done before `until`: tried again then, or left to the next instant. That is no failure of its schedule,
    and its home is told once, however many instants come before."""
    again = put_off(until, maybe_moment(schedule.next_at), manual=bool(row.manual))
    event = OccurrenceEvent.AGAIN if again else OccurrenceEvent.FAIL
    yield from set_occurrence(row, event, now, reason=text, not_before=again)
    about = f"{row.schedule or row.id}:{micros(until)}"
    if (yield TOLD, {"origin": f"schedule:{about}"}):
        return ()
    told = _words(schedule.home, COMES_LATER if again else PUT_OFF, name=schedule.name, why=text)
    return (yield from _tell(about, schedule.home, told, now, new_id))


def _failed(row: Kept, schedule: Held, text: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Tried again later, given up, or so often in a row that its schedule stops and its home is told."""
    failures = schedule.failures + (0 if row.manual else 1)
    next_at = maybe_moment(schedule.next_at)
    has_begun = bool((yield BEGAN, {"run": row.run_id}))  # another try would do its steps once more
    is_once = bool(row.manual) or has_begun
    then = after_failure(attempts=row.attempts, failures=failures, now=now, next_at=next_at, manual=is_once)
    event = OccurrenceEvent.AGAIN if then.again else OccurrenceEvent.FAIL
    yield from set_occurrence(row, event, now, reason=text, not_before=then.again)
    yield FAILURES, {"schedule": row.schedule, "failed": failures}
    if not then.again:
        yield from _triggers(row, schedule, text, now, new_id)
    if then.pause and schedule.state == ScheduleState.ACTIVE:
        return (yield from _pause(row.schedule, schedule, failures, text, now, new_id))
    if not then.again:
        told = _words(schedule.home, "{why}" if has_begun else NOT_MADE, name=schedule.name, why=text)
        return (yield from _tell(row.id, schedule.home, told, now, new_id))
    return ()


def _triggers(row: Kept, schedule: Held, text: str, now: datetime, new_id: NewId) -> Op[None]:
    """Triggers that wait for a schedule to fail. Also what one of them began may fail: then it counts as its own."""
    from runtime.store.triggers.firing import happened  # which needs this module

    told, run = f"{schedule.name}: {text}", RunId(row.run_id) if row.run_id else None
    event = Happening(
        EventKind.SCHEDULE_FAILED, f"{row.id}:{row.attempts}", Address.parse(schedule.home), told, schedule.name, run
    )
    yield from happened(event, now, new_id)


def _pause(schedule: str, row: Held, failures: int, text: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    after = move(SCHEDULE_MOVES, ScheduleState.ACTIVE, ScheduleEvent.PAUSE)
    why = FAILED_IN_A_ROW.format(number=failures, why=text)
    yield (
        SET_STATE,
        {
            "schedule": schedule,
            "new_state": after.value,
            "why": why,
            "failed": failures,
            "next": None,
            "due": None,
        },
    )
    yield from fact(now, "schedule pause", "", schedule, why)
    told = _words(row.home, PAUSED_TOLD, name=row.name, number=failures, why=text, id=schedule)
    return (yield from _tell(f"{schedule}:{micros(now)}", row.home, told, now, new_id))


def _words(home: str, text: str, *, why: str, **values: object) -> str:
    """A notice in the language of its room; `why` was written in English, for the record."""
    with said_at(Address.parse(home)):
        return say(text, why=retold(why), **values)


def _tell(about: str, home: str, text: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    address = Address.parse(home)
    new = NewDelivery(DeliveryId(new_id()), f"schedule:{about}", 0, Kind.REPORT, address, Content(text))
    yield ADD_DELIVERY, delivery_row(new, now)
    return (address,)


def set_occurrence(
    row: Kept,
    event: OccurrenceEvent,
    now: datetime,
    *,
    reason: str = "",
    not_before: datetime | None = None,
    told: Mapping[str, object] = NOTHING_TOLD,
) -> Op[None]:
    after = move(OCCURRENCE_MOVES, OccurrenceState(row.state), event)
    values = values_of(row) | {
        "new_state": after.value,
        "new_reason": reason,
        "new_not_before": None if not_before is None else micros(not_before),
        "new_ended_at": micros(now),
        **told,
    }
    yield SET, values


def values_of(row: Kept) -> dict[str, object]:
    """Values of a row, as the parameters that leave it as it is."""
    names = (
        "silent",
        "reason",
        "attempts",
        "run_id",
        "not_before",
        "started_at",
        "ended_at",
        "result",
        "wanted",
        "seen",
    )
    return {"occurrence": row.id, **{f"new_{name}": getattr(row, name) for name in names}}
