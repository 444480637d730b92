"""Rows of processes: how one is begun, moved from state to state, and given up where its node is gone."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func, or_, select, update

from runtime.contract import Address, NewId, NodeId, PersonId, RunId, SessionKey
from runtime.contract.agents.processes import Process, ProcessEvent, ProcessId, ProcessState, Starter
from runtime.domain.agents.processes import ENDED_WITH_NODE, PROCESS_MOVES
from runtime.domain.machines import move
from runtime.store.common import add, ends_with, fact, in_room
from runtime.store.schema import nodes, runs
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment
from runtime.store.tables.processes import processes

LISTED_MAX: Final = 50
IS_OPEN: Final = is_word(processes.c.state, "running", "stopping")


class Row(NamedTuple):
    """A row in the order of its columns."""

    id: str
    agent: str
    session: str
    room: str
    run_id: str
    call_id: str
    node: str
    command: str
    state: str
    started_at: int
    ended_at: int | None
    exit: int | None
    reason: str

    @property
    def process(self) -> Process:
        room = Address.parse(self.room)
        by = Starter(self.agent, SessionKey(self.session), room, RunId(self.run_id), self.call_id)
        return Process(
            ProcessId(self.id),
            by,
            NodeId(self.node),
            self.command,
            ProcessState(self.state),
            moment(self.started_at),
            maybe_moment(self.ended_at),
            self.exit,
            self.reason,
        )


ADD_PROCESS = add(processes)
NEWEST_FIRST = select(*processes.columns).order_by(processes.c.id.desc()).limit(LISTED_MAX)
ALL_PROCESSES = NEWEST_FIRST
OF_SESSION = NEWEST_FIRST.where(processes.c.session == bindparam("session"))
BY_NAME = NEWEST_FIRST.where(or_(processes.c.id == bindparam("name"), ends_with(processes.c.id, bindparam("name"))))
COUNT_OPEN = select(func.count()).select_from(processes).where(IS_OPEN, processes.c.session == bindparam("session"))
LOCKED_PROCESS = select(*processes.columns).where(processes.c.id == bindparam("process")).with_for_update()
OF_DEAD_NODES = (
    select(*processes.columns)
    .outerjoin(nodes, nodes.c.id == processes.c.node)
    .where(IS_OPEN, or_(nodes.c.id.is_(None), is_word(nodes.c.state, "dead")))
    .order_by(processes.c.id)
)
TO_STOP = select(processes.c.id, processes.c.reason).where(
    processes.c.node == bindparam("node"), is_word(processes.c.state, "stopping")
)
OPEN_IN_ROOM = select(processes.c.id).where(IS_OPEN, in_room(processes.c.room)).order_by(processes.c.id)
OPEN_OF_PERSON = OPEN_IN_ROOM.where(
    processes.c.run_id.in_(select(runs.c.id).where(runs.c.requester == bindparam("who")))
)
PROCESS_COLUMNS: Final = ("state", "ended_at", "exit", "reason")
SET_PROCESS = (
    update(processes)
    .where(processes.c.id == bindparam("process"))
    .values(**{name: bindparam(f"new_{name}") for name in PROCESS_COLUMNS})
)


def begin(command: str, by: Starter, node: NodeId, most: int, now: datetime, new_id: NewId) -> Op[Process | None]:
    """A process about to be started; None where too many of its conversation run."""
    yield from give_up_lost(now)
    if (yield COUNT_OPEN, {"session": by.session})[0][0] >= most:
        return None
    row = Row(
        new_id(),
        by.agent,
        by.session,
        str(by.room),
        by.run_id,
        by.call_id,
        node,
        command,
        "running",
        micros(now),
        None,
        None,
        "",
    )
    yield ADD_PROCESS, row._asdict()
    yield from fact(now, "process started", by.agent, row.id, str(by.room))
    return row.process


def happened(
    process: str, event: ProcessEvent, now: datetime, exit_code: int | None = None, reason: str = ""
) -> Op[bool]:
    """Note what befell a process; false where it is over."""
    found = yield LOCKED_PROCESS, {"process": process}
    if not found or (ProcessState(found[0][8]), event) not in PROCESS_MOVES:
        return False
    yield from _moved(Row(*found[0]), event, now, exit_code, reason)
    return True


def _moved(row: Row, event: ProcessEvent, now: datetime, exit_code: int | None, reason: str) -> Op[None]:
    state = move(PROCESS_MOVES, ProcessState(row.state), event)
    is_over = state not in (ProcessState.RUNNING, ProcessState.STOPPING)
    after: dict[str, Any] = {
        "state": state.value,
        "ended_at": micros(now) if is_over else None,
        "exit": exit_code,
        "reason": reason or row.reason,
    }
    yield SET_PROCESS, {"process": row.id, **{f"new_{name}": after[name] for name in PROCESS_COLUMNS}}
    if is_over:
        yield from fact(now, f"process {state}", row.agent, row.id, after["reason"])


def give_up_lost(now: datetime) -> Op[None]:
    """Processes whose node is gone are over: they ended with it."""
    for process, *_ in (yield OF_DEAD_NODES, {}):
        yield from happened(process, ProcessEvent.LOSE, now, reason=ENDED_WITH_NODE)


def listed(session: SessionKey | None, now: datetime) -> Op[list[Process]]:
    """Newest first: of one conversation, or all."""
    yield from give_up_lost(now)
    rows = (yield OF_SESSION, {"session": session}) if session else (yield ALL_PROCESSES, {})
    return [Row(*row).process for row in rows]


def named(name: str, now: datetime) -> Op[list[Process]]:
    """Processes with that id, or whose id ends so."""
    yield from give_up_lost(now)
    return [Row(*row).process for row in (yield BY_NAME, {"name": name})]


def stop_in_room(room: Address, who: PersonId | None, reason: str, now: datetime) -> Op[int]:
    """Have the processes of a room end, or those that one person asked for; how many."""
    yield from give_up_lost(now)
    asked = {"room": str(room)} | ({"who": who} if who else {})
    found = yield (OPEN_OF_PERSON if who else OPEN_IN_ROOM), asked
    for (process,) in found:
        yield from happened(process, ProcessEvent.STOP, now, reason=reason)
    return len(found)


def to_stop(node: NodeId) -> Op[list[tuple[ProcessId, str]]]:
    rows = yield TO_STOP, {"node": node}
    return [(ProcessId(process), reason) for process, reason in rows]
