"""Workflows that were begun, each with how far it is: read from the calls of its run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, Text, bindparam, exists, func, literal_column, or_, select

from runtime.chat.views.workflows import Begun
from runtime.contract import Address, OccurrenceId, OccurrenceState, Report, RunId, Task, TaskKind
from runtime.domain.runs import RunState, WaitKind
from runtime.domain.workflows.record import standing_in
from runtime.store.common import ends_with
from runtime.store.runs.steps import calls_of
from runtime.store.schema import (
    approvals,
    children,
    occurrences,
    runs,
    schedules,
    sessions,
    signals,
    steps,
    waits,
)
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment

BEGUN_MAX: Final = 50
LOOKED_THROUGH: Final = 500
"""Reports and instants among which workflows are looked for."""
_BEGUN = (
    select(
        occurrences.c.id,
        occurrences.c.report,
        schedules.c.task,
        schedules.c.name,
        occurrences.c.run_id,
        occurrences.c.created_at,
        occurrences.c.ended_at,
        occurrences.c.state,
        occurrences.c.reason,
        runs.c.state,
        runs.c.address,
        signals.c.actor_name,
        signals.c.address,
        sessions.c.agent,
    )
    .outerjoin(schedules, schedules.c.id == occurrences.c.schedule)
    .outerjoin(runs, runs.c.id == occurrences.c.run_id)
    .outerjoin(sessions, sessions.c.key == runs.c.session)
    .outerjoin(signals, signals.c.id == occurrences.c.run_id)
    .where(
        or_(
            occurrences.c.report.like(literal_column(f"'%{TaskKind.WORKFLOW}%'")),
            schedules.c.task.like(literal_column(f"'%{TaskKind.WORKFLOW}%'")),
        )
    )
    .order_by(occurrences.c.id.desc())
    .limit(bindparam("n", type_=Integer))
)
NEWEST_BEGUN = _BEGUN
OPEN_HERE = _BEGUN.where(is_word(occurrences.c.state, "started"), occurrences.c.home == bindparam("room"))
BEGUN_CALLED = _BEGUN.where(
    or_(
        occurrences.c.id == bindparam("name"),
        occurrences.c.run_id == bindparam("name"),
        ends_with(occurrences.c.id, bindparam("name", type_=Text)),
    )
)
BEGUN_SINCE = (
    select(func.count())
    .select_from(occurrences)
    .where(
        occurrences.c.home == bindparam("room"),
        occurrences.c.created_at > bindparam("since"),
        occurrences.c.report.like(literal_column(f"'%{TaskKind.WORKFLOW}%'")),
    )
)
WAITING_CALLS = (
    select(steps.c.call_id, waits.c.kind)
    .join(waits, (waits.c.run_id == steps.c.run_id) & (waits.c.step == steps.c.number))
    .where(
        steps.c.run_id == bindparam("run"),
        waits.c.settled_at.is_(None),
        is_word(waits.c.kind, WaitKind.APPROVAL, WaitKind.TIMER),
    )
)
ASKING_PIECES = (
    select(steps.c.call_id)
    .join(children, (children.c.parent_run == steps.c.run_id) & (children.c.parent_step == steps.c.number))
    .where(
        steps.c.run_id == bindparam("run"),
        is_word(children.c.state, "open"),
        exists().where(approvals.c.run_id == children.c.id, is_word(approvals.c.state, "pending")),
    )
)
RUN_WORDS: Final = {RunState.RUNNING: "at work", RunState.PARKED: "waiting", RunState.READY: "at work"}


def at_work(room: Address) -> Op[list[Begun]]:
    """Workflows of a room that are not over, the newest first."""
    return (yield from _read((yield OPEN_HERE, {"room": str(room), "n": LOOKED_THROUGH})))


def begun_since(room: Address, since: datetime) -> Op[int]:
    """Number of those begun in a room, at work or over."""
    return int((yield BEGUN_SINCE, {"room": str(room), "since": micros(since)})[0][0])


def newest() -> Op[list[Begun]]:
    """Workflows that were begun last, the newest first."""
    return (yield from _read((yield NEWEST_BEGUN, {"n": LOOKED_THROUGH})))


def called(name: str) -> Op[Begun | None]:
    """The newest one with that id, or whose id ends so, or that this run works on."""
    given = {"name": name, "n": LOOKED_THROUGH}
    found = yield from _read((yield BEGUN_CALLED, given))
    return found[0] if found else None


def waiting_calls(run: RunId) -> Op[dict[str, WaitKind]]:
    """Calls of a run that wait for a person or a time, by their ids; also those that another run works on, which waits for a
    person."""
    asking = dict.fromkeys([call for (call,) in (yield ASKING_PIECES, {"run": run})], WaitKind.APPROVAL)
    return asking | {call: WaitKind(kind) for call, kind in (yield WAITING_CALLS, {"run": run})}


def _read(rows: Sequence[Sequence[Any]]) -> Op[list[Begun]]:
    found: list[Begun] = []
    for row in rows:
        if len(found) < BEGUN_MAX and (begun := (yield from _begun(*row))):
            found.append(begun)
    return found


def _begun(
    occurrence: str,
    report: str | None,
    task: str | None,
    schedule: str | None,
    run: str | None,
    created: int,
    ended: int | None,
    stage: str,
    reason: str,
    state: str | None,
    room: str | None,
    name: str | None,
    asked_in: str | None,
    agent: str | None,
) -> Op[Begun | None]:
    """None for other work."""
    work = Report.from_json(OccurrenceId(occurrence), report) if report else None
    does = work.task if work else Task.from_json(task or "{}")
    if does.kind is not TaskKind.WORKFLOW:
        return None
    calls = (yield from calls_of(RunId(run))) if run else []
    at = room or asked_in or (str(work.home) if work else "")
    return Begun(
        id=occurrence,
        name=does.text,
        started_at=moment(created),
        asked_by=name or schedule or "",
        state=word_of(OccurrenceState(stage), RunState(state) if state else None),
        now=standing_in(calls),
        run=run or "",
        room=Address.parse(at) if at else None,
        ended_at=maybe_moment(ended),
        reason=reason,
        schedule=schedule or "",
        agent=agent or "",
    )


def word_of(stage: OccurrenceState, state: RunState | None) -> str:
    if stage is not OccurrenceState.STARTED:
        return "stopped" if state is RunState.STOPPED else stage.value
    return RUN_WORDS.get(state, "at work") if state else "about to begin"
