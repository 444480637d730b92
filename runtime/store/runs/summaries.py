"""Summaries: what a model reads in place of old turns, which stay in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, literal_column, select, update

from runtime.chat.views.context import NOTHING_REMEMBERED, Kept, Remembered
from runtime.contract import Address, ModelReply, NodeId, RunId, Usage
from runtime.store.budgets.counters import Moment
from runtime.store.budgets.reserving import charged
from runtime.store.common import owned, session_key
from runtime.store.protocol import NOTHING_AROUND, Conversed, History, Lane, Summary
from runtime.store.runs.run_begin import asker_at, asker_in
from runtime.store.runs.steps import model_step
from runtime.store.runs.turns import history
from runtime.store.schema import runs, sessions, signals, summaries, turns
from runtime.store.sql.driver import Op, micros, moment
from runtime.store.sql.upsert import insert

ADD_SUMMARY = insert(summaries).values({c.name: bindparam(c.name) for c in summaries.columns}).on_conflict_do_nothing()
NEXT_STEP = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(next_step=runs.c.next_step + 1)
    .returning(runs.c.next_step, runs.c.session, runs.c.last_turn)
)
AFTER_ITS_END = NEXT_STEP.where(runs.c.ended_at.is_not(None))


_NEXT = turns.alias("next_turn")
_LAST = turns.alias("last_turn")
_EARLIEST = turns.alias("first_turn")
_BEGAN = signals.alias("began")
_COVERED = (
    turns.c.session == summaries.c.session,
    turns.c.number.between(summaries.c.since_turn, summaries.c.upto_turn),
)
_FIRST = select(func.min(turns.c.number)).where(*_COVERED).scalar_subquery()
# Counted once, when it is made: to count anew would take longer with every message, for every summary of a room. The numbers
# of an older one tell as much, less what was overheard in between and forgotten.
_TURNS = func.coalesce(func.nullif(summaries.c.turns, 0), summaries.c.upto_turn + 1 - _FIRST, 0)
# A summary stands before the message that came after its last turn: an answer may be shown later than its turn was kept.
STANDS_AT = func.coalesce(_BEGAN.c.accepted_at - 1, _NEXT.c.at - 1, _LAST.c.at, summaries.c.at)
KEPT = (
    select(
        summaries.c.upto_turn,
        summaries.c.kind,
        summaries.c.text,
        summaries.c.model,
        _TURNS,
        func.coalesce(_EARLIEST.c.at, summaries.c.at),
        STANDS_AT.label("stands_at"),
        summaries.c.at,
        summaries.c.tokens_before,
        summaries.c.tokens_after,
    )
    .select_from(summaries)
    .outerjoin(_EARLIEST, and_(_EARLIEST.c.session == summaries.c.session, _EARLIEST.c.number == _FIRST))
    .outerjoin(_LAST, and_(_LAST.c.session == summaries.c.session, _LAST.c.number == summaries.c.upto_turn))
    .outerjoin(_NEXT, and_(_NEXT.c.session == summaries.c.session, _NEXT.c.number == summaries.c.upto_turn + 1))
    .outerjoin(_BEGAN, and_(_BEGAN.c.id == _NEXT.c.run_id, _NEXT.c.role == literal_column("'user'")))
)
KEPT_NOW = KEPT.where(summaries.c.session == bindparam("s"), summaries.c.since_turn == bindparam("since")).order_by(
    summaries.c.upto_turn.desc()
)
TURNS_NOW = select(func.count()).where(turns.c.session == bindparam("s"), turns.c.number >= bindparam("since"))
TURNS_UPTO = TURNS_NOW.where(turns.c.number <= bindparam("upto"))
ASKED_LAST = (
    select(runs.c.requester)
    .join(turns, turns.c.run_id == runs.c.id)
    .where(turns.c.session == bindparam("s"), runs.c.session == bindparam("s"))
    .order_by(turns.c.number.desc())
    .limit(1)
)
SINCE = select(sessions.c.since_turn).where(sessions.c.key == bindparam("s"))


def conversation(agent: str, address: Address, now: datetime) -> Op[Conversed]:
    """A conversation as its next message will find it, and what was condensed of it."""
    session = session_key(agent, address)
    rows = yield SINCE, {"s": session}
    if not rows:
        return Conversed(session, agent, address, History(()), NOTHING_REMEMBERED, None, frozenset(), NOTHING_AROUND)
    since = rows[0][0]
    known = yield from history(session, since)
    count = yield TURNS_NOW, {"s": session, "since": since}
    kept = [kept_of(row) for row in (yield KEPT_NOW, {"s": session, "since": since})]
    asker = yield ASKED_LAST, {"s": session}
    who, names, around = asker_in((yield asker_at(session, agent, address, asker[0][0] if asker else None, now)))
    return Conversed(session, agent, address, known, Remembered(int(count[0][0]), kept), who, names, around)


def kept_of(row: Sequence[Any]) -> Kept:
    upto, kind, text, model, count, since, until, at, before, after = row
    return Kept(upto, kind, text, model, count, moment(since), moment(until), moment(at), before, after)


def keep_summary(run: RunId, lane: Lane | None, summary: Summary, usage: Usage | None, at: Moment) -> Op[bool]:
    """The summary, and the model call that made it as a step of its run."""
    if lane and (yield from owned(lane)) is None:
        return False
    rows = yield (NEXT_STEP if lane else AFTER_ITS_END), {"run": run}
    if not rows:
        return False
    step, session, last = rows[0]
    count = yield TURNS_UPTO, {"s": session, "since": summary.since, "upto": summary.upto}
    yield ADD_SUMMARY, _row(session, run, summary, int(count[0][0]), at.now)
    if usage:
        by = lane.node if lane else NodeId("")
        yield from model_step(
            by,
            run,
            step - 1,
            ModelReply("", (), usage),
            last,
            at.now,
            f"it condensed the conversation up to turn {summary.upto}",
        )
        yield from charged(run, usage, at)
    return True


def _row(session: str, run: RunId, summary: Summary, count: int, now: datetime) -> dict[str, object]:
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
        "turns": count,
    }
