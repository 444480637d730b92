"""Claiming a ready lane: its run goes on, or one begins; and what comes meanwhile joins it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update

from runtime.contract import Address, Busy, RunId, SessionKey, Trigger
from runtime.domain.joining import NOBODY, Rights, joining
from runtime.domain.routing import BusyRules
from runtime.domain.runs import FOR_SCHEDULES, RunEvent
from runtime.errors import RowDamaged
from runtime.store.agents.held_back import AFTER_ITS_END, at_work, has_ended
from runtime.store.common import at_once, fence_of, moved
from runtime.store.delegation.chains import above
from runtime.store.delegation.rows import child_at
from runtime.store.protocol import Claim, Lane, Lease, Offer, Recorded
from runtime.store.runs.run_begin import (
    STEERABLE,
    WAITING_SIGNALS,
    Waiting,
    asker_at,
    asker_in,
    before_one_apart,
    begin_run,
    consume,
    heard,
    spoken_to,
)
from runtime.store.runs.steps import LAST_TURN, OPEN_STEPS, tool_steps
from runtime.store.runs.suspects import next_suspect, set_aside
from runtime.store.runs.turns import attached
from runtime.store.schedules.run_occurrence import job_of
from runtime.store.schema import nodes, runs, sessions
from runtime.store.sql.driver import Op, is_word
from runtime.store.tasks.background import background_of

LIVE_NODE = (
    select(nodes.c.id)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("fence"), is_word(nodes.c.state, "live"))
    .with_for_update(read=True, key_share=True)
)
READY_LANE = (
    select(sessions.c.key)
    .where(is_word(sessions.c.state, "ready"), at_work())  # no lane is made ready for later, and a clock may jump back
    .order_by(sessions.c.ready_at)
    .limit(1)
    .with_for_update(skip_locked=True)
)
TAKE_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(state="running", owner=bindparam("node"), fence=sessions.c.fence + 1)
    .returning(
        sessions.c.fence,
        sessions.c.agent,
        sessions.c.address,
        sessions.c.next_turn,
        sessions.c.since_turn,
        sessions.c.model,
        has_ended(),
    )
)
OWNED = select(sessions.c.key, sessions.c.fence).where(
    sessions.c.owner == bindparam("node"), is_word(sessions.c.state, "running")
)
IDLE_LANE = (
    update(sessions).where(sessions.c.key == bindparam("k")).values(state="idle", owner=None, waiting=0, resumable=0)
)
RUN_COLUMNS = (
    runs.c.id,
    runs.c.requester,
    runs.c.claims,
    runs.c.iterations,
    runs.c.next_step,
    runs.c.stop,
    runs.c.last_turn,
    runs.c.address,
    runs.c.node,
    runs.c.crashes,
    runs.c.reply_to,
    runs.c.since_turn,
    runs.c.trigger,
    runs.c.model,
)
GOING_ON = (
    select(*RUN_COLUMNS, runs.c.state)
    .where(runs.c.session == bindparam("s"), is_word(runs.c.state, "running", "parked", "ready"))
    .order_by(runs.c.state.desc(), runs.c.ready_at)
    .limit(1)
)
"""The run that a dead process left running, else the first that is ready to go on; parked ones last, which wait."""
TAKE_RUN = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(state="running", claims=runs.c.claims + 1, node=bindparam("by"))
)
LESS_RESUMABLE = update(sessions).where(sessions.c.key == bindparam("k")).values(resumable=sessions.c.resumable - 1)


def claim(lease: Lease, busy: Busy | BusyRules, now: datetime) -> Op[Claim | None]:
    """A ready session: its live run after a kill, else a decided one, else a new one for what waits."""
    live, found = yield at_once((LIVE_NODE, {"node": lease.node, "fence": lease.fence}), (READY_LANE, {}))
    ready: Sequence[Any] = found if live else ()
    while ready:
        key = SessionKey(ready[0][0])
        if claimed := (yield from _take_lane(key, lease, busy, now, last=True)):
            return claimed
        yield IDLE_LANE, {"k": key}  # what it was ready for is gone: a parked run was stopped
        ready = yield READY_LANE, {}
    return None


def claim_lane(key: SessionKey, offer: Offer, now: datetime, *, last: bool) -> Op[Claim | None]:
    """This very session, which is ready: for a message that was taken in just now by a node that lives, in the same
    transaction. `last`: nothing follows there."""
    return (yield from _take_lane(key, offer.lease, offer.busy, now, last=last))


def lanes_of(lease: Lease) -> Op[list[Lane]]:
    rows = yield OWNED, {"node": lease.node}
    return [Lane(SessionKey(key), lease.node, fence) for key, fence in rows]


def claim_suspect(lease: Lease, busy: Busy | BusyRules, most: int, now: datetime) -> Op[Claim | None]:
    """The next run under which processes died, to be watched alone."""
    if not (yield LIVE_NODE, {"node": lease.node, "fence": lease.fence}):
        return None
    key = yield from next_suspect()
    if not key:
        return None
    claimed = yield from _take_lane(SessionKey(key), lease, busy, now, last=False)
    if claimed is None:
        yield IDLE_LANE, {"k": key}  # it was kept apart for what is gone
    elif claimed.crashes == most:  # with more deaths it was written down before
        yield from set_aside(claimed.run_id, lease.node, claimed.crashes, now)
    return claimed


def _take_lane(key: SessionKey, lease: Lease, busy: Busy | BusyRules, now: datetime, *, last: bool) -> Op[Claim | None]:
    """Errors: RowDamaged. With `last` the lane may be this node's all the same."""
    of_lane = {"s": key}
    try:
        taken, rows, waiting = yield at_once(
            (TAKE_LANE, {"k": key, "node": lease.node}), (GOING_ON, of_lane), (WAITING_SIGNALS, of_lane)
        )
        fence, agent, room, next_turn, since, wanted, over = taken[0]
        lane, address = Lane(key, lease.node, fence), Address.parse(room)
        if not rows or rows[0][-1] == "parked":
            begun = yield from begin_run(lane, agent, address, heard(waiting), next_turn, since, busy, now, last=last)
            return begun and replace(begun, wanted=wanted, agent=f"{agent}{AFTER_ITS_END}" if over else agent)
        *row, state = rows[0]
        if state == "running":
            yield from moved(now, row[0], lane.node, RunEvent.RESUME, row[8] or "")
            return replace((yield from _resumed(lane, agent, row, now, overtaken=False)), wanted=wanted)
        yield LESS_RESUMABLE, {"k": lane.session}
        return replace((yield from _resumed(lane, agent, row, now, overtaken=next_turn - 1 > row[6])), wanted=wanted)
    except Exception as error:  # the database's own never come here, but end the operation
        raise RowDamaged(key, error) from error


def _resumed(lane: Lane, agent: str, row: Sequence[Any], now: datetime, *, overtaken: bool) -> Op[Claim]:
    run, requester, _, iterations, next_step, stop, _, address, _, crashes, reply_to, since, trigger, model = row
    yield TAKE_RUN, {"run": run, "by": lane.node}
    unfinished = tool_steps((yield OPEN_STEPS, {"run": run}))
    begun = Trigger(trigger)
    child = (yield from child_at(RunId(run))) if begun is Trigger.CHILD else None
    room = Address.parse(address)
    who, names, around = asker_in((yield asker_at(lane.session, spoken_to(agent, child), room, requester, now)))
    files = yield from attached(lane.session, RunId(run))
    job = (yield from job_of(RunId(run), begun)) if begun in FOR_SCHEDULES else None
    return Claim(
        lane,
        agent,
        RunId(run),
        room,
        who,
        True,
        iterations,
        next_step,
        bool(stop),
        overtaken,
        names,
        unfinished,
        crashes,
        reply_to=reply_to,
        since=since,
        job=job,
        files=files,
        model=model,
        around=around,
        child=child,
        task=(yield from background_of(RunId(run))) if begun is Trigger.TASK else None,
        handed_by=(yield from above(RunId(run))) if begun is Trigger.HAND_OVER else (),
    )


def steer(lane: Lane, run: RunId, now: datetime) -> Op[Recorded | None]:
    """Join what people said meanwhile to this run where that gives nobody more rights; the rest waits."""
    held, rows = yield at_once(fence_of(lane), (STEERABLE, {"s": lane.session, "run": run}))
    if not held:
        return None
    next_turn, share = held[0][0], _joining(rows) if rows else []
    less_waiting = yield from consume(lane, run, share, next_turn, now)
    left, stop = yield at_once(less_waiting, (LAST_TURN, {"run": run, "turn": next_turn + len(share) - 1}))
    return Recorded(bool(stop[0][0]), int(left[0][0]))


def _joining(rows: Sequence[tuple[Any, ...]]) -> list[Waiting]:
    *_, requester, role = rows[0]
    asker = Rights(requester, NOBODY if role is None else role)
    waiting = before_one_apart(heard(row[:-2] for row in rows))
    return joining(waiting, lambda one: one.standing, asker)
