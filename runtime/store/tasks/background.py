"""Tasks that are done in the background: each try is a run in a session of its own, and its end is the task's."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, literal_column, or_, select, update

from runtime.contract import Address, Content, DeliveryId, Kind, NewId, RunId, SignalId, TaskId, Trigger
from runtime.domain.agents.tasks import (
    BACKGROUND,
    TASK_TEXT_MAX_CHARS,
    TaskEvent,
    after_run,
    said,
    session_of,
    told_end,
)
from runtime.domain.goals.progress import BEGIN_GOAL
from runtime.domain.runs import RunState
from runtime.domain.triggers.chains import agents_in
from runtime.store.common import ADD_DELIVERY, LOCK_LANE, OPEN_LANE, delivery_row, fact, fresh_lane
from runtime.store.own_signals import OwnSignal, add_own, chain_of
from runtime.store.protocol import BackgroundTask, NewDelivery
from runtime.store.schema import people, runs, sessions, signals, steps
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.tasks.events import task_over
from runtime.store.tasks.rows import LOCKED_TASK_OF_RUN, TASK_OF_RUN, Row, move_task
from runtime.text.retold import retold
from runtime.text.words import said_at

POSTER_NAME = select(people.c.name).where(people.c.id == bindparam("person"))
WROTE = select(signals.c.message_id, signals.c.by_program, signals.c.actor_name).where(
    signals.c.session == bindparam("s")
)
ANSWER: Final = (
    update(signals)
    .where(signals.c.run_id == bindparam("run"), signals.c.answered_at.is_(None))
    .values(answered_at=bindparam("at"))
)
NOT_BEGUN = select(signals.c.id).where(signals.c.id == bindparam("signal"), is_word(signals.c.state, "waiting"))
FORGET_SIGNAL = (
    update(signals).where(signals.c.id == bindparam("signal")).values(state="stale", answered_at=bindparam("at"))
)
EMPTY_LANE = update(sessions).where(sessions.c.key == bindparam("k")).values(waiting=sessions.c.waiting - 1)
# Another try begins anew, and would do all of that once more.
HAS_ACTED = (
    select(steps.c.number)
    .where(
        steps.c.run_id == bindparam("run"),
        or_(is_word(steps.c.effect, "write", "danger"), is_word(steps.c.tool, BEGIN_GOAL)),
        steps.c.tool != literal_column("'plan_set'"),
        steps.c.started_at.is_not(None),
    )
    .limit(1)
)
OPEN_RUN = select(runs.c.state, runs.c.session, runs.c.address, runs.c.trigger).where(
    runs.c.id == bindparam("run"), is_word(runs.c.state, "running", "parked", "ready")
)


def start(row: Row, now: datetime, new_id: NewId, *, reply_to: str = "", author: str = "") -> Op[Row]:
    """Claim an open task for a run of its own, and put that before the dispatcher: a signal in a lane of its own.

    `author` is another agent that worded it: then it is read as the words of a program. `reply_to`: see `NewDelivery`.
    """

    signal, key = SignalId(new_id()), session_of(row.id, row.attempts + 1)
    claim: dict[str, object] = {"owner": row.agent, "run_id": signal, "attempts": row.attempts + 1}
    after = yield from move_task(row, TaskEvent.CLAIM, now, claim)
    names = (yield POSTER_NAME, {"person": row.posted_by}) if row.posted_by else []
    yield OPEN_LANE, fresh_lane(key, row.agent, Address.parse(row.room), now)
    name = author or (names[0][0] if names else BACKGROUND)
    yield from add_own(
        OwnSignal(
            id=signal,
            platform=BACKGROUND,
            key=key,
            trigger=Trigger.TASK,
            session=key,
            room=row.room,
            text=said(after.task),
            actor=f"web:{row.posted_by}" if row.posted_by else BACKGROUND,
            actor_name=name,
            person=row.posted_by,
            by_program=bool(author),
            reply_to=reply_to,
            chain=chain_of(row.chain),
        ),
        now,
    )
    yield from fact(now, "task begun", name, row.id, f"{row.room} {after.attempts}")
    return after


def start_again(row: Row, now: datetime, new_id: NewId) -> Op[Row]:
    """The same for one that was tried before: what it answers, and whose words it is, stays."""
    wrote = yield WROTE, {"s": session_of(row.id, row.attempts)}
    reply_to, is_program, name = wrote[0] if wrote else ("", 0, "")
    return (yield from start(row, now, new_id, reply_to=reply_to, author=name if is_program else ""))


def background_of(run: RunId) -> Op[BackgroundTask | None]:
    """The task that a run works on in the background."""
    rows = yield TASK_OF_RUN, {"run": run}
    found = Row(*rows[0]) if rows else None
    return found and BackgroundTask(
        TaskId(found.id), found.title, agents_in(chain_of(found.chain)), words_of(found), found.criteria
    )


def words_of(row: Row) -> str:
    """Goal of a task with what was given along."""
    return "\n\n".join(filter(None, [row.goal, f"[Given with it:]\n{row.input}" if row.input else ""]))


def task_ended(
    run: RunId, state: RunState, text: str, now: datetime, new_id: NewId, until: datetime | None = None
) -> Op[tuple[Address, ...]]:
    """End the task of a run that is over, or have it tried again; rooms that are told of it here.

    A run that answered tells its room itself. One that failed says nothing: the task is tried again, or its failure told.
    """
    rows = yield LOCKED_TASK_OF_RUN, {"run": run}
    if not rows:
        return ()
    row = Row(*rows[0])
    if state is RunState.FAILED:
        yield ANSWER, {"run": run, "at": micros(now)}
    if row.state != "claimed":  # dropped meanwhile, or completed by the run in so many words
        return () if state is not RunState.FAILED else (yield from _tell(row, text, now, new_id))
    has_acted = state is RunState.FAILED and bool((yield HAS_ACTED, {"run": run}))
    event = after_run(state, row.attempts, hopeless=has_acted or until is not None)
    row = yield from move_task(row, event, now, {"result": text[:TASK_TEXT_MAX_CHARS]})
    yield from fact(now, f"task {event}", "", row.id, row.room)
    yield from task_over(row, now, new_id)
    if event is TaskEvent.GIVE_BACK:
        yield from start_again(row, now, new_id)
        return ()
    return (yield from _tell(row, text, now, new_id)) if event is TaskEvent.FAIL else ()


def _tell(row: Row, text: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Tell the room that a task failed: once for a try."""
    address, origin = Address.parse(row.room), f"task:{row.id}:{row.attempts}"
    with said_at(address):
        content = Content(told_end(row.title, RunState.FAILED, retold(text)))
    yield ADD_DELIVERY, delivery_row(NewDelivery(DeliveryId(new_id()), origin, 0, Kind.FINAL, address, content), now)
    return (address,)


def never_begin(row: Row, now: datetime) -> Op[bool]:
    """Take back the signal of a run that has not begun; False where it has."""
    key = session_of(row.id, row.attempts)
    yield LOCK_LANE, {"k": key}
    if not row.run_id or not (yield NOT_BEGUN, {"signal": row.run_id}):
        return False
    yield FORGET_SIGNAL, {"signal": row.run_id, "at": micros(now)}
    yield EMPTY_LANE, {"k": key}
    return True
