"""Goals that were set, each with how far it is: read from the calls of its run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, Text, bindparam, literal_column, or_, select

from runtime.chat.views.goals import SetGoal
from runtime.contract import Address, OccurrenceId, OccurrenceState, Report, RunId, TaskKind
from runtime.domain.goals.progress import word_met
from runtime.domain.goals.record import goal_in
from runtime.domain.goals.setting import kind_of
from runtime.domain.runs import RunState
from runtime.store.common import ends_with
from runtime.store.runs.steps import calls_of
from runtime.store.schema import occurrences, runs, signals
from runtime.store.sql.driver import Op, is_word, maybe_moment, moment
from runtime.store.workflows.standing import word_of

GOALS_LOOKED_AT: Final = 50
_ANY_SET = (
    select(
        occurrences.c.id,
        occurrences.c.report,
        occurrences.c.run_id,
        occurrences.c.created_at,
        occurrences.c.ended_at,
        occurrences.c.state,
        occurrences.c.reason,
        runs.c.state,
        signals.c.actor_name,
    )
    .outerjoin(runs, runs.c.id == occurrences.c.run_id)
    .outerjoin(signals, signals.c.id == occurrences.c.run_id)
    .where(occurrences.c.report.like(literal_column(f"'%{TaskKind.GOAL}%'")))
    .order_by(occurrences.c.id.desc())
    .limit(bindparam("n", type_=Integer))
)
NEWEST_SET = _ANY_SET.where(occurrences.c.home == bindparam("room"))
OPEN_SET = NEWEST_SET.where(is_word(occurrences.c.state, OccurrenceState.STARTED))
ALL_SET = _ANY_SET
SET_CALLED = _ANY_SET.where(
    or_(
        occurrences.c.id == bindparam("name"),
        occurrences.c.run_id == bindparam("name"),
        ends_with(occurrences.c.id, bindparam("name", type_=Text)),
    )
)


def open_goal(room: Address, now: datetime) -> Op[SetGoal | None]:
    """The goal of a room that is not over."""
    return (yield from _first((yield OPEN_SET, {"room": str(room), "n": GOALS_LOOKED_AT}), now))


def newest_goal(room: Address, now: datetime) -> Op[SetGoal | None]:
    """The goal of a room that is not over, else the one that was set last."""
    if found := (yield from open_goal(room, now)):
        return found
    return (yield from _first((yield NEWEST_SET, {"room": str(room), "n": GOALS_LOOKED_AT}), now))


def goals_set(now: datetime) -> Op[list[SetGoal]]:
    """Goals of all rooms, the newest first."""
    return (yield from _read((yield ALL_SET, {"n": GOALS_LOOKED_AT}), now))


def goal_called(name: str, now: datetime) -> Op[SetGoal | None]:
    """The newest one with that id, or whose id ends so, or that this run works on."""
    return (yield from _first((yield SET_CALLED, {"name": name, "n": GOALS_LOOKED_AT}), now))


def _first(rows: Sequence[Sequence[Any]], now: datetime) -> Op[SetGoal | None]:
    return next(iter((yield from _read(rows, now, most=1))), None)


def _read(rows: Sequence[Sequence[Any]], now: datetime, most: int = GOALS_LOOKED_AT) -> Op[list[SetGoal]]:
    found: list[SetGoal] = []
    for row in rows:
        if len(found) < most and (goal := (yield from _goal(*row, now=now))):
            found.append(goal)
    return found


def _goal(
    occurrence: str,
    report: str,
    run: str | None,
    created: int,
    ended: int | None,
    stage: str,
    reason: str,
    state: str | None,
    name: str | None,
    *,
    now: datetime,
) -> Op[SetGoal | None]:
    """None for other work."""
    work = Report.from_json(OccurrenceId(occurrence), report)
    if work.task.kind is not TaskKind.GOAL:
        return None
    calls = (yield from calls_of(RunId(run))) if run else []
    at, standing = OccurrenceState(stage), goal_in(calls, now)
    return SetGoal(
        id=occurrence,
        name=work.name,
        started_at=moment(created),
        asked_by=name or "",
        state=word_met(word_of(at, RunState(state) if state else None), standing),
        open=at is OccurrenceState.STARTED,
        now=standing,
        run=run or "",
        kind=kind_of(work.task.options),
        agent=work.agent,
        room=work.home,
        ended_at=maybe_moment(ended),
        reason=reason,
    )
