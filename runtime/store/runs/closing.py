"""Ends of runs that nobody works on: what is parked or ready is over at once, what is at work gets a mark."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select, update

from runtime.chat.cards import settled_cards
from runtime.contract import Address, NewId, RunId, SessionKey
from runtime.domain.runs import NOT_DONE, RunState
from runtime.domain.transcript import NOT_FINISHED
from runtime.store.approvals.decisions import withdraw
from runtime.store.approvals.rulings import undone
from runtime.store.runs.turns import SET_TURN
from runtime.store.runs.waiting.waits import wait_no_more
from runtime.store.schema import runs, sessions, steps
from runtime.store.sql.driver import Op, is_word, micros

OPEN_RUNS = select(runs.c.id, runs.c.state).where(
    runs.c.session == bindparam("s"), is_word(runs.c.state, "running", "parked", "ready")
)
ASK_STOP = update(runs).where(runs.c.id == bindparam("run")).values(stop=1)
END_RUN = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(state="stopped", ended_at=bindparam("at"), error=bindparam("why"))
)
UNRESUME = (
    update(sessions).where(sessions.c.key == bindparam("k")).values(resumable=sessions.c.resumable - bindparam("less"))
)
OPEN_STEPS = select(steps.c.turn).where(steps.c.run_id == bindparam("run"), is_word(steps.c.state, *NOT_DONE))
CLOSE_STEPS = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.state, *NOT_DONE))
    .values(state="done", result=bindparam("text"), ended_at=bindparam("at"))
)


def close_parked(
    run: RunId, state: RunState, session: SessionKey, text: str, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...]]:
    """End a run that has no owner, with its cards and its open calls; rooms of the cards. Its lane is locked."""
    told = yield from withdraw(run, text, now, new_id)
    told += yield from undone(run, settled_cards.NOT_RUN_AFTER_ALL, now, new_id)
    yield from wait_no_more(run, now)
    open_steps = yield OPEN_STEPS, {"run": run}
    result = f"{NOT_FINISHED}{text}"
    yield CLOSE_STEPS, {"run": run, "text": result, "at": micros(now)}
    for (turn,) in open_steps:
        yield SET_TURN, {"s": session, "n": turn, "new_text": result}
    yield END_RUN, {"run": run, "at": micros(now), "why": text}
    if state is RunState.READY:
        yield UNRESUME, {"k": session, "less": 1}
    return tuple(told)
