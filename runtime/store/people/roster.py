"""The roster: people renamed, signed out and removed, each in one transaction."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, select, update

from runtime.contract import Person
from runtime.policy.budgets import Scope
from runtime.store.common import LOCK_LANE, fact, person
from runtime.store.memory.ending.owners import forget_person
from runtime.store.people.people import end_invitations, is_the_last_owner
from runtime.store.people.sessions import DROP_BROWSERS_OF, DROP_SESSIONS_OF
from runtime.store.protocol import Unmoved
from runtime.store.schema import (
    absences,
    budgets,
    feedback,
    identities,
    invitations,
    pairing_tries,
    people,
    push_subscriptions,
    runs,
    schedules,
    sessions,
    signals,
    tasks,
    triggers,
    zones,
)
from runtime.store.sql.driver import Op, is_word, micros

PERSON_NAMED_LOCKED = (
    select(people.c.id, people.c.name, people.c.role).where(people.c.name == bindparam("n")).with_for_update()
)
RENAME = update(people).where(people.c.id == bindparam("who")).values(name=bindparam("new_name"))
INVITED_BY_NEW_NAME = (
    update(invitations)
    .where(invitations.c.made_by == bindparam("old"), invitations.c.ended_at.is_(None))
    .values(made_by=bindparam("new_name"))
)
SIGN_OUT = update(people).where(people.c.id == bindparam("who")).values(link_hash=None)
FORGET = delete(people).where(people.c.id == bindparam("who"))
FORGET_IDENTITIES = delete(identities).where(identities.c.person_id == bindparam("who"))
FORGET_ZONE = delete(zones).where(zones.c.subject == bindparam("who"))
FORGET_TRIGGERS = delete(triggers).where(triggers.c.owner == bindparam("who"))
FORGET_FEEDBACK = delete(feedback).where(feedback.c.person_id == bindparam("who"))
FORGET_BROWSERS = delete(push_subscriptions).where(push_subscriptions.c.person_id == bindparam("who"))
FORGET_ABSENCE = delete(absences).where(absences.c.person_id == bindparam("who"))
FORGET_BUDGETS = delete(budgets).where(
    is_word(budgets.c.scope, Scope.PERSON_DAY), budgets.c.subject == bindparam("who")
)
FORGET_TRIES = delete(pairing_tries).where(pairing_tries.c.actor == bindparam("who"))
STOP_RUNS = update(runs).where(runs.c.requester == bindparam("who"), is_word(runs.c.state, "running")).values(stop=1)
PAIRINGS_WAITING = (
    select(signals.c.session)
    .where(signals.c.person_id == bindparam("who"), is_word(signals.c.state, "waiting"))
    .group_by(signals.c.session)
    .order_by(signals.c.session)
)
UNASK = (
    update(signals)
    .where(
        signals.c.session == bindparam("s"),
        signals.c.person_id == bindparam("who"),
        is_word(signals.c.state, "waiting"),
    )
    .values(state="consumed", answered_at=bindparam("at"))
    .returning(signals.c.id)
)
LESS_WAITING = (
    update(sessions).where(sessions.c.key == bindparam("s")).values(waiting=sessions.c.waiting - bindparam("less"))
)
# Without its owner a schedule would work for nobody, with the rights of one that the settings plan.
END_SCHEDULES = (
    update(schedules)
    .where(schedules.c.owner == bindparam("who"), is_word(schedules.c.state, "active", "paused", "ended"))
    .values(state="removed", reason=bindparam("why"), next_at=None, due_at=None)
    .returning(schedules.c.id)
)
END_TASKS = (
    update(tasks)
    .where(tasks.c.posted_by == bindparam("who"), is_word(tasks.c.state, "open", "claimed"))
    .values(state="dropped", result=bindparam("why"), ended_at=bindparam("at"))
    .returning(tasks.c.id)
)


def rename(old: str, new: str, actor: str, now: datetime) -> Op[Person | Unmoved]:
    who = yield from locked_named(old)
    if who is None:
        return Unmoved.NOBODY
    if old != new and (yield PERSON_NAMED_LOCKED, {"n": new}):
        return Unmoved.TAKEN
    yield RENAME, {"who": who.id, "new_name": new}
    yield INVITED_BY_NEW_NAME, {"old": old, "new_name": new}
    yield from fact(now, "person renamed", actor, new, f"was {old}")
    return Person(who.id, new, who.role)


def sign_out(name: str, actor: str, now: datetime) -> Op[Person | Unmoved]:
    who = yield from locked_named(name)
    if who is None:
        return Unmoved.NOBODY
    yield SIGN_OUT, {"who": who.id}
    for drop in (DROP_SESSIONS_OF, DROP_BROWSERS_OF):
        yield drop, {"who": who.id}
    yield from fact(now, "signed out", actor, name)
    return who


def remove(name: str, actor: str, now: datetime, *, even_last: bool = False) -> Op[Person | Unmoved]:
    """Remove a person with what was kept for them; what they said and decided stays; what of it waits is not answered, since no rule would know whose it is.
    Questions that they caused are for others to answer. `even_last`: also the last owner, who was not when they were forgotten."""
    who = yield from locked_named(name)
    if who is None:
        return Unmoved.NOBODY
    if not even_last and (yield from is_the_last_owner(who)):
        return Unmoved.LAST_OWNER
    yield STOP_RUNS, {"who": who.id}
    yield from _unasked(who, actor, now)
    ended = yield END_SCHEDULES, {"who": who.id, "why": f"{name} was removed"}
    for (schedule,) in ended:
        yield from fact(now, "schedule remove", actor, schedule, f"{name} was removed")
    for (task,) in (yield END_TASKS, {"who": who.id, "why": f"{name} was removed.", "at": micros(now)}):
        yield from fact(now, "task drop", actor, task, f"{name} was removed")
    yield from end_invitations(name, actor, now)
    yield from forget_person(who.id, actor, now)
    for forget in (
        FORGET_TRIGGERS,
        FORGET_FEEDBACK,
        FORGET_BROWSERS,
        DROP_SESSIONS_OF,
        DROP_BROWSERS_OF,
        FORGET_IDENTITIES,
        FORGET_ZONE,
        FORGET_ABSENCE,
        FORGET_TRIES,
        FORGET_BUDGETS,
        FORGET,
    ):
        yield forget, {"who": who.id}
    yield from fact(now, "person removed", actor, name, who.role.word)
    return who


def _unasked(who: Person, actor: str, now: datetime) -> Op[None]:
    """Refuse what waits for a run, each lane locked before its messages, as every writer does it."""
    for (session,) in (yield PAIRINGS_WAITING, {"who": who.id}):
        yield LOCK_LANE, {"k": session}
        dropped = yield UNASK, {"s": session, "who": who.id, "at": micros(now)}
        yield LESS_WAITING, {"s": session, "less": len(dropped)}
        for (signal,) in dropped:
            yield from fact(now, "not answered", actor, signal, f"{who.name} was removed")


def locked_named(name: str) -> Op[Person | None]:
    rows = yield PERSON_NAMED_LOCKED, {"n": name}
    return person(rows[0]) if rows else None
