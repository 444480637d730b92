"""Tasks of rooms: posted, listed, claimed, completed, dropped and tried again. One transaction each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, literal_column, or_, select

from runtime.contract import Address, NewId, Person, PostedTask, SessionKey, TaskActor, TaskRequest, TaskState
from runtime.domain.agents.tasks import BACKGROUND, MYSELF, OPEN_TASKS_MAX, TaskEvent, title_of
from runtime.domain.ids import derived
from runtime.store.common import escaped, fact, in_room
from runtime.store.delegation.chains import whole_chain
from runtime.store.own_signals import written
from runtime.store.schema import sessions, tasks
from runtime.store.sql.driver import Op, micros
from runtime.store.tasks.background import start
from runtime.store.tasks.events import task_over
from runtime.store.tasks.rows import (
    ADD_TASK,
    LOCKED_TASK,
    OPEN_COUNT,
    WITH_POSTER,
    Row,
    give_back_lapsed,
    move_task,
    one,
)

LISTED_MAX: Final = 50
NAME_MIN_CHARS: Final = 4
"""Of the end of an id that names a task."""
FULL: Final = (
    f"This room has {OPEN_TASKS_MAX} open tasks, which is the limit. Finish or drop one first: /tasks lists them."
)
NESTED: Final = "A task in the background can't start another one. Say in your answer what you would post."
RACED: Final = "This very call is being carried out elsewhere. Look with task_list."
TOO_VAGUE: Final = "No task here is called {name!r}. task_list and /tasks show their ids."
_named = or_(
    tasks.c.id == bindparam("name"),
    tasks.c.id.like(literal_column("'%'").concat(bindparam("pattern")), escape="\\"),
)
NEWEST_TASKS = WITH_POSTER.where(in_room(tasks.c.room)).order_by(tasks.c.created_at.desc(), tasks.c.id.desc())
IN_ROOM = NEWEST_TASKS.limit(bindparam("n", type_=Integer))
IN_ROOM_SO = NEWEST_TASKS.where(tasks.c.state == bindparam("state")).limit(bindparam("n", type_=Integer))
ALL = WITH_POSTER.order_by(tasks.c.created_at.desc(), tasks.c.id.desc()).limit(bindparam("n", type_=Integer))
CALLED = select(tasks.c.id, tasks.c.room).where(_named).order_by(tasks.c.created_at.desc()).limit(50)
AGENT_OF = select(sessions.c.agent).where(sessions.c.key == bindparam("k"))

Refused = str
"""Words for whoever asked, where nothing was done."""


def post(
    wanted: TaskRequest, by: TaskActor, hands_to: Mapping[str, Collection[str]], now: datetime, new_id: NewId
) -> Op[PostedTask | Refused]:
    """Post a task of a run; with an agent that one begins at once. The same call again finds what it made.

    `hands_to` are the agents to which each one may hand work.
    """
    task = derived(by.run_id, by.key)
    if made := (yield from one(task)):
        return made
    if wanted.agent and by.session.startswith(f"{BACKGROUND}|"):
        return NESTED
    own = yield from agent_of(by.session)
    author = "" if wanted.agent in ("", MYSELF, own) else own
    agent = wanted.agent if author else own
    if author and agent not in hands_to.get(own, ()):
        return f"The agent {own} may not hand work to {agent}: `delegates_to` in its settings says to which it may."
    chain = (*(yield from whole_chain(by.run_id)), own)
    return (yield from add_task(task, wanted, agent, by.room, by.person, now, new_id, author=author, chain=chain))


def add_task(
    task: str,
    wanted: TaskRequest,
    agent: str,
    room: Address,
    person: Person | None,
    now: datetime,
    new_id: NewId,
    *,
    author: str = "",
    reply_to: str = "",
    chain: Sequence[str] = (),
) -> Op[PostedTask | Refused]:
    """The row, and its first run where the request names an agent. `author`, `reply_to`: see `start`.

    `chain` are the agents who had it posted: whoever works on it may do no more than each of them.
    """
    yield from give_back_lapsed(now)
    if (yield OPEN_COUNT, {"room": str(room)})[0][0] >= OPEN_TASKS_MAX:
        return FULL
    row = Row(
        *(task, agent, str(room), wanted.title or title_of(wanted.goal), wanted.goal, wanted.input, wanted.criteria),
        state=TaskState.OPEN,
        posted_by=person.id if person else None,
        owner=None,
        run_id=None,
        attempts=0,
        due_at=micros(wanted.due_at) if wanted.due_at else None,
        result="",
        created_at=micros(now),
        ended_at=None,
        chain=written(chain),
    )
    values = row._asdict()
    del values["poster"], values["run_state"]
    if not (yield ADD_TASK, values | {"state": TaskState.OPEN.value}):
        return RACED
    yield from fact(now, "task posted", person.name if person else author, task, str(room))
    if wanted.agent:
        row = yield from start(row, now, new_id, author=author, reply_to=reply_to)
    return row._replace(poster=person.name if person else None).task


def agent_of(session: SessionKey) -> Op[str]:
    rows = yield AGENT_OF, {"k": session}
    return rows[0][0] if rows else ""


def listed(room: Address | None, state: TaskState | None, now: datetime) -> Op[list[PostedTask]]:
    """Tasks of a room and its threads, or all, newest first; claims that are over were given back before."""
    yield from give_back_lapsed(now)
    if room is None:
        rows = yield ALL, {"n": 10 * LISTED_MAX}
        return [task for row in rows if state in (None, (task := Row(*row).task).state)]
    given: dict[str, object] = {"room": str(room.whole_room), "n": LISTED_MAX}
    rows = yield (IN_ROOM_SO, given | {"state": state.value}) if state else (IN_ROOM, given)
    return [Row(*row).task for row in rows]


def found(name: str, room: Address | None) -> Op[PostedTask | None]:
    """The newest task with that id, or whose id ends so; in the room or its threads."""
    name = name.strip().lstrip("#")
    rows = (yield CALLED, {"name": name, "pattern": escaped(name)}) if len(name) >= NAME_MIN_CHARS else []
    for task, at in rows:
        if room is None or Address.parse(at).whole_room == room.whole_room:
            return (yield from one(task))
    return None


def named(name: str, room: Address | None) -> Op[Row | None]:
    """The row of that task, locked."""
    task = yield from found(name, room)
    rows = (yield LOCKED_TASK, {"task": task.id}) if task else []
    return Row(*rows[0]) if rows else None


def claim(name: str, by: TaskActor, now: datetime) -> Op[tuple[PostedTask, str] | Refused]:
    """Lease a task to a run; and the agent that wrote it, where that is another one."""
    yield from give_back_lapsed(now)
    row = yield from named(name, by.room)
    if row is None:
        return TOO_VAGUE.format(name=name)
    own = yield from agent_of(by.session)
    author = "" if row.agent == own else row.agent
    if row.state == TaskState.CLAIMED and row.run_id == by.run_id:
        return row.task, author
    if row.state != TaskState.OPEN:
        return f"This task is {row.state}{f' by {row.owner}' if row.state == TaskState.CLAIMED else ''}."
    changes: dict[str, object] = {"owner": own, "run_id": by.run_id, "attempts": row.attempts + 1}
    row = yield from move_task(row, TaskEvent.CLAIM, now, changes)
    yield from fact(now, "task claim", own, row.id, by.run_id)
    return row.task, author


def complete(
    name: str, result: str, by: TaskActor, now: datetime, new_id: NewId, *, failed: bool
) -> Op[PostedTask | Refused]:
    """End a task that this very run has claimed."""
    row = yield from named(name, by.room)
    if row is None:
        return TOO_VAGUE.format(name=name)
    event = TaskEvent.FAIL if failed else TaskEvent.COMPLETE
    if row.run_id != by.run_id or row.state not in (TaskState.CLAIMED, TaskState.DONE, TaskState.FAILED):
        return "Claim this task before you complete it."
    if row.state == TaskState.CLAIMED:
        row = yield from move_task(row, event, now, {"result": result})
        yield from fact(now, f"task {event}", row.owner or "", row.id, by.run_id)
        yield from task_over(row, now, new_id)
    return row.task
