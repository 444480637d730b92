"""Ending what is at work in a session: a person asked for it, or something more urgent came."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select, update

from runtime.contract import (
    Address,
    Content,
    DeliveryId,
    Kind,
    NewId,
    Outcome,
    Person,
    RunId,
    SessionKey,
    Signal,
    SignalId,
    Verdict,
)
from runtime.runs import RunEvent
from runtime.store.common import ADD_DELIVERY, LOCK_LANE, delivery_row, fact, moved, session_key
from runtime.store.desk import withdraw
from runtime.store.driver import Op, is_word, micros
from runtime.store.inbox import replied
from runtime.store.protocol import Gate, NewDelivery, Taken
from runtime.store.schema import runs, sessions, steps
from runtime.store.turns import SET_TURN

NOTHING = "There is nothing to stop here."

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
OPEN_STEPS = select(steps.c.turn).where(
    steps.c.run_id == bindparam("run"), is_word(steps.c.state, "open", "asked", "marked")
)
CLOSE_STEPS = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.state, "open", "asked", "marked"))
    .values(state="done", result=bindparam("text"), ended_at=bindparam("at"))
)


def stop(signal: Signal, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    """A person asks that the work in this room ends; the signal is stored already."""
    key = session_key(gate.agent, signal.address)
    yield LOCK_LANE, {"k": key}
    open_runs = yield OPEN_RUNS, {"s": key}
    if not open_runs:
        return (yield from replied(signal, Verdict(Outcome.UNCHANGED, signal_id, NOTHING), now, new_id))
    yield from fact(now, "stop", who.name, signal_id, str(signal.address))
    live, addresses = None, []
    for run, state in open_runs:
        yield from moved(now, run, None, RunEvent.STOP, who.name)
        if state == "running":
            live = RunId(run)
            yield ASK_STOP, {"run": run}
        else:
            addresses += yield from _end_parked(RunId(run), key, state, signal, who, now, new_id)
    return Taken(Verdict(Outcome.DECIDED, signal_id), key, False, live, tuple(addresses))


def stop_live(key: SessionKey, who: Person, signal_id: SignalId, at: Address, now: datetime) -> Op[RunId | None]:
    """The run at work in a session whose lane is locked ends, since something more urgent waits; what waits for people
    goes on waiting."""
    for run, state in (yield OPEN_RUNS, {"s": key}):
        if state == "running":
            yield from moved(now, run, None, RunEvent.STOP, who.name)
            yield from fact(now, "interrupt", who.name, signal_id, str(at))
            yield ASK_STOP, {"run": run}
            return RunId(run)
    return None


def _end_parked(
    run: RunId, key: SessionKey, state: str, signal: Signal, who: Person, now: datetime, new_id: NewId
) -> Op[list[Address]]:
    """A run that waits for people has no owner to end it: it ends here, with its cards and its last words."""
    text = f"Stopped by {who.name}."
    cards = yield from withdraw(run, text, now, new_id)
    open_steps = yield OPEN_STEPS, {"run": run}
    yield CLOSE_STEPS, {"run": run, "text": text, "at": micros(now)}
    for (turn,) in open_steps:
        yield SET_TURN, {"s": key, "n": turn, "new_text": text}
    yield END_RUN, {"run": run, "at": micros(now), "why": text}
    if state == "ready":
        yield UNRESUME, {"k": key, "less": 1}
    address = signal.address
    last = NewDelivery(DeliveryId(new_id()), f"run:{run}", 0, Kind.FINAL, address, Content(text))
    yield ADD_DELIVERY, delivery_row(last, now, run)
    return [*cards, address]
