"""Browsers that want to be told: kept while their sign-in is, and marked before they are told anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Integer, bindparam, delete, exists, literal_column, or_, select, update

from runtime.contract import Person, PersonId
from runtime.store.common import add, fact, held, person, put
from runtime.store.logins.rows import SESSION_LOGIN
from runtime.store.people.sessions import SESSION_LIFE
from runtime.store.protocol import Duty
from runtime.store.schema import (
    approvals,
    browser_sessions,
    identities,
    logins,
    people,
    push_marks,
    push_subscriptions,
)
from runtime.store.sql.driver import Op, is_word, micros

QUESTION_SUBJECT: Final = "question:"
BROWSERS_A_PERSON: Final = 20
BROWSERS_MOST: Final = 2_000
"""Browsers that are looked through at once."""
MARK_LIFE: Final = timedelta(days=100)
"""Longer than any question waits."""
TELL_TRIES_MAX: Final = 12
"""Failures one after the other until a browser is given up: about a day."""

_owner = people.alias("owner")
_its_session: ColumnElement[bool] = or_(
    _owner.c.link_hash == push_subscriptions.c.session,
    exists().where(
        browser_sessions.c.hash == push_subscriptions.c.session,
        browser_sessions.c.person_id == _owner.c.id,
        browser_sessions.c.link == _owner.c.link_hash,
    ),
    exists().where(
        logins.c.name == literal_column(f"'{SESSION_LOGIN}'").concat(push_subscriptions.c.session),
        logins.c.signed_in_at > bindparam("since"),
        logins.c.signed_in_by == identities.c.identity,
        identities.c.person_id == _owner.c.id,
    ),
)
SIGNED_IN: Final = exists().where(_owner.c.id == push_subscriptions.c.person_id, _its_session)
ANY_BROWSER = select(push_subscriptions.c.id).limit(1)
ANY_SIGNED_OUT = select(push_subscriptions.c.id).where(~SIGNED_IN).limit(1)
ANY_OLD_MARK = select(push_marks.c.subscription).where(push_marks.c.at < bindparam("before")).limit(1)
DROP_SIGNED_OUT = delete(push_subscriptions).where(~SIGNED_IN)
DROP_LOST_MARKS = delete(push_marks).where(
    or_(
        push_marks.c.at < bindparam("before"),
        ~exists().where(push_subscriptions.c.id == push_marks.c.subscription),
    )
)
PUT_BROWSER = put(push_subscriptions)
OF_PERSON = (
    select(push_subscriptions.c.id)
    .where(push_subscriptions.c.person_id == bindparam("who"))
    .order_by(push_subscriptions.c.made_at.desc())
)
DROP_BROWSER = (
    delete(push_subscriptions)
    .where(push_subscriptions.c.id == bindparam("of"))
    .returning(push_subscriptions.c.person_id)
)
DROP_OWN_BROWSER = (
    delete(push_subscriptions)
    .where(push_subscriptions.c.id == bindparam("of"), push_subscriptions.c.person_id == bindparam("who"))
    .returning(push_subscriptions.c.id)
)
DROP_MARKS = delete(push_marks).where(push_marks.c.subscription == bindparam("of"))
SET_HERE = (
    update(push_subscriptions)
    .where(push_subscriptions.c.person_id == bindparam("who"))
    .values(here_until=bindparam("until"))
    .returning(push_subscriptions.c.id)
)
BROWSERS_DUE = (
    select(
        push_subscriptions.c.id,
        push_subscriptions.c.sealed,
        push_subscriptions.c.made_at,
        push_subscriptions.c.here_until,
        push_subscriptions.c.tries,
        people.c.id,
        people.c.name,
        people.c.role,
    )
    .join(people, people.c.id == push_subscriptions.c.person_id)
    .where(push_subscriptions.c.due_at <= bindparam("now"), SIGNED_IN)
    .order_by(people.c.id, push_subscriptions.c.id)
    .limit(bindparam("n", type_=Integer))
)
MARKED = select(push_marks.c.subject).where(push_marks.c.subscription == bindparam("of"))
MARK = (
    add(push_marks).on_conflict_do_nothing(index_elements=["subscription", "subject"]).returning(push_marks.c.subject)
)
UNMARK = delete(push_marks).where(
    push_marks.c.subscription == bindparam("of"), push_marks.c.subject == bindparam("about")
)
IS_THERE = select(push_subscriptions.c.id).where(push_subscriptions.c.id == bindparam("of"), SIGNED_IN)
WENT_WELL = (
    update(push_subscriptions).where(push_subscriptions.c.id == bindparam("of")).values(tries=0, due_at=0, fault="")
)
WENT_WRONG = (
    update(push_subscriptions)
    .where(push_subscriptions.c.id == bindparam("of"))
    .values(tries=push_subscriptions.c.tries + 1, due_at=bindparam("again"), fault=bindparam("why"))
    .returning(push_subscriptions.c.tries)
)


IS_ASKED = select(approvals.c.id).where(approvals.c.id == bindparam("id"), is_word(approvals.c.state, "pending"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """A browser of a person that is told what waits for them. `is_looking`: they look at the page right now."""

    id: str
    person: Person
    sealed: str = field(repr=False)
    made_at: int = 0
    is_looking: bool = False
    tries: int = 0

    @staticmethod
    def about_of(name: str) -> str:
        """Binds a sealed address to its row."""
        return f"push subscription {name}"


def since(now: datetime) -> dict[str, int]:
    return {"since": micros(now - SESSION_LIFE)}


def of_person(who: PersonId) -> Op[list[str]]:
    """Browsers of a person, the newest first."""
    return [row[0] for row in (yield OF_PERSON, {"who": who})]


def keep(name: str, who: PersonId, session: str, sealed: str, now: datetime) -> Op[None]:
    """Keep a browser, or its new keys. The oldest ones of somebody who has too many go."""
    every = yield from of_person(who)
    if name not in every:
        yield DROP_MARKS, {"of": name}  # what somebody else was told in this browser, this person wasn't
    mine = [one for one in every if one != name]
    for old in mine[BROWSERS_A_PERSON - 1 :]:
        yield from drop(old)
    row = {"id": name, "person_id": who, "session": session, "sealed": sealed, "made_at": micros(now)}
    yield PUT_BROWSER, {**row, "here_until": 0, "tries": 0, "due_at": 0, "fault": ""}


def drop(name: str) -> Op[bool]:
    gone = yield DROP_BROWSER, {"of": name}
    yield DROP_MARKS, {"of": name}
    return bool(gone)


def drop_own(name: str, who: PersonId) -> Op[None]:
    if (yield DROP_OWN_BROWSER, {"of": name, "who": who}):
        yield DROP_MARKS, {"of": name}


def subject_of(question: str) -> str:
    return f"{QUESTION_SUBJECT}{question}"


def here(who: PersonId, until: datetime | None, seen: Sequence[str], now: datetime) -> Op[None]:
    """A person looks at the page, or no longer does; the questions that they have `seen` there need no telling."""
    rows = yield SET_HERE, {"who": who, "until": micros(until) if until else 0}
    for question in seen if rows else ():
        if (yield IS_ASKED, {"id": question}):  # what nobody asked needs no mark, and could be without end
            for (browser,) in rows:
                yield MARK, {"subscription": browser, "subject": subject_of(question), "at": micros(now)}


def due(now: datetime) -> Op[list[Browser]]:
    rows = yield BROWSERS_DUE, {"now": micros(now), "n": BROWSERS_MOST, **since(now)}
    return [
        Browser(
            id=row[0],
            sealed=row[1],
            made_at=row[2],
            is_looking=row[3] > micros(now),
            tries=row[4],
            person=person(row[5:]),
        )
        for row in rows
    ]


def any_to_sweep(now: datetime) -> Op[bool]:
    """True if a sign-in has ended, or marks are older than any question waits."""
    return bool((yield ANY_SIGNED_OUT, since(now)) or (yield ANY_OLD_MARK, {"before": micros(now - MARK_LIFE)}))


def sweep(duty: Duty, now: datetime) -> Op[None]:
    """Forget browsers whose sign-in ended, and marks of nobody."""
    if (yield from held(duty)):
        yield DROP_SIGNED_OUT, since(now)
        yield DROP_LOST_MARKS, {"before": micros(now - MARK_LIFE)}


def begin(duty: Duty, browser: str, subject: str, now: datetime) -> Op[bool]:
    """Mark before it is told; false where it was told already, is gone, or the duty is lost."""
    if not (yield from held(duty)) or not (yield IS_THERE, {"of": browser, **since(now)}):
        return False
    return bool((yield MARK, {"subscription": browser, "subject": subject, "at": micros(now)}))


def taken(browser: str) -> Op[None]:
    yield WENT_WELL, {"of": browser}


def failed(browser: str, subject: str, why: str, again: datetime, *, anew: bool, now: datetime) -> Op[bool]:
    """It took nothing; `anew`: certainly, so it is told again. False where it is given up."""
    if anew:
        yield UNMARK, {"of": browser, "about": subject}
    rows = yield WENT_WRONG, {"of": browser, "again": micros(again), "why": why}
    if not rows or rows[0][0] < TELL_TRIES_MAX:
        return True
    yield from give_up(browser, why, now)
    return False


def give_up(browser: str, why: str, now: datetime) -> Op[None]:
    """Forget a browser for good, with a fact about it."""
    rows = yield DROP_BROWSER, {"of": browser}
    yield DROP_MARKS, {"of": browser}
    if rows:
        yield from fact(now, "browser dropped", rows[0][0], browser, why)
