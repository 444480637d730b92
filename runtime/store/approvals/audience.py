"""Reads what a question tells of its request, who may decide it, and where each of them can be asked alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Text, and_, bindparam, exists, func, literal_column, or_, select

from runtime.chat.audience import Audience, Candidate
from runtime.contract import Address, OccurrenceId, Person, PersonId, Report, RunId, TaskKind
from runtime.domain.approvals import LEAST
from runtime.policy.modes import Mode
from runtime.store.approvals.modes import mode_at
from runtime.store.approvals.newcomers import LAST_PAGE
from runtime.store.common import in_room, person, web_identity
from runtime.store.schema import (
    absences,
    approvals,
    children,
    deliveries,
    identities,
    occurrences,
    people,
    runs,
    sessions,
    signals,
    turns,
)
from runtime.store.sql.driver import Op, is_word, maybe_moment, micros

LAST_SAID = (
    select(signals.c.text, func.coalesce(people.c.name, signals.c.actor_name), signals.c.message_id)
    .outerjoin(people, people.c.id == signals.c.person_id)
    .where(signals.c.run_id == bindparam("run"), is_word(signals.c.kind, "said"))
    .order_by(signals.c.accepted_at.desc(), signals.c.id.desc())
    .limit(1)
)
"""The newest of the messages that a run heard, with our name of whoever said it: what people said while it worked led to
its calls too, and on a platform anybody may be called like the requester."""
SPEAKERS = (
    select(signals.c.person_id)
    .where(signals.c.run_id == bindparam("run"), is_word(signals.c.kind, "said"), signals.c.person_id.is_not(None))
    .distinct()
)
_WITH_IDENTITIES = (
    select(people.c.id, people.c.name, people.c.role, identities.c.identity, identities.c.room, absences.c.until)
    .outerjoin(identities, identities.c.person_id == people.c.id)
    .outerjoin(absences, and_(absences.c.person_id == people.c.id, absences.c.until > bindparam("now")))
    .order_by(people.c.id, identities.c.identity)
)
LEADERS = _WITH_IDENTITIES.where(people.c.role >= int(LEAST))
CALLED = _WITH_IDENTITIES.where(
    or_(
        people.c.id == bindparam("n"),
        people.c.id.in_(select(identities.c.person_id).where(identities.c.identity == bindparam("n"))),
    )
)
"""One whom `access.approvers` names."""
BY_NAME = (
    select(people.c.id, people.c.name, people.c.role)
    .outerjoin(identities, identities.c.person_id == people.c.id)
    .where(
        or_(
            func.lower(people.c.name) == func.lower(bindparam("n", type_=Text)),
            people.c.id == bindparam("n"),
            identities.c.identity == bindparam("n"),
        )
    )
    .order_by(people.c.name != bindparam("n"), people.c.id)
    .limit(1)
)
"""One whom the agent asks; the very name goes before one that is written otherwise."""
SPOKE_HERE = (
    select(signals.c.id)
    .where(
        signals.c.actor == bindparam("i"),
        is_word(signals.c.kind, "said"),
        ~is_word(signals.c.state, "refused"),
        in_room(signals.c.address),
    )
    .order_by(signals.c.accepted_at.desc())
    .limit(1)
)
_asker = runs.alias("asking")
_WORK_ABOVE = (
    select(func.max(occurrences.c.report))
    .join(children, children.c.root_run == occurrences.c.run_id)
    .where(children.c.id == bindparam("run"))
    .scalar_subquery()
)
"""What the run of a child works for in the end, where that is a workflow or a goal."""
OPEN_CARDS = (
    select(func.count(), _WORK_ABOVE)
    .select_from(approvals)
    .join(_asker, _asker.c.id == bindparam("run"))
    .where(
        is_word(approvals.c.state, "pending"),
        approvals.c.session == _asker.c.session,
        func.coalesce(approvals.c.requester, "") == func.coalesce(_asker.c.requester, ""),
        exists().where(deliveries.c.origin == literal_column("'approval:'", Text).concat(approvals.c.id)),
    )
)
"""Questions of whoever asked for a run that have a card, in its conversation."""
LAST_WORDS = (
    select(turns.c.text)
    .where(
        turns.c.session == select(runs.c.session).where(runs.c.id == bindparam("run")).scalar_subquery(),
        turns.c.run_id == bindparam("run"),
        is_word(turns.c.role, "assistant"),
    )
    .order_by(turns.c.number.desc())
    .limit(1)
)
AGENT_OF = select(sessions.c.agent).join(runs, runs.c.session == sessions.c.key).where(runs.c.id == bindparam("run"))
IS_PRIVATE = select(identities.c.identity).where(identities.c.room == bindparam("room")).limit(1)


def audience(run: RunId, address: Address, approvers: Collection[str], now: datetime) -> Op[Audience]:
    """`approvers` are those of the settings; without any, operators and owners decide."""
    rows = yield LAST_SAID, {"run": run}
    said, by, message = rows[0] if rows else ("", "", "")
    candidates = yield from those_who_decide(address, approvers, now)
    private = bool((yield IS_PRIVATE, {"room": str(address.whole_room)}))
    cards, above = (yield OPEN_CARDS, {"run": run})[0]
    plan, heard = (yield from _plan(run, address, now)), (yield from speakers(run))
    return Audience(said, by, candidates, private, message, int(cards), plan, heard, _work_in(above))


def _work_in(report: str | None) -> tuple[TaskKind, str] | None:
    if not report:
        return None
    work = Report.from_json(OccurrenceId(""), report)
    return work.task.kind, work.task.called(work.name)


def speakers(run: RunId) -> Op[frozenset[PersonId]]:
    """People whose words a run heard."""
    rows = yield SPEAKERS, {"run": run}
    return frozenset(PersonId(row[0]) for row in rows)


def _plan(run: RunId, address: Address, now: datetime) -> Op[str | None]:
    """The words of the model before its calls, in a conversation where those are a plan."""
    agents = yield AGENT_OF, {"run": run}
    if (yield from mode_at(agents[0][0], address, now)).mode is not Mode.PLAN:
        return None
    said = yield LAST_WORDS, {"run": run}
    return str(said[0][0]) if said else ""


def called(name: str) -> Op[Person | None]:
    """The person of this name, id or identity."""
    rows = yield BY_NAME, {"n": name}
    return person(rows[0]) if rows else None


def those_who_decide(address: Address, approvers: Collection[str], now: datetime) -> Op[tuple[Candidate, ...]]:
    """Everybody who may decide something, as far as people and settings tell."""
    at = {"now": micros(now)}
    rows = [] if approvers else (yield LEADERS, at)
    for name in sorted(approvers):
        rows += yield CALLED, {**at, "n": name}
    found: dict[str, Candidate] = {}
    for key, group in groupby(rows, itemgetter(0)):
        if key not in found:
            found[key] = yield from _candidate(list(group), address.whole_room)
    return tuple(sorted(found.values(), key=lambda one: (one.person.name, one.person.id)))


def _candidate(rows: Iterable[tuple[Any, ...]], here: Address) -> Op[Candidate]:
    first, *_ = rows = list(rows)
    who, names = person(first[:3]), [row[3] for row in rows if row[3]]
    rooms = [Address.parse(row[4]) for row in rows if row[4]]
    rooms += [Address.parse(at) for (at,) in (yield LAST_PAGE, {"i": web_identity(who)})]
    is_here = here in rooms
    for name in names:
        if not is_here and name.startswith(f"{here.channel}:"):
            is_here = bool((yield SPOKE_HERE, {"i": name, "room": str(here)}))
    return Candidate(who, frozenset([who.id, *names]), tuple(dict.fromkeys(rooms)), is_here, maybe_moment(first[5]))
