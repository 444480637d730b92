"""Goals that were set, each with how far it is: read from the calls of its run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, bindparam, literal_column, select

from runtime.chat.views.goals import SetGoal
from runtime.contract import Address, OccurrenceId, OccurrenceState, Report, RunId, TaskKind
from runtime.domain.goals.record import goal_in
from runtime.domain.runs import RunState
from runtime.store.runs.steps import calls_of
from runtime.store.schema import occurrences, runs, signals
from runtime.store.sql.driver import Op, is_word, moment
from runtime.store.workflows.standing import word_of

GOALS_LOOKED_AT: Final = 50
_SET = (
    select(
        occurrences.c.id,
        occurrences.c.report,
        occurrences.c.run_id,
        occurrences.c.created_at,
        occurrences.c.state,
        runs.c.state,
        signals.c.actor_name,
    )
    .outerjoin(runs, runs.c.id == occurrences.c.run_id)
    .outerjoin(signals, signals.c.id == occurrences.c.run_id)
    .where(
        occurrences.c.home == bindparam("room"),
        occurrences.c.report.like(literal_column(f"'%{TaskKind.GOAL}%'")),
    )
    .order_by(occurrences.c.id.desc())
    .limit(bindparam("n", type_=Integer))
)
NEWEST_SET = _SET
OPEN_SET = _SET.where(is_word(occurrences.c.state, OccurrenceState.STARTED))


def open_goal(room: Address, now: datetime) -> Op[SetGoal | None]:
    """The goal of a room that is not over."""
    return (yield from _first((yield OPEN_SET, {"room": str(room), "n": GOALS_LOOKED_AT}), now))


def newest_goal(room: Address, now: datetime) -> Op[SetGoal | None]:
    """The goal of a room that is not over, else the one that was set last."""
    if found := (yield from open_goal(room, now)):
        return found
    return (yield from _first((yield NEWEST_SET, {"room": str(room), "n": GOALS_LOOKED_AT}), now))


def _first(rows: Sequence[Sequence[Any]], now: datetime) -> Op[SetGoal | None]:
    for occurrence, report, run, created, stage, state, name in rows:
        work = Report.from_json(OccurrenceId(occurrence), report)
        if work.task.kind is not TaskKind.GOAL:
            continue
        calls = (yield from calls_of(RunId(run))) if run else []
        is_open = OccurrenceState(stage) is OccurrenceState.STARTED
        word = word_of(OccurrenceState(stage), RunState(state) if state else None)
        at = goal_in(calls, now)
        return SetGoal(occurrence, work.name, moment(created), name or "", word, is_open, at, run or "")
    return None
