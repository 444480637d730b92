"""Two people become one, in one transaction: all that says who it was says the other one from then on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, Select, Update, bindparam, delete, func, select, update

from runtime.contract import Person, PersonId, Role
from runtime.contract.memory.facts import Scope, ScopeKind
from runtime.store.common import fact, person, web_identity
from runtime.store.memory.ending.owners import merge_memories
from runtime.store.people.people import PERSON_NAMED, end_invitations, is_the_last_owner
from runtime.store.people.roster import (
    FORGET,
    FORGET_ABSENCE,
    FORGET_BUDGETS,
    FORGET_TRIES,
    FORGET_ZONE,
    INVITED_BY_NEW_NAME,
    locked_named,
)
from runtime.store.protocol import Unmoved
from runtime.store.protocol.people import Merging
from runtime.store.schema import (
    agent_rooms,
    agents,
    approvals,
    browser_sessions,
    deleted_rooms,
    feedback,
    grants,
    identities,
    invitations,
    memories,
    modes,
    person_summaries,
    push_subscriptions,
    reservations,
    room_marks,
    runs,
    schedules,
    signals,
    tasks,
    triggers,
    usage,
    votes,
    zones,
)
from runtime.store.sql.driver import Op, is_word

VOTED_TOO = delete(votes).where(
    votes.c.person_id == bindparam("old"),
    votes.c.approval_id.in_(select(votes.c.approval_id).where(votes.c.person_id == bindparam("new"))),
)
# A question names in its card and terms who asked for it beside its requester, and who alone may answer it.
HAND_OVER_QUESTIONS = (
    update(approvals)
    .where(is_word(approvals.c.state, "pending"))
    .values(
        card=func.replace(approvals.c.card, bindparam("old"), bindparam("new")),
        terms=func.replace(approvals.c.terms, bindparam("old"), bindparam("new")),
    )
)
HAS_ZONE = select(zones.c.subject).where(zones.c.subject == bindparam("new"))
_marked = room_marks.alias("marked")
MARKED_TOO = delete(room_marks).where(
    room_marks.c.owner == bindparam("old"),
    room_marks.c.address.in_(select(_marked.c.address).where(_marked.c.owner == bindparam("new"))),
)
_rated = feedback.alias("rated")
RATED_TOO = delete(feedback).where(
    feedback.c.actor == bindparam("old"),
    feedback.c.delivery_id.in_(select(_rated.c.delivery_id).where(_rated.c.actor == bindparam("new"))),
)


def _handed(column: Column[str] | Column[str | None]) -> Update:
    return update(column.table).where(column == bindparam("old")).values({column.name: bindparam("new")})


OF_PEOPLE: Final[Sequence[Column[Any]]] = (
    identities.c.person_id,
    votes.c.person_id,
    approvals.c.requester,
    approvals.c.decided_by,
    runs.c.requester,
    signals.c.person_id,
    usage.c.person_id,
    reservations.c.person_id,
    schedules.c.owner,
    tasks.c.posted_by,
    triggers.c.owner,
    agents.c.made_by,
    agent_rooms.c.set_by,
    modes.c.person,
    modes.c.set_by,
    grants.c.person,
    grants.c.by,
    memories.c.by_person,
    person_summaries.c.changed_by,
    feedback.c.person_id,
    invitations.c.used_by,
    push_subscriptions.c.person_id,
    browser_sessions.c.person_id,
)
"""Every column that says who it was, but those of which a person has at most one row."""
OF_VOICES: Final[Sequence[Column[Any]]] = (
    signals.c.actor,
    schedules.c.actor,
    triggers.c.actor,
    feedback.c.actor,
    room_marks.c.owner,
    deleted_rooms.c.owner,
)
"""Columns with the identity under which a person speaks on the page: their conversations there go by it."""
HAND_OVER: Final = tuple(map(_handed, OF_PEOPLE))
HAND_OVER_VOICES: Final = tuple(map(_handed, OF_VOICES))
HAND_OVER_ZONE = _handed(zones.c.subject)


def _counted(column: Column[Any]) -> Select[Any]:
    return select(func.count()).select_from(column.table).where(column == bindparam("old"))


TOLD_FIRST: Final = {
    "accounts": _counted(identities.c.person_id),
    "messages": _counted(signals.c.person_id),
    "runs": _counted(runs.c.requester),
    "schedules": _counted(schedules.c.owner),
    "tasks": _counted(tasks.c.posted_by),
    "triggers": _counted(triggers.c.owner),
    "questions": _counted(approvals.c.requester),
    "votes": _counted(votes.c.person_id),
    "grants": _counted(grants.c.by),
    "ratings": _counted(feedback.c.person_id),
}
"""Numbers of what would be somebody else's, for whoever decides about it. Memories are counted by their own scope."""
MEMORIES_OF = select(func.count()).select_from(memories).where(memories.c.scope == bindparam("scope"))


def merge(name: str, into: str, actor: str, now: datetime) -> Op[Person | Unmoved]:
    """One person from now on, with the name, the role and the web link of `into`."""
    found: dict[str, Person | None] = {}
    for one in sorted({name, into}):  # in one order, so that two who merge the same two do not wait for each other
        found[one] = yield from locked_named(one)
    who, other = found[name], found[into]
    if who is None or other is None:
        return Unmoved.NOBODY
    if fault := (yield from _fault(who, other)):
        return fault
    if other.role is not Role.OWNER:
        yield from end_invitations(name, actor, now)
    yield INVITED_BY_NEW_NAME, {"old": name, "new_name": into}
    yield FORGET_TRIES, {"who": who.id}
    yield FORGET, {"who": who.id}
    yield from _handed_over(who.id, other.id, now)
    voices = {"old": web_identity(who), "new": web_identity(other)}
    for statement in (MARKED_TOO, RATED_TOO, *HAND_OVER_VOICES):
        yield statement, voices
    yield from fact(now, "person merged", actor, into, f"{name}, {who.role.word}")
    return other


def _fault(who: Person, other: Person, *, looks: bool = False) -> Op[Unmoved | None]:
    if who.id == other.id:
        return Unmoved.THEMSELVES
    is_needed = other.role is not Role.OWNER and (yield from is_the_last_owner(who, looks=looks))
    return Unmoved.LAST_OWNER if is_needed else None


def _handed_over(old: PersonId, new: PersonId, now: datetime) -> Op[None]:
    both = {"old": old, "new": new}
    yield VOTED_TOO, both
    for who in (old, new):  # made anew of the usage of both
        yield FORGET_BUDGETS, {"who": who}
    for statement in (*HAND_OVER, HAND_OVER_QUESTIONS):
        yield statement, both
    if (yield HAS_ZONE, {"new": new}):
        yield FORGET_ZONE, {"who": old}
    else:
        yield HAND_OVER_ZONE, both
    yield from merge_memories(old, new, now)
    yield FORGET_ABSENCE, {"who": old}  # whoever is known by another name too is here


def merging(name: str, into: str) -> Op[Merging | Unmoved]:
    """The numbers that a merge would move; nothing is changed."""
    found = []
    for one in (name, into):
        rows = yield PERSON_NAMED, {"n": one}
        found += [person(row[:3]) for row in rows]
    if len(found) < 2:
        return Unmoved.NOBODY
    who, other = found
    if fault := (yield from _fault(who, other, looks=True)):
        return fault
    moves: dict[str, int] = {}
    for what, statement in TOLD_FIRST.items():
        rows = yield statement, {"old": who.id}
        moves[what] = rows[0][0]
    rows = yield MEMORIES_OF, {"scope": str(Scope(ScopeKind.PERSON, who.id))}
    moves["memories"] = rows[0][0]
    return Merging(who, other, moves)
