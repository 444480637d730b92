"""An agent is suspended, resumed or ended: one transaction each, with all that hangs on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, case, select, update

from runtime.chat import agents as words
from runtime.contract import (
    Address,
    Content,
    DeliveryId,
    Kind,
    NewId,
    Person,
    RunId,
    ScheduleId,
    SessionKey,
    Trigger,
)
from runtime.domain.agents.lifecycle import AGENT_MOVES, PAST, AgentEvent, AgentState
from runtime.domain.machines import move
from runtime.domain.runs import FOR_SCHEDULES, RunEvent, RunState
from runtime.domain.schedules import OccurrenceEvent, ScheduleEvent
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.trigger import EventKind
from runtime.store.agents.answering import end_origin
from runtime.store.common import LOCK_LANE, fact, moved
from runtime.store.delivery.outbox import enqueue
from runtime.store.intake.occurrences import OCCURRENCES_WAITING
from runtime.store.intake.run_stop import OpenRun, end_parked
from runtime.store.memory.ending.owners import forget_agent
from runtime.store.protocol import Ended, NewDelivery
from runtime.store.protocol.agents import TurnedAgent
from runtime.store.runs.closing import ASK_STOP
from runtime.store.schedules.book import turn
from runtime.store.schedules.run_occurrence import OF_ID, Kept, ended, set_occurrence
from runtime.store.schema import agent_rooms, agents, runs, schedules, sessions, signals
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.sql.upsert import insert
from runtime.store.triggers.firing import happened
from runtime.text.words import said_at

USUAL: Final = "The usual agent"
BY_PEOPLE: Final = (Trigger.MESSAGE, Trigger.HOOK, Trigger.HAND_OVER, *FOR_SCHEDULES)
"""How the messages came that end with their agent; who waits for others is told in other ways."""

AGENT_STATE = select(agents.c.state).where(agents.c.name == bindparam("agent")).with_for_update()
SET_AGENT_STATE = (
    insert(agents)
    .values(
        name=bindparam("agent"),
        state=bindparam("new_state"),
        manifest=bindparam("none"),
        made_by=None,
        reason=bindparam("why"),
        created_at=bindparam("at"),
        changed_at=bindparam("at"),
    )
    .on_conflict_do_update(
        index_elements=["name"],
        set_={"state": bindparam("new_state"), "reason": bindparam("why"), "changed_at": bindparam("at")},
    )
)
_made = insert(agents).values(
    name=bindparam("agent"),
    state="running",
    manifest=bindparam("given"),
    made_by=bindparam("who"),
    reason="",
    created_at=bindparam("at"),
    changed_at=bindparam("at"),
)
MADE_AGENT = _made.on_conflict_do_update(
    index_elements=["name"], set_={"manifest": bindparam("given"), "made_by": bindparam("who")}
)
READY_LANES_OF_AGENT = (
    select(sessions.c.key).where(sessions.c.agent == bindparam("agent"), is_word(sessions.c.state, "ready")).limit(1)
)
OPEN_RUNS_OF_AGENT = (
    select(runs.c.id, runs.c.session, runs.c.address)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(is_word(runs.c.state, "running", "parked", "ready"), sessions.c.agent == bindparam("agent"))
    .order_by(runs.c.session, runs.c.id)
)
RUN_STATE = select(runs.c.state).where(runs.c.id == bindparam("run"))
WAITING_FOR_AGENT = (
    select(signals.c.session, sessions.c.address)
    .join(sessions, sessions.c.key == signals.c.session)
    .where(is_word(signals.c.state, "waiting"), sessions.c.agent == bindparam("agent"))
    .group_by(signals.c.session, sessions.c.address)
    .order_by(signals.c.session)
)
GIVE_UP = (
    update(signals)
    .where(
        signals.c.session == bindparam("s"),
        is_word(signals.c.state, "waiting"),
        signals.c.trigger.in_([bindparam(f"t{number}") for number in range(len(BY_PEOPLE))]),
    )
    .values(state="stale", answered_at=bindparam("at"))
    .returning(signals.c.id, signals.c.trigger)
)
GIVE_UP_TWINS = (
    update(signals)
    .where(signals.c.merged_into == bindparam("one"), signals.c.answered_at.is_(None))
    .values(answered_at=bindparam("at"))
)
EMPTIED = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(
        waiting=sessions.c.waiting - bindparam("less"),
        state=case(
            (
                (sessions.c.state == "ready") & (sessions.c.waiting + sessions.c.resumable <= bindparam("less")),
                "idle",
            ),
            else_=sessions.c.state,
        ),
    )
)
SCHEDULES_OF_AGENT = select(schedules.c.id, schedules.c.name, schedules.c.home).where(
    is_word(schedules.c.state, "active", "paused"), schedules.c.agent == bindparam("agent")
)
ROOMS_OF_AGENT = (
    select(agent_rooms.c.address).where(agent_rooms.c.agent == bindparam("agent")).order_by(agent_rooms.c.address)
)


@dataclass(frozen=True, slots=True)
class _End:
    """The end of an agent."""

    agent: str
    reason: str
    by: str
    now: datetime
    new_id: NewId


EVENTS: Final = {
    AgentEvent.SUSPEND: EventKind.AGENT_SUSPENDED,
    AgentEvent.RESUME: EventKind.AGENT_RESUMED,
    AgentEvent.TERMINATE: EventKind.AGENT_TERMINATED,
}
"""Events for triggers."""


def spawned(agent: str, manifest: str, by: Person, now: datetime, new_id: NewId) -> Op[bool]:
    """Note an agent that was made, for whoever asked; false where one of that name has ended."""
    rows = yield AGENT_STATE, {"agent": agent}
    if rows and rows[0][0] == AgentState.TERMINATED:
        return False
    yield MADE_AGENT, {"agent": agent, "given": manifest, "who": by.id, "at": micros(now)}
    yield from fact(now, "agent.spawned", by.name, agent, manifest)
    event = Happening(EventKind.AGENT_SPAWNED, f"{agent}:{micros(now)}", None, agent, by.name, person=by.id)
    yield from happened(event, now, new_id)
    return True


def turned(agent: str, event: AgentEvent, reason: str, by: str, now: datetime, new_id: NewId) -> Op[TurnedAgent]:
    """Carry out a move; an agent without a row is at work. `done` is false where that is no move from its state."""
    rows = yield AGENT_STATE, {"agent": agent}
    state = AgentState(rows[0][0]) if rows else AgentState.RUNNING
    if (state, event) not in AGENT_MOVES:
        return TurnedAgent(state, done=False)
    after = move(AGENT_MOVES, state, event)
    yield SET_AGENT_STATE, {"agent": agent, "new_state": after.value, "none": "", "why": reason, "at": micros(now)}
    yield from fact(now, f"agent.{PAST[event]}", by, agent, reason)
    told = f"{agent}: {reason}" if reason else agent
    key = f"{agent}:{event}:{micros(now)}"
    began = yield from happened(Happening(EVENTS[event], key, None, told, by), now, new_id)
    match event:
        case AgentEvent.TERMINATE:
            return replace((yield from _ended(_End(agent, reason, by, now, new_id))), lanes_ready=began)
        case AgentEvent.RESUME:
            return TurnedAgent(after, lanes_ready=bool((yield READY_LANES_OF_AGENT, {"agent": agent})) or began)
        case AgentEvent.SUSPEND:
            return TurnedAgent(after, lanes_ready=began)


def _ended(end: _End) -> Op[TurnedAgent]:
    """Its work stops at the next step, what waits for people ends now, and its rooms are told once."""
    live, over, told = yield from _runs_ended(end)
    told += yield from _waiting_ended(end)
    told += yield from _schedules_ended(end)
    told += yield from _rooms_told(end)
    yield from forget_agent(end.agent, end.by, end.now)
    return TurnedAgent(AgentState.TERMINATED, stop_runs=(*live,), ended=(*over,), deliveries=(*told,))


def _runs_ended(end: _End) -> Op[tuple[list[RunId], list[Ended], list[Address]]]:
    live: list[RunId] = []
    over: list[Ended] = []
    told: list[Address] = []
    for run, session, address in (yield OPEN_RUNS_OF_AGENT, {"agent": end.agent}):
        yield LOCK_LANE, {"k": session}  # in one order, as whoever stops
        state = RunState((yield RUN_STATE, {"run": run})[0][0])
        if state not in (RunState.RUNNING, RunState.PARKED, RunState.READY):
            continue
        yield from moved(end.now, run, None, RunEvent.STOP, end.by)
        if state is RunState.RUNNING:
            live.append(RunId(run))
            yield ASK_STOP, {"run": run}
            continue
        one = OpenRun(RunId(run), state, SessionKey(session), Address.parse(address))
        with said_at(one.address):
            text = words.cut(end.agent, end.reason)
        parked = yield from end_parked(one, text, end.now, end.new_id)
        live += parked.live
        told += [*parked.told, one.address]
        over.append(Ended(one.id, parked.planned))
    return live, over, told


def _waiting_ended(end: _End) -> Op[list[Address]]:
    """Messages that wait are for this agent, so no other one takes them over: each conversation is told."""
    told: list[Address] = []
    conversations: Counter[Address] = Counter()
    for session, at in (yield WAITING_FOR_AGENT, {"agent": end.agent}):
        yield LOCK_LANE, {"k": session}
        triggers = {f"t{number}": trigger.value for number, trigger in enumerate(BY_PEOPLE)}
        given_up = yield GIVE_UP, {"s": session, "at": micros(end.now), **triggers}
        yield EMPTIED, {"k": session, "less": len(given_up)}
        said = 0
        for signal, trigger in given_up:
            yield GIVE_UP_TWINS, {"one": signal, "at": micros(end.now)}
            why = words.cut(end.agent, end.reason)
            begun = Trigger(trigger)
            if (yield from ended(RunId(signal), begun, RunState.STOPPED, why, 1, end.now, end.new_id)) is None:
                said += 1
        if said:
            address = Address.parse(at)
            with said_at(address):
                text = words.left_open(end.agent, end.reason, said)
            yield from _tell(end, address, text, conversations[address.whole_room])
            conversations[address.whole_room] += 1
            told.append(address)
    return told


def _schedules_ended(end: _End) -> Op[list[Address]]:
    told = []
    for schedule, name, home in (yield SCHEDULES_OF_AGENT, {"agent": end.agent}):
        why = words.cut(end.agent, end.reason)
        yield from turn(ScheduleId(schedule), ScheduleEvent.END, why, end.by, None, None, end.now)
        for (waiting,) in (yield OCCURRENCES_WAITING, {"schedule": schedule}):
            row = Kept(*(yield OF_ID, {"occurrence": waiting})[0])
            yield from set_occurrence(row, OccurrenceEvent.FAIL, end.now, reason=f"{row.reason} {why}".strip())
        address = Address.parse(home)
        with said_at(address):
            text = words.schedule_ended(name, end.agent, end.reason)
        origin = f"schedule:{schedule}:{micros(end.now)}"
        new = NewDelivery(DeliveryId(end.new_id()), origin, 0, Kind.REPORT, address, Content(text))
        yield from enqueue(new, end.now)
        told.append(address)
    return told


def _rooms_told(end: _End) -> Op[list[Address]]:
    """Rooms for which it was chosen. A thread is told when somebody writes there again."""
    rooms = [Address.parse(row[0]) for row in (yield ROOMS_OF_AGENT, {"agent": end.agent})]
    whole = [room for room in rooms if room == room.whole_room]
    for room in whole:
        with said_at(room):
            text = words.ended(end.agent, end.reason, USUAL)
        yield from _tell(end, room, text, 0)
    return whole


def _tell(end: _End, address: Address, text: str, number: int) -> Op[None]:
    """Tell once what whoever writes there next would be told as well; `number` counts the conversations of a room."""
    origin = end_origin(end.agent, micros(end.now), address)
    new = NewDelivery(DeliveryId(end.new_id()), origin, number, Kind.FINAL, address, Content(text))
    yield from enqueue(new, end.now)
