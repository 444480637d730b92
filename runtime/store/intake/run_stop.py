"""Ending what is at work in a session: a person asked for it, or something more urgent came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Text, bindparam, func, select

from runtime.contract import (
    Address,
    Addressing,
    ChildState,
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
    Stopped,
    Trigger,
    Verdict,
)
from runtime.domain.agents.manifest import MAIN
from runtime.domain.agents.tasks import told_end
from runtime.domain.runs import FOR_SCHEDULES, RunEvent, RunState
from runtime.store.common import ADD_DELIVERY, LOCK_LANE, delivery_row, fact, moved, session_key
from runtime.store.delegation.ending import child_over
from runtime.store.delegation.stopping import end_awaited, end_below, end_unawaited
from runtime.store.intake.inbox import replied
from runtime.store.processes.rows import stop_in_room
from runtime.store.protocol import Below, Ended, Gate, NewDelivery, Taken
from runtime.store.runs.closing import ASK_STOP, OPEN_RUNS, close_parked
from runtime.store.schedules.run_occurrence import ended
from runtime.store.schema import runs
from runtime.store.sql.driver import Op, is_word
from runtime.store.tasks.background import background_of, task_ended
from runtime.text.retold import retold
from runtime.text.words import said_at

NOTHING_TO_STOP = "There's nothing to stop here."

OPEN_RUNS_OF = OPEN_RUNS.where(runs.c.requester == bindparam("who"))
# Few are open at any time, and their index holds no others.
SCHEDULED = (
    select(runs.c.session)
    .where(
        is_word(runs.c.state, "running", "parked", "ready"),
        is_word(runs.c.trigger, *FOR_SCHEDULES, Trigger.TASK),
        runs.c.address == bindparam("room"),
        runs.c.session != bindparam("s"),
    )
    .group_by(runs.c.session)
    .order_by(runs.c.session)
)
IN_THREADS = (
    select(runs.c.session, runs.c.address)
    .where(
        is_word(runs.c.state, "running", "parked", "ready"),
        runs.c.requester == bindparam("who"),
        func.substr(runs.c.address, 1, func.length(bindparam("room", type_=Text))) == bindparam("room", type_=Text),
    )
    .group_by(runs.c.session, runs.c.address)
    .order_by(runs.c.session)
)
TRIGGER = select(runs.c.trigger).where(runs.c.id == bindparam("run"))


@dataclass(frozen=True, slots=True)
class EndedParked:
    """A run that waited and is over: rooms of its cards, runs below it that are at work, and if it was an instant's of a schedule."""

    told: Sequence[Address]
    planned: bool = False
    live: Sequence[RunId] = ()


@dataclass(frozen=True, slots=True)
class EndedOpen:
    """Runs at work that got the mark, rooms whose cards changed, runs that are over, and whether a lane became ready."""

    live: tuple[RunId, ...] = ()
    told: tuple[Address, ...] = ()
    over: tuple[Ended, ...] = ()
    woken: bool = False


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that is not over."""

    id: RunId
    state: RunState
    session: SessionKey
    address: Address


def stop(
    signal: Signal, asked: Stopped, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """A person asks that the work in this room ends; the signal is stored already."""
    found = yield from _to_stop(signal, asked, who, gate)
    below = yield from end_unawaited(
        signal.address, who.id if asked.own else None, f"Stopped by {who.name}.", now, new_id
    )
    programs = yield from stop_in_room(signal.address, who.id if asked.own else None, f"Stopped by {who.name}.", now)
    if (
        not found and below is None and not programs and asked.own and signal.reach is Addressing.OVERHEARD
    ):  # said to somebody else, as it seems
        return Taken(Verdict(Outcome.UNCHANGED, signal_id))
    if not found and below is None and not programs:
        return (yield from replied(signal, Verdict(Outcome.UNCHANGED, signal_id, NOTHING_TO_STOP), now, new_id))
    yield from fact(now, "stop", who.name, signal_id, str(signal.address))
    if not found and below is None:
        return (yield from replied(signal, Verdict(Outcome.DECIDED, signal_id, _stopped(programs)), now, new_id))
    below = below or Below()
    all_ended = [EndedOpen(tuple(below.live), tuple(below.told), woken=below.woken)]
    for run in found:
        all_ended += [(yield from end_open(run, who.name, f"Stopped by {who.name}.", now, new_id))]
    session = found[0].session if found else None
    return Taken(
        Verdict(Outcome.DECIDED, signal_id),
        session,
        any(one.woken for one in all_ended),
        stop_runs=tuple(run for one in all_ended for run in one.live),
        deliveries=tuple(address for one in all_ended for address in one.told),
        ended=tuple(run for one in all_ended for run in one.over),
    )


def end_open(run: OpenRun, by: str, text: str, now: datetime, new_id: NewId) -> Op[EndedOpen]:
    """End a run with all below it: one at work gets a mark, any other ends here with `text`. Its lane is locked."""
    yield from moved(now, run.id, None, RunEvent.STOP, by)
    live: list[RunId] = []
    told: list[Address] = []
    over: tuple[Ended, ...] = ()
    if run.state is RunState.RUNNING:
        live.append(run.id)
        yield ASK_STOP, {"run": run.id}
    else:
        parked = yield from end_parked(run, text, now, new_id)
        live += parked.live
        told += [*parked.told, run.address]
        over = (Ended(run.id, parked.planned),)
    tree = yield from end_below(run.id, text, now, new_id)
    return EndedOpen((*live, *tree.live), (*told, *tree.told), over, tree.woken)


def _stopped(programs: int) -> str:
    """Words for a stop that ended nothing but processes."""
    return "Stopped the process." if programs == 1 else f"Stopped {programs} processes."


def stop_live(key: SessionKey, who: Person, signal_id: SignalId, at: Address, now: datetime) -> Op[tuple[RunId, ...]]:
    """The run at work in a session whose lane is locked ends, since something more urgent waits; what waits for people
    goes on waiting."""
    live = [RunId(run) for run, state in (yield OPEN_RUNS, {"s": key}) if state == RunState.RUNNING]
    for run in live:
        yield from moved(now, run, None, RunEvent.STOP, who.name)
        yield from fact(now, "interrupt", who.name, signal_id, str(at))
        yield ASK_STOP, {"run": run}
    return tuple(live)


def _to_stop(signal: Signal, asked: Stopped, who: Person, gate: Gate) -> Op[list[OpenRun]]:
    """The runs here, their lane locked; where there are none, those in the room's threads that this person asked for:
    not every platform lets them give a command in a thread, and on some each message of a room begins one."""
    key = session_key(gate.agent, signal.address)
    here = yield from _of_agents(signal, asked, who, gate)
    here.sort(key=lambda run: run[-1] != key)  # the one that answers there first
    if not asked.own:
        here += yield from _in_background(signal.address, key)
    if here or signal.address.thread not in ("", signal.message_id):
        return [OpenRun(RunId(run), RunState(state), SessionKey(own), signal.address) for run, state, own in here]
    theirs = yield IN_THREADS, {"room": f"{replace(signal.address, thread='')}/", "who": who.id}
    found = []
    for session, address in theirs:  # in one order, so that two who stop never wait for each other in a ring
        yield LOCK_LANE, {"k": session}
        for run, state in (yield OPEN_RUNS_OF, {"s": session, "who": who.id}):
            found.append(OpenRun(RunId(run), RunState(state), SessionKey(session), Address.parse(address)))
    return found


def _of_agents(signal: Signal, asked: Stopped, who: Person, gate: Gate) -> Op[list[tuple[str, str, str]]]:
    """Open runs of each agent in this conversation, their lanes locked in one order: a stop means whatever is at work there,
    and after a hand-over that may be two."""
    here = []
    others = {MAIN, *(agent.name for agent in gate.agents)} if gate.agents else set()
    for name in sorted({gate.agent, *others}):
        key = session_key(name, signal.address)
        yield LOCK_LANE, {"k": key}
        rows = (yield OPEN_RUNS_OF, {"s": key, "who": who.id}) if asked.own else (yield OPEN_RUNS, {"s": key})
        here += [(*row, key) for row in rows]
    return here


def _in_background(room: Address, key: SessionKey) -> Op[list[tuple[str, str, str]]]:
    """Open runs that report into a room from lanes of their own. Each lane is locked before its run is looked at: another
    node may just be taking it up."""
    found: list[tuple[str, str, str]] = []
    for (session,) in (yield SCHEDULED, {"room": str(room), "s": key}):
        yield LOCK_LANE, {"k": session}
        found += [(run, state, session) for run, state in (yield OPEN_RUNS, {"s": session})]
    return found


def end_parked(run: OpenRun, text: str, now: datetime, new_id: NewId) -> Op[EndedParked]:
    """A run that waits has no owner to end it: it ends here, with its cards, what it waits for, and `text` as its last words."""
    told = yield from close_parked(run.id, run.state, run.session, text, now, new_id)
    below = yield from end_awaited(run.id, text, now, new_id)
    told += tuple(below.told)
    trigger = (yield TRIGGER, {"run": run.id})[0][0]
    if trigger == Trigger.CHILD:  # whoever asked for it is told, and nobody else
        over = yield from child_over(run.id, ChildState.STOPPED, text, now, new_id)
        return EndedParked((*told, *over.told), live=below.live)
    occurrence = yield from ended(run.id, Trigger(trigger), RunState.STOPPED, text, 1, now, new_id)
    if trigger == Trigger.TASK and (task := (yield from background_of(run.id))):
        yield from task_ended(run.id, RunState.STOPPED, text, now, new_id)
        with said_at(run.address):
            text = told_end(task.title, RunState.STOPPED, retold(text))
    last = NewDelivery(DeliveryId(new_id()), f"run:{run.id}", 0, Kind.FINAL, run.address, Content(text))
    yield ADD_DELIVERY, delivery_row(last, now, run.id)
    return EndedParked(told, planned=occurrence is not None, live=below.live)
