"""Claiming a ready lane, and turning what waits there into turns of its run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, case, or_, select, update

from runtime.contract import Address, Busy, Person, PersonId, RunId, SessionKey
from runtime.domain.joining import NOBODY, Standing, joining
from runtime.domain.routing import BusyRules, busy_at
from runtime.domain.runs import RunEvent
from runtime.store.common import PERSON, add, moved, owned, person
from runtime.store.protocol import Claim, Lane, Lease, Offer, Recorded
from runtime.store.runs.steps import LAST_TURN, open_steps
from runtime.store.runs.suspects import next_suspect, set_aside
from runtime.store.runs.turns import add_turn, attached, transcript
from runtime.store.schedules.run_occurrence import job_of
from runtime.store.schema import nodes, people, runs, sessions, signals
from runtime.store.sql.driver import Op, is_word, micros

NEAR: Final = 64
"""Turns of a transcript that comes along with a claim; a longer one is read beside the writer, not by it."""

LIVE_NODE = (
    select(nodes.c.id)
    .where(nodes.c.id == bindparam("node"), nodes.c.fence == bindparam("fence"), is_word(nodes.c.state, "live"))
    .with_for_update(read=True, key_share=True)
)
READY_LANE = (
    select(sessions.c.key)
    .where(is_word(sessions.c.state, "ready"))  # no lane is made ready for later, and a clock may jump back
    .order_by(sessions.c.ready_at)
    .limit(1)
    .with_for_update(skip_locked=True)
)
TAKE_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(state="running", owner=bindparam("node"), fence=sessions.c.fence + 1)
    .returning(sessions.c.fence, sessions.c.agent, sessions.c.address, sessions.c.next_turn, sessions.c.since_turn)
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


class Waiting(NamedTuple):
    """A signal that waits, with what its sender may do by now: None for one who was forgotten."""

    id: str
    text: str
    files: str
    actor_name: str
    person_id: PersonId | None
    message_id: str
    by_program: int
    role: int | None

    @property
    def standing(self) -> Standing:
        return Standing(self.person_id, NOBODY if self.role is None else self.role, bool(self.by_program))


WAITING_SIGNALS = (
    select(*(signals.c[name] for name in Waiting._fields[:-1]), people.c.role)
    .outerjoin(people, people.c.id == signals.c.person_id)
    .where(signals.c.session == bindparam("s"), is_word(signals.c.state, "waiting"))
    .order_by(signals.c.seq)
    .limit(1000)
)
_asker = people.alias("asker")
STEERABLE = (
    WAITING_SIGNALS.add_columns(runs.c.requester, _asker.c.role)
    .join(runs, runs.c.id == bindparam("run"))
    .outerjoin(_asker, _asker.c.id == runs.c.requester)
)
"""The same, and of each row who asked for the run that they may join: one statement, and only where something waits."""
CONSUME = (
    update(signals)
    .where(or_(signals.c.id == bindparam("one"), signals.c.merged_into == bindparam("one")))
    .values(run_id=bindparam("run"), state=case((signals.c.state == "waiting", "consumed"), else_=signals.c.state))
)
LESS_WAITING = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(waiting=sessions.c.waiting - bindparam("less"), next_turn=bindparam("next"))
    .returning(sessions.c.waiting)
)
ADD_RUN = add(runs)


def claim(lease: Lease, busy: Busy | BusyRules, now: datetime) -> Op[Claim | None]:
    """A ready session: its live run after a kill, else a decided one, else a new one for what waits."""
    if not (yield LIVE_NODE, {"node": lease.node, "fence": lease.fence}):
        return None
    while ready := (yield READY_LANE, {}):
        key = SessionKey(ready[0][0])
        if claimed := (yield from _taken(key, lease, busy, now)):
            return claimed
        yield IDLE_LANE, {"k": key}  # what it was ready for is gone: a parked run was stopped
    return None


def claim_lane(key: SessionKey, offer: Offer, now: datetime) -> Op[Claim | None]:
    """This very session, which is ready: for a message that was taken in just now, in the same transaction."""
    if not (yield LIVE_NODE, {"node": offer.lease.node, "fence": offer.lease.fence}):
        return None
    return (yield from _taken(key, offer.lease, offer.busy, now))


def lanes_of(lease: Lease) -> Op[list[Lane]]:
    rows = yield OWNED, {"node": lease.node}
    return [Lane(SessionKey(key), lease.node, fence) for key, fence in rows]


def claim_suspect(lease: Lease, busy: Busy | BusyRules, most: int, now: datetime) -> Op[Claim | None]:
    """The next run under which processes died, to be watched alone."""
    if not (yield LIVE_NODE, {"node": lease.node, "fence": lease.fence}):
        return None
    key = yield from next_suspect()
    claimed = (yield from _taken(SessionKey(key), lease, busy, now)) if key else None
    if claimed and claimed.crashes == most:  # with more deaths it was written down before
        yield from set_aside(claimed.run_id, lease.node, claimed.crashes, now)
    return claimed


def _taken(key: SessionKey, lease: Lease, busy: Busy | BusyRules, now: datetime) -> Op[Claim | None]:
    taken = yield TAKE_LANE, {"k": key, "node": lease.node}
    fence, agent, address, next_turn, since = taken[0]
    lane = Lane(key, lease.node, fence)
    return (yield from _run_of(lane, agent, Address.parse(address), next_turn, since, busy, now))


def _run_of(
    lane: Lane, agent: str, address: Address, next_turn: int, since: int, busy: Busy | BusyRules, now: datetime
) -> Op[Claim | None]:
    rows = yield GOING_ON, {"s": lane.session}
    if not rows or rows[0][-1] == "parked":
        return (yield from _begin(lane, agent, address, next_turn, since, busy_at(busy, address), now))
    *row, state = rows[0]
    if state == "running":
        yield from moved(now, row[0], lane.node, RunEvent.RESUME, row[8] or "")
        return (yield from _resumed(lane, agent, row, overtaken=False))
    yield LESS_RESUMABLE, {"k": lane.session}
    return (yield from _resumed(lane, agent, row, overtaken=next_turn - 1 > row[6]))


def _resumed(lane: Lane, agent: str, row: Sequence[Any], *, overtaken: bool) -> Op[Claim]:
    run, requester, _, iterations, next_step, stop, _, address, _, crashes, reply_to, since = row
    yield TAKE_RUN, {"run": run, "by": lane.node}
    unfinished = yield from open_steps(RunId(run))
    who, names = yield from _requester(requester)
    files = yield from attached(lane.session, RunId(run))
    job = yield from job_of(lane.session)
    return Claim(
        lane,
        agent,
        RunId(run),
        Address.parse(address),
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
    )


def _requester(person_id: str | None) -> Op[tuple[Person | None, frozenset[str]]]:
    """Who asked, and the names under which a policy may know them."""
    rows = yield PERSON, {"person_id": person_id}
    if not rows:
        return None, frozenset()
    who = person(rows[0][:3])
    return who, frozenset([who.id, who.name, *(row[3] for row in rows if row[3])])


def _begin(
    lane: Lane, agent: str, address: Address, next_turn: int, since: int, busy: Busy, now: datetime
) -> Op[Claim | None]:
    waiting = [Waiting(*row) for row in (yield WAITING_SIGNALS, {"s": lane.session})]
    if not waiting:
        return None
    first = waiting[0]
    share = [first] if busy is Busy.FOLLOWUP else joining(waiting, lambda one: one.standing, first.standing)
    run = RunId(first.id)  # one id follows a message from its arrival to its reply
    yield (
        ADD_RUN,
        {
            "id": run,
            "session": lane.session,
            "address": str(address),
            "state": "running",
            "requester": first.person_id,  # of all whom it hears none may do less
            "claims": 1,
            "iterations": 0,
            "next_step": 1,
            "stop": 0,
            "last_turn": next_turn + len(share) - 1,
            "error": "",
            "started_at": micros(now),
            "ready_at": micros(now),
            "ended_at": None,
            "node": lane.node,
            "crashes": 0,
            "reply_to": first.message_id,
            "since_turn": since,
        },
    )
    yield from consume(lane, run, share, next_turn, now)
    who, names = yield from _requester(first.person_id)
    near = next_turn + len(share) - since <= NEAR
    turns = tuple((yield from transcript(lane.session, since))) if near else None
    job, to = (yield from job_of(lane.session)), first.message_id
    return Claim(
        lane, agent, run, address, who, False, 0, 1, False, False, names, turns=turns, reply_to=to, since=since, job=job
    )


def consume(lane: Lane, run: RunId, share: Sequence[Waiting], next_turn: int, now: datetime) -> Op[int]:
    """Signals become user turns of `run`; how many still wait."""
    for number, one in enumerate(share, next_turn):
        yield CONSUME, {"one": one.id, "run": run}
        told = with_files(one.text, one.files)
        yield from add_turn(lane.session, number, run, "user", told, now, author=one.actor_name, files=one.files)
    less = {"k": lane.session, "less": len(share), "next": next_turn + len(share)}
    rows = yield LESS_WAITING, less
    return int(rows[0][0])


def with_files(text: str, files: str) -> str:
    """A message as the model reads it."""
    known = ((path, f" ({size:,} bytes)" if size else "") for _, path, size, *_ in json.loads(files))
    attached = [f"[attached file: {path}{size}]" for path, size in known]
    return "\n".join([*filter(None, [text]), *attached])


def steer(lane: Lane, run: RunId, now: datetime) -> Op[Recorded | None]:
    """What people said meanwhile joins this run, as far as nobody gains rights by that; the rest waits for its own."""
    mine = yield from owned(lane)
    if mine is None:
        return None
    rows = yield STEERABLE, {"s": lane.session, "run": run}
    share = _joining(rows) if rows else []
    waiting = yield from consume(lane, run, share, mine[0], now)
    rows = yield LAST_TURN, {"run": run, "turn": mine[0] + len(share) - 1}
    return Recorded(bool(rows[0][0]), waiting)


def _joining(rows: Sequence[tuple[Any, ...]]) -> list[Waiting]:
    *_, requester, role = rows[0]
    asker = Standing(requester, NOBODY if role is None else role)
    return joining([Waiting(*row[:-2]) for row in rows], lambda one: one.standing, asker)
