"""The beginning and the end of forgetting a person, each one transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Executable,
    Integer,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from runtime.chat.audience import able
from runtime.contract import Address, ApprovalKind, NewId, Person, RunId, SessionKey
from runtime.contract.agents.processes import ProcessEvent
from runtime.domain.approvals import Approval, Rights
from runtime.domain.forgetting.person import Forgotten, Needles, mark_of
from runtime.domain.runs import RunState
from runtime.store.approvals.audience import those_who_decide
from runtime.store.approvals.rulings import APPROVAL_COLUMNS, approval_of
from runtime.store.common import LOCK_LANE, NAMES, add, fact, person, web_identity
from runtime.store.delegation.stopping import end_below
from runtime.store.forgetting.pages import AT_WORK_SINCE, PARKED_OF, THEIRS_AT_WORK
from runtime.store.forgetting.removed import DIGESTS, digest_of, removed, sole_rooms
from runtime.store.intake.listing import OTHERS_SPOKE
from runtime.store.intake.run_stop import OpenRun, end_parked
from runtime.store.memory.readers import PAGE_CHANNEL, is_private
from runtime.store.people.roster import PERSON_NAMED_LOCKED, STOP_RUNS, remove
from runtime.store.processes.rows import IS_OPEN, happened
from runtime.store.protocol import Unmoved
from runtime.store.protocol.memory.forgetting import Begun, Forgetting
from runtime.store.schema import (
    approvals,
    audit,
    deliveries,
    forgettings,
    identities,
    people,
    processes,
    runs,
    schedules,
    sessions,
    signals,
    votes,
)
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros, moment

FIRST_STAGE: Final = "ending"
FORGETTING_DONE: Final = "done"
WHY_FORGOTTEN: Final = "Whoever asked for it is no longer here."

ADD_FORGETTING = add(forgettings)
ROW_ORDER: Final = [*forgettings.columns]
OPEN_ONES = select(*ROW_ORDER).where(forgettings.c.ended_at.is_(None)).order_by(forgettings.c.wanted_at)
ALL_ONES = select(*ROW_ORDER).order_by(forgettings.c.wanted_at.desc()).limit(bindparam("n", type_=Integer))
FORGETTING_BY_ID = select(*ROW_ORDER).where(forgettings.c.id == bindparam("which"))
MOVE_ON = (
    update(forgettings)
    .where(forgettings.c.id == bindparam("which"), forgettings.c.ended_at.is_(None))
    .values(
        stage=bindparam("new_stage"),
        reached=bindparam("new_reached"),
        changed=forgettings.c.changed + bindparam("more"),
    )
)
END_FORGETTING = (
    update(forgettings)
    .where(forgettings.c.id == bindparam("which"), forgettings.c.ended_at.is_(None))
    .values(needles="", stage=FORGETTING_DONE, reached="", ended_at=bindparam("at"))
    .returning(forgettings.c.changed)
)
ACTOR_NAMES = (
    select(signals.c.actor_name)
    .where(signals.c.actor == bindparam("identity"), is_word(signals.c.kind, "said"))
    .distinct()
)
ACTED_AS = (
    select(signals.c.actor)
    .where(signals.c.person_id == bindparam("who"), ~exists().where(identities.c.identity == signals.c.actor))
    .distinct()
)
RENAMED_TO = select(audit.c.detail).where(audit.c.kind == "person renamed", audit.c.subject == bindparam("name"))
REASONS_OF = (
    select(votes.c.reason)
    .where(votes.c.person_id == bindparam("who"))
    .union(select(approvals.c.reason).where(approvals.c.decided_by == bindparam("who")))
)
OTHER_NAMES = select(people.c.name).where(people.c.id != bindparam("who"))
PRIVATE_ROOMS = select(identities.c.room).where(
    identities.c.person_id == bindparam("who"), identities.c.room.is_not(None)
)
SPOKE_IN = (
    select(signals.c.address)
    .where(signals.c.actor == bindparam("identity"), is_word(signals.c.kind, "said"))
    .distinct()
)
SCHEDULES_OF = (
    select(func.count())
    .select_from(schedules)
    .where(schedules.c.owner == bindparam("who"), is_word(schedules.c.state, "active", "paused"))
)
PROCESSES_OF = select(processes.c.id).where(
    IS_OPEN, processes.c.run_id.in_(select(runs.c.id).where(runs.c.requester == bindparam("who")))
)
# They had the card in a chat of their own: whoever else may answer is called now.
CALL_OTHERS = (
    update(approvals)
    .where(
        is_word(approvals.c.state, "pending"),
        approvals.c.expires_at > bindparam("at"),
        exists().where(
            deliveries.c.origin == literal_column("'approval:'").concat(approvals.c.id),
            deliveries.c.address == bindparam("room"),
        ),
    )
    .values(next_call_at=bindparam("at"))
    .returning(approvals.c.id)
)
ROOMS_OF_SESSIONS = (
    select(sessions.c.address)
    .where(
        or_(
            sessions.c.address == bindparam("room"),
            func.substr(sessions.c.address, 1, func.length(bindparam("room")) + 1) == bindparam("room") + "/",
        )
    )
    .distinct()
)
PENDING_QUESTIONS = (
    select(*APPROVAL_COLUMNS)
    .where(is_word(approvals.c.state, "pending"))
    .order_by(approvals.c.id)
    .limit(bindparam("n", type_=Integer))
)
QUESTIONS_MAX: Final = 500
EVERYBODY = select(people.c.id, people.c.name).order_by(people.c.id)
FORMER_MAX: Final = 20
PARKED_A_STEP: Final = 10


def begin(name: str, actor: str, now: datetime, new_id: NewId, *, even_last: bool = False) -> Op[Begun | Unmoved]:
    """A person is no longer known from here on: whoever writes with their accounts is a stranger."""
    found = yield PERSON_NAMED_LOCKED, {"n": name}
    if not found:
        return (yield from _begin_removed(name, actor, now, new_id))
    who = person(found[0])
    needles = yield from needles_of(who)
    count = (yield SCHEDULES_OF, {"who": who.id})[0][0]
    removed = yield from remove(name, actor, now, even_last=even_last)
    if isinstance(removed, Unmoved):
        return removed
    for (process,) in (yield PROCESSES_OF, {"who": who.id}):
        yield from happened(process, ProcessEvent.STOP, now, reason=WHY_FORGOTTEN)
    for room in needles.rooms:
        yield CALL_OTHERS, {"room": room, "at": micros(now)}
    row = yield from enter(needles, actor, now, new_id)
    return Begun(row, who, count)


def _begin_removed(name: str, actor: str, now: datetime, new_id: NewId) -> Op[Begun | Unmoved]:
    """Somebody who was removed earlier: what they said stayed."""
    who = yield from removed(name)
    if who is None:
        return Unmoved.NOBODY
    needles = yield from needles_of_removed(who)
    yield STOP_RUNS, {"who": who.id}
    return Begun((yield from enter(needles, actor, now, new_id)), who, 0)


def forget_again(since: Collection[str], actor: str, now: datetime, new_id: NewId) -> Op[int]:
    """After a restore: begin again with people who were forgotten `since`, by their digests; how many."""
    known = {*since, *(row[0] for row in (yield DIGESTS, {}))}
    found = [name for who, name in (yield EVERYBODY, {}) if digest_of(who) in known]
    for name in found:
        yield from begin(name, actor, now, new_id, even_last=True)
    return len(found)


def enter(needles: Needles, actor: str, now: datetime, new_id: NewId) -> Op[Forgetting]:
    """Note that all which is kept of somebody is to be walked through."""
    digest = digest_of(needles.person)
    made = Forgetting(new_id(), digest, mark_of(digest), needles, FIRST_STAGE, "", 0, now, None)
    yield (
        ADD_FORGETTING,
        {
            "id": made.id,
            "digest": digest,
            "mark": made.mark,
            "needles": needles.to_json(),
            "stage": made.stage,
            "reached": "",
            "changed": 0,
            "wanted_at": micros(now),
            "ended_at": None,
        },
    )
    yield from fact(now, "person forgotten", actor, made.mark, "it begins")
    return made


def needles_of(who: Person) -> Op[Needles]:
    """All by which somebody is known, also what they were called before."""
    given = {str(row[0]) for row in (yield NAMES, {"person_id": who.id})} | {str(web_identity(who))}
    given |= {str(row[0]) for row in (yield ACTED_AS, {"who": who.id})}  # accounts that were taken away since
    names = {who.name}
    for identity in sorted(given):
        names |= {row[0] for row in (yield ACTOR_NAMES, {"identity": identity}) if row[0]}
    names |= yield from _former(who.name)
    every = Forgotten(Needles(names=frozenset(names)), "")
    others = {row[0] for row in (yield OTHER_NAMES, {"who": who.id}) if every.names_them(row[0])}
    rooms = yield from _rooms(who, sorted(given))
    reasons = frozenset(row[0] for row in (yield REASONS_OF, {"who": who.id}) if row[0])
    ids = frozenset({who.id, *given})
    return Needles(who.id, who.name, frozenset(names), ids, frozenset(rooms), frozenset(others), reasons)


def needles_of_removed(who: Person) -> Op[Needles]:
    """The same of somebody whose private rooms nobody noted any more."""
    known = yield from needles_of(who)
    rooms = yield from sole_rooms(who.id, known.ids)
    return replace(known, rooms=frozenset({*known.rooms, *rooms}))


def _former(name: str) -> Op[set[str]]:
    found: set[str] = set()
    waiting = [name]
    while waiting and len(found) < FORMER_MAX:
        for (detail,) in (yield RENAMED_TO, {"name": waiting.pop()}):
            before = detail.removeprefix("was ")
            if before and before not in found:
                found.add(before)
                waiting.append(before)
    return found


def _rooms(who: Person, given: Sequence[str]) -> Op[set[str]]:
    """Rooms that are theirs alone: private chats, and conversations of the page in which nobody else spoke."""
    noted = {str(row[0]) for row in (yield PRIVATE_ROOMS, {"who": who.id})}
    spoken, found = set(), set()
    for identity in given:
        native = identity.partition(":")[2]
        rooms = {Address.parse(row[0]).whole_room for row in (yield SPOKE_IN, {"identity": identity})}
        for room in sorted(str(one) for one in rooms if one.room == native):  # a private chat may have their own number
            if not (yield OTHERS_SPOKE, {"room": room, "identity": identity})[0][0]:
                found.add(room)
        spoken |= {str(room) for room in rooms if room.channel == PAGE_CHANNEL}
    for room in sorted(noted | spoken):
        if (yield from is_private(Address.parse(room), who.id)):
            found.add(room)
    return found


def forgetting_of(row: tuple[Any, ...]) -> Forgetting:
    which, digest, mark, needles, stage, reached, changed, wanted, ended = row
    known = Needles.from_json(needles) if needles else Needles()
    return Forgetting(which, digest, mark, known, stage, reached, changed, moment(wanted), maybe_moment(ended))


def listed(statement: Executable, given: dict[str, object]) -> Op[list[Forgetting]]:
    rows = yield statement, given
    return [forgetting_of(row) for row in rows]


def move_on(which: str, stage: str, reached: str, changed: int) -> Op[None]:
    yield MOVE_ON, {"which": which, "new_stage": stage, "new_reached": reached, "more": changed}


def end(one: Forgetting, now: datetime) -> Op[None]:
    """The last of them goes: their names. A digest and a mark stay."""
    if rows := (yield END_FORGETTING, {"which": one.id, "at": micros(now)}):
        yield from fact(now, "forgetting ended", "", one.mark, f"{rows[0][0]} rows changed or removed")


def end_parked_runs(one: Forgetting, now: datetime, new_id: NewId) -> Op[int]:
    """End some of their runs that wait; how many."""
    who = {"who": one.needles.person, "mark": one.mark, "n": PARKED_A_STEP}
    found = yield PARKED_OF, who
    for run, state, session, address in found:
        yield LOCK_LANE, {"k": session}
        open_run = OpenRun(RunId(run), RunState(state), SessionKey(session), Address.parse(address))
        yield from end_parked(open_run, WHY_FORGOTTEN, now, new_id)
        yield from end_below(RunId(run), WHY_FORGOTTEN, now, new_id)
    return len(found)


def is_at_work_since(since: datetime) -> Op[bool]:
    """True if a run is at work that began to be so before: it may have read what is gone by now."""
    return bool((yield AT_WORK_SINCE, {"since": micros(since)})[0][0])


def is_theirs_at_work(one: Forgetting) -> Op[bool]:
    """True if a run of theirs is at work: it was asked to stop, and writes until it does."""
    return bool((yield THEIRS_AT_WORK, {"who": one.needles.person, "mark": one.mark})[0][0])


def rooms_below(rooms: Sequence[str]) -> Op[list[Address]]:
    """Conversations in rooms, with their threads."""
    found = {Address.parse(room) for room in rooms}
    for room in rooms:
        found |= {Address.parse(row[0]) for row in (yield ROOMS_OF_SESSIONS, {"room": room})}
    return sorted(found, key=str)


def unanswerable(rights: Rights, now: datetime) -> Op[list[Approval]]:
    """Open questions that nobody may decide: those who might have are gone."""
    found = []
    for row in (yield PENDING_QUESTIONS, {"n": QUESTIONS_MAX}):
        approval = approval_of(row)
        if approval.kind is not ApprovalKind.ANSWER or approval.terms.approvers:
            candidates = yield from those_who_decide(approval.address, rights.approvers, now)
            if not able(approval, candidates, rights):
                found.append(approval)
    return found
