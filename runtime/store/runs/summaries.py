"""Summaries: what a model reads in place of old turns, which stay in their table."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, update

from runtime.contract import ModelReply, NodeId, RunId, Usage
from runtime.store.common import owned
from runtime.store.protocol import Lane, Summary
from runtime.store.runs.steps import model_step
from runtime.store.schema import runs, summaries
from runtime.store.sql.driver import Op, micros
from runtime.store.sql.upsert import insert

ADD_SUMMARY = insert(summaries).values({c.name: bindparam(c.name) for c in summaries.columns}).on_conflict_do_nothing()
NEXT_STEP = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(next_step=runs.c.next_step + 1)
    .returning(runs.c.next_step, runs.c.session, runs.c.last_turn)
)
AFTER_ITS_END = NEXT_STEP.where(runs.c.ended_at.is_not(None))


def keep_summary(run: RunId, lane: Lane | None, summary: Summary, usage: Usage | None, now: datetime) -> Op[bool]:
    """The summary, and the model call that made it as a step of its run."""
    if lane and (yield from owned(lane)) is None:
        return False
    rows = yield (NEXT_STEP if lane else AFTER_ITS_END), {"run": run}
    if not rows:
        return False
    step, session, last = rows[0]
    yield ADD_SUMMARY, _row(session, run, summary, now)
    if usage:
        by = lane.node if lane else NodeId("")
        yield from model_step(
            by,
            run,
            step - 1,
            ModelReply("", (), usage),
            last,
            now,
            f"it condensed the conversation up to turn {summary.upto}",
        )
    return True


def _row(session: str, run: RunId, summary: Summary, now: datetime) -> dict[str, object]:
    return {
        "session": session,
        "upto_turn": summary.upto,
        "since_turn": summary.since,
        "kind": summary.kind.value,
        "text": summary.text,
        "request": summary.request,
        "facts": summary.facts,
        "model": summary.model,
        "tokens_before": summary.tokens_before,
        "tokens_after": summary.tokens_after,
        "run_id": run,
        "at": micros(now),
    }
