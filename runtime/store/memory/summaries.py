"""Summaries of people: one text of what an agent knows about a person, for their private rooms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select, update

from runtime.contract.memory.facts import Scope, ScopeKind, Trust
from runtime.contract.people import Person, PersonId
from runtime.domain.memory.scopes import reach_of
from runtime.domain.memory.summing_up import as_own, is_due, parts_of, whole, without_added
from runtime.store.common import add, fact
from runtime.store.memory.ending.tombstones import bury, unburied
from runtime.store.memory.rows import MEMORIES, Row, is_current
from runtime.store.protocol.memory.memories import PersonSummary, Renewal
from runtime.store.schema import memories, people, person_summaries
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros, moment

RENEWED_FROM_MAX: Final = 100
"""Memories that a summary is made of: pinned ones first, then the newest."""
NEVER_CHANGED: Final = 0
"""Time of the change of one that was only turned on: a model may add to it at once."""

_whose = (person_summaries.c.person_id == bindparam("person")) & (person_summaries.c.agent == bindparam("agent_"))
SUMMARY_OF_PERSON: Final = (
    select(
        person_summaries.c.person_id,
        person_summaries.c.agent,
        person_summaries.c.text,
        person_summaries.c.enabled,
        people.c.name,
        person_summaries.c.changed_at,
    )
    .outerjoin(people, people.c.id == person_summaries.c.changed_by)
    .where(_whose)
)
LOCKED_SUMMARY = (
    select(person_summaries.c.text, person_summaries.c.changed_at)
    .where(_whose, person_summaries.c.enabled == 1)
    .with_for_update()
)
SAID_FOR_PERSON = (
    MEMORIES.where(memories.c.reach == bindparam("reach"), memories.c.trust == bindparam("said"), is_current)
    .order_by(memories.c.pinned.desc(), memories.c.number.desc())
    .limit(RENEWED_FROM_MAX)
)
TAKE_SUMMARY = update(person_summaries).where(_whose).values(changed_at=bindparam("at"))
WRITE_SUMMARY = (
    update(person_summaries)
    .where(_whose, person_summaries.c.enabled == 1)
    .values(text=bindparam("new_text"), changed_by=bindparam("by"), changed_at=bindparam("at"))
    .returning(person_summaries.c.agent)
)
_turned = add(person_summaries)
TURN_SUMMARY = _turned.on_conflict_do_update(
    index_elements=["person_id", "agent"],
    set_={name: _turned.excluded[name] for name in ("enabled", "changed_by")},
)
EMPTY_SUMMARY = update(person_summaries).where(_whose).values(text="")


def summary_of(person: PersonId, agent: str) -> Op[PersonSummary | None]:
    rows = yield SUMMARY_OF_PERSON, {"person": person, "agent_": agent}
    if not rows:
        return None
    whose, name, text, enabled, by, at = rows[0]
    return PersonSummary(PersonId(whose), name, text, bool(enabled), by or "", moment(at))


def write_summary(person: Person, agent: str, text: str, by: Person | None, now: datetime) -> Op[bool]:
    """Set the text as a person's own words. What a model had added, and they left out, it doesn't add again."""
    rows = yield LOCKED_SUMMARY, {"person": person.id, "agent_": agent}
    if not rows:
        return False
    own = as_own(text)
    for line in without_added(rows[0][0], own):
        yield from bury(_left_out(person.id, agent), line, now)
    given = {"person": person.id, "agent_": agent, "new_text": own, "by": by.id if by else None, "at": micros(now)}
    yield WRITE_SUMMARY, given
    if by is not None:
        yield from fact(now, "summary written", by.name, person.id, agent)
    return True


def begin_renewal(person: PersonId, agent: str, now: datetime) -> Op[Renewal | None]:
    """Take it for a day, where something new is kept."""
    whose = {"person": person, "agent_": agent}
    rows = yield LOCKED_SUMMARY, whose
    if not rows or not is_due(moment(rows[0][1]), now):
        return None
    text, changed_at = rows[0]
    found = yield from _said_for(person, agent, now)
    if all(row.created_at <= changed_at for row in found):
        return None
    yield TAKE_SUMMARY, {**whose, "at": micros(now)}
    return Renewal(person, agent, parts_of(text)[0], tuple(row.memory for row in found), now)


def end_renewal(begun: Renewal, added: Sequence[str], now: datetime) -> Op[bool]:
    """Add lines; none at all where the person changed it meanwhile, or had anything forgotten that they may be from."""
    whose = {"person": begun.person, "agent_": begun.agent}
    rows = yield LOCKED_SUMMARY, whose
    left = {row.id for row in (yield from _said_for(begun.person, begun.agent, now))}
    if not rows or rows[0][1] != micros(begun.begun_at) or any(row.id not in left for row in begun.rows):
        return False
    lines = yield from unburied(_left_out(begun.person, begun.agent), added)
    text = whole(parts_of(rows[0][0])[0], lines)
    yield WRITE_SUMMARY, {**whose, "new_text": text, "by": None, "at": micros(begun.begun_at)}
    yield from fact(now, "summary renewed", begun.agent, begun.person, str(len(lines)))
    return True


def _said_for(person: PersonId, agent: str, now: datetime) -> Op[list[Row]]:
    """Rows that a person's summary is made of: what is kept for them alone, and counts as said."""
    reach = reach_of(agent, Scope(ScopeKind.PERSON, person))
    rows = yield SAID_FOR_PERSON, {"reach": reach, "said": Trust.SAID.value, "now": micros(now)}
    return [Row(*row) for row in rows]


def _left_out(person: PersonId, agent: str) -> str:
    """The key of tombstones of lines that a person left out."""
    return f"summary {reach_of(agent, Scope(ScopeKind.PERSON, person))}"


def enable(person: Person, agent: str, now: datetime, *, on: bool) -> Op[None]:
    values = {"person_id": person.id, "agent": agent, "text": "", "enabled": int(on)}
    yield TURN_SUMMARY, values | {"changed_by": person.id, "changed_at": NEVER_CHANGED}
    if not on:
        yield EMPTY_SUMMARY, {"person": person.id, "agent_": agent}
    yield from fact(now, f"summary turned {'on' if on else 'off'}", person.name, person.id, agent)


class PersonSummaryStore(Base):
    """Implements `protocol.memory.PersonSummaries`."""

    async def summary(self, person: PersonId, agent: str) -> PersonSummary | None:
        return await self._driver.read(lambda: summary_of(person, agent))

    async def write_summary(self, person: Person, agent: str, text: str, *, by: Person | None) -> bool:
        now = self.now()
        return await self._driver.write(lambda: write_summary(person, agent, text, by, now))

    async def enable_summary(self, person: Person, agent: str, *, on: bool) -> None:
        now = self.now()
        await self._driver.write(lambda: enable(person, agent, now, on=on))

    async def begin_renewal(self, person: PersonId, agent: str) -> Renewal | None:
        now = self.now()
        return await self._driver.write(lambda: begin_renewal(person, agent, now))

    async def end_renewal(self, begun: Renewal, added: Sequence[str]) -> bool:
        now = self.now()
        return await self._driver.write(lambda: end_renewal(begun, added, now))
