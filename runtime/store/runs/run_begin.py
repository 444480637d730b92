"""The begin of a run, whatever its trigger: the signals that wait in its lane become its first turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, case, exists, func, or_, select, update

from runtime.contract import Address, Busy, Child, ChildState, Person, PersonId, RunId, SessionKey, Trigger, Turn
from runtime.domain.agents.manifest import MAIN
from runtime.domain.joining import NOBODY, Rights, as_said, joining
from runtime.domain.programs.token import API_PREFIXES
from runtime.domain.routing import BusyRules, busy_at
from runtime.domain.runs import FOR_SCHEDULES
from runtime.policy.modes import Mode
from runtime.store.agents.held_back import at_work
from runtime.store.approvals.modes import MODE_WORD, mode_called
from runtime.store.common import PERSON, add, at_once, person, session_key
from runtime.store.delegation.chains import above
from runtime.store.delegation.rows import child_at
from runtime.store.protocol import Around, Claim, Lane
from runtime.store.runs.turns import NO_FILES, TURNS_SINCE, add_turn, leave_out, turn_of
from runtime.store.schedules.run_occurrence import job_of
from runtime.store.schema import identities, people, runs, sessions, signals, zones
from runtime.store.sql.driver import Op, Query, is_word, micros
from runtime.store.tasks.background import background_of
from runtime.text.outside import of_program

NEAR: Final = 64
"""Turns of a transcript that comes along with a claim; a longer one is read beside the writer, not by it."""


class Waiting(NamedTuple):
    """A signal that waits, with what its sender may do by now: None for one who was forgotten."""

    id: str
    text: str
    files: str
    actor_name: str
    person_id: PersonId | None
    message_id: str
    by_program: int
    trigger: str
    actor: str
    replaces: str
    role: int | None

    @property
    def standing(self) -> Rights:
        is_program = bool(self.by_program) or self.actor.startswith(API_PREFIXES)
        return Rights(self.person_id, NOBODY if self.role is None else self.role, is_program)

    @property
    def told_at(self) -> str:
        """Id of a message that somebody wrote, and that stands in nobody's place."""
        return self.message_id if self.trigger == Trigger.MESSAGE and not self.replaces else ""


WAITING_SIGNALS = (
    select(*(signals.c[name] for name in Waiting._fields[:-1]), people.c.role)
    .outerjoin(people, people.c.id == signals.c.person_id)
    .where(signals.c.session == bindparam("s"), is_word(signals.c.state, "waiting"))
    .order_by(signals.c.seq)
    .limit(1000)
)
_asker = people.alias("asker")
_known = identities.alias("known")
STEERABLE = (
    WAITING_SIGNALS.add_columns(runs.c.requester, _asker.c.role)
    .join(runs, runs.c.id == bindparam("run"))
    .outerjoin(_asker, _asker.c.id == runs.c.requester)
    .where(exists().where(sessions.c.key == bindparam("s"), at_work()))
)
"""The same, and of each row who asked for the run that they may join: one statement, and only where something waits.

Nothing joins a run whose agent was suspended meanwhile: its senders were told that it waits.
"""
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


_ASKED_AT = (
    select(identities.c.identity).where(identities.c.room == bindparam("room")).exists().label("private"),
    select(func.count())
    .select_from(runs)
    .where(runs.c.session == bindparam("s"), is_word(runs.c.state, "parked", "ready"))
    .scalar_subquery(),
)
ASKER = (
    select(
        people.c.id,
        people.c.name,
        people.c.role,
        _known.c.identity,
        select(zones.c.zone).where(zones.c.subject == people.c.id).scalar_subquery(),
        select(zones.c.zone).where(zones.c.subject == bindparam("room")).scalar_subquery(),
        MODE_WORD.scalar_subquery(),
        *_ASKED_AT,
    )
    .select_from(
        sessions.outerjoin(people, people.c.id == bindparam("person_id")).outerjoin(
            _known, _known.c.person_id == people.c.id
        )
    )
    .where(sessions.c.key == bindparam("s"))
)
"""A row for each identity of a requester, and one without where there is none; with what is so around the session."""


def begin_run(
    lane: Lane,
    agent: str,
    address: Address,
    waiting: list[Waiting],
    next_turn: int,
    since: int,
    busy: Busy | BusyRules,
    now: datetime,
    *,
    last: bool,
) -> Op[Claim | None]:
    """A run for the signals that wait in the lane, whatever began it; None where nothing waits. `last`: its operation asks
    nothing after it."""
    if not waiting:
        return None
    first, share = waiting[0], waiting[:1]
    if len(waiting) > 1 and first.trigger != Trigger.HAND_OVER and busy_at(busy, address) is not Busy.FOLLOWUP:
        share += joining(before_one_apart(waiting[1:]), lambda one: one.standing, first.standing)
    trigger = Trigger(first.trigger)
    child = (yield from child_at(RunId(first.id))) if trigger is Trigger.CHILD else None
    run = RunId(first.id)  # one id follows a message from its arrival to its reply
    last_turn = next_turn + len(share) - 1
    yield ADD_RUN, _fresh_run(lane, first, address, last_turn, since, now) | {"stop": int(_is_over(child))}
    less_waiting = yield from consume(lane, run, share, next_turn, now)
    asking = asker_at(lane.session, spoken_to(agent, child), address, first.person_id, now)
    near = [(TURNS_SINCE, {"s": lane.session, "since": since})] if next_turn + len(share) - since <= NEAR else []
    ends = last and trigger is Trigger.MESSAGE  # of others more is read
    _, asked, *told = yield at_once(less_waiting, asking, *near, last=ends)
    who, names, around = asker_in(asked)
    turns = _near(told[0]) if told else None
    job = (yield from job_of(run, trigger)) if trigger in FOR_SCHEDULES else None
    return Claim(
        *(lane, agent, run, address, who, False, 0, 1, _is_over(child), False, names),
        turns=turns,
        reply_to=first.message_id,
        since=since,
        job=job,
        child=child,
        around=around,
        task=(yield from background_of(run)) if trigger is Trigger.TASK else None,
        handed_by=(yield from above(run)) if trigger is Trigger.HAND_OVER else (),
    )


def _near(rows: Sequence[tuple[Any, ...]]) -> tuple[Turn, ...] | None:
    """The turns that were read along; None where one cannot be read, which the run says once it reads them itself."""
    try:
        return tuple(map(turn_of, rows))
    except (ValueError, TypeError, KeyError):
        return None


def heard(rows: Iterable[Sequence[Any]]) -> list[Waiting]:
    """The signals of `WAITING_SIGNALS`, in the order in which they are heard."""
    waiting = [Waiting(*row) for row in rows]
    return as_said(waiting, lambda one: one.told_at) if len(waiting) > 1 else waiting


def before_one_apart(waiting: Iterable[Waiting]) -> list[Waiting]:
    """The signals before the first that begins a run of its own: one that an agent handed over, which may do less, and one
    that is said in place of an earlier message, perhaps of the very run that it would join."""
    return list(takewhile(lambda one: one.trigger != Trigger.HAND_OVER and not one.replaces, waiting))


def _fresh_run(
    lane: Lane, first: Waiting, address: Address, last_turn: int, since: int, now: datetime
) -> dict[str, object]:
    return {
        "id": first.id,
        "session": lane.session,
        "address": str(address),
        "state": "running",
        "requester": first.person_id,  # of all whom it hears none may do less
        "claims": 1,
        "iterations": 0,
        "next_step": 1,
        "stop": 0,
        "last_turn": last_turn,
        "error": "",
        "started_at": micros(now),
        "ready_at": micros(now),
        "ended_at": None,
        "node": lane.node,
        "crashes": 0,
        "reply_to": first.message_id,
        "since_turn": since,
        "trigger": first.trigger,
        "model": "",
    }


def spoken_to(agent: str, child: Child | None) -> str:
    """The agent with which people speak where a run works: a child goes by the modes of that one's conversation."""
    return child.chain[0] if child else agent


def _is_over(child: Child | None) -> bool:
    return child is not None and child.state is not ChildState.OPEN


def asker_at(session: SessionKey, agent: str, address: Address, person_id: str | None, now: datetime) -> Query:
    """The query of whoever asked, whose rows are for `asker_in`."""
    home = address.whole_room
    own = {"thread": session_key(agent, address), "home": session_key(agent, home)}
    main = {"main_thread": session_key(MAIN, address), "main_home": session_key(MAIN, home)}
    given = {"s": session, "person_id": person_id, "room": str(home), "now": micros(now)}
    return ASKER, {**given, **own, **main}


def asker_in(rows: Sequence[Any]) -> tuple[Person | None, frozenset[str], Around]:
    """Requester, the names under which a policy may know them, and what else is so where they asked."""
    first = rows[0]
    around = Around(
        first[4] or "",
        first[5] or "",
        mode_called(first[6]) if first[6] else Mode.NORMAL,
        bool(first[7]),
        int(first[8]),
    )
    if first[0] is None:
        return None, frozenset(), around
    who = person(first[:3])
    return who, frozenset([who.id, who.name, *(row[3] for row in rows if row[3])]), around


def requester_of(person_id: str | None) -> Op[tuple[Person | None, frozenset[str]]]:
    """Requester, and the names under which a policy may know them."""
    rows = yield PERSON, {"person_id": person_id}
    if not rows:
        return None, frozenset()
    who = person(rows[0][:3])
    return who, frozenset([who.id, who.name, *(row[3] for row in rows if row[3])])


def consume(lane: Lane, run: RunId, share: Sequence[Waiting], next_turn: int, now: datetime) -> Op[Query]:
    """Signals become user turns of `run`. The query that counts them off their lane, and tells how many still wait."""
    for number, one in enumerate(share, next_turn):
        yield CONSUME, {"one": one.id, "run": run}
        if one.replaces:
            yield from leave_out(one.replaces)
        is_bot = one.by_program and one.trigger != Trigger.HOOK  # a hook fences what isn't its operator's words itself
        told = with_files(of_program(one.text, one.actor_name) if is_bot else one.text, one.files)
        yield from add_turn(lane.session, number, run, "user", told, now, author=one.actor_name, files=one.files)
    return LESS_WAITING, {"k": lane.session, "less": len(share), "next": next_turn + len(share)}


def with_files(text: str, files: str) -> str:
    """A message as the model reads it."""
    if files == NO_FILES:
        return text
    known = ((path, f" ({size:,} bytes)" if size else "") for _, path, size, *_ in json.loads(files))
    attached = [f"[attached file: {path}{size}]" for path, size in known]
    return "\n".join([*filter(None, [text]), *attached])
