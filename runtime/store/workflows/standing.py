"""Workflows that were begun, each with how far it is: read from the calls of its run."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Integer, bindparam, literal_column, select

from runtime.chat.views.workflows import Begun
from runtime.contract import Address, OccurrenceId, Report, RunId, TaskKind
from runtime.domain.runs import RunState
from runtime.domain.workflows.record import standing_in
from runtime.store.runs.steps import calls_of
from runtime.store.schema import occurrences, runs, signals
from runtime.store.sql.driver import Op, is_word, moment

BEGUN_MAX: Final = 10
OPEN_HERE = (
    select(
        occurrences.c.id,
        occurrences.c.report,
        occurrences.c.run_id,
        occurrences.c.created_at,
        runs.c.state,
        signals.c.actor_name,
    )
    .outerjoin(runs, runs.c.id == occurrences.c.run_id)
    .outerjoin(signals, signals.c.id == occurrences.c.run_id)
    .where(
        is_word(occurrences.c.state, "started"),
        occurrences.c.home == bindparam("room"),
        occurrences.c.report != literal_column("''"),
    )
    .order_by(occurrences.c.id.desc())
    .limit(bindparam("n", type_=Integer))
)
WORDS: Final = {RunState.RUNNING: "at work", RunState.PARKED: "waiting", RunState.READY: "at work"}


def at_work(room: Address) -> Op[list[Begun]]:
    """Workflows of a room that are not over, the newest first."""
    found = []
    for occurrence, report, run, created, state, name in (yield OPEN_HERE, {"room": str(room), "n": BEGUN_MAX}):
        work = Report.from_json(OccurrenceId(occurrence), report)
        if work.task.kind is not TaskKind.WORKFLOW:
            continue
        calls = (yield from calls_of(RunId(run))) if run else []
        word = WORDS.get(RunState(state), "at work") if state else "about to begin"
        found.append(Begun(occurrence, work.name, moment(created), name or "", word, standing_in(calls)))
    return found
