"""Summaries of people: one text of what an agent knows about a person, for their private rooms."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select, update

from runtime.contract.people import Person, PersonId
from runtime.store.common import add, fact
from runtime.store.protocol.memory.memories import PersonSummary
from runtime.store.schema import people, person_summaries
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros, moment

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
WRITE_SUMMARY = (
    update(person_summaries)
    .where(_whose, person_summaries.c.enabled == 1)
    .values(text=bindparam("new_text"), changed_by=bindparam("by"), changed_at=bindparam("at"))
    .returning(person_summaries.c.agent)
)
_turned = add(person_summaries)
TURN_SUMMARY = _turned.on_conflict_do_update(
    index_elements=["person_id", "agent"],
    set_={name: _turned.excluded[name] for name in ("enabled", "changed_by", "changed_at")},
)
EMPTY_SUMMARY = update(person_summaries).where(_whose).values(text="")


def summary_of(person: PersonId, agent: str) -> Op[PersonSummary | None]:
    rows = yield SUMMARY_OF_PERSON, {"person": person, "agent_": agent}
    if not rows:
        return None
    whose, name, text, enabled, by, at = rows[0]
    return PersonSummary(PersonId(whose), name, text, bool(enabled), by or "", moment(at))


def write_summary(person: Person, agent: str, text: str, by: Person | None, now: datetime) -> Op[bool]:
    given = {"person": person.id, "agent_": agent, "new_text": text, "by": by.id if by else None, "at": micros(now)}
    is_written = bool((yield WRITE_SUMMARY, given))
    if is_written and by is not None:
        yield from fact(now, "summary written", by.name, person.id, agent)
    return is_written


def enable(person: Person, agent: str, now: datetime, *, on: bool) -> Op[None]:
    values = {"person_id": person.id, "agent": agent, "text": "", "enabled": int(on)}
    yield TURN_SUMMARY, values | {"changed_by": person.id, "changed_at": micros(now)}
    if not on:
        yield EMPTY_SUMMARY, {"person": person.id, "agent_": agent}
    yield from fact(now, f"summary turned {'on' if on else 'off'}", person.name, person.id, agent)


class PersonSummaryStore(Base):
    """Implements `protocol.memory.PersonSummaries`."""

    async def summary(self, person: PersonId, agent: str) -> PersonSummary | None:
        return await self._driver.read(lambda: summary_of(person, agent))

    async def write(self, person: Person, agent: str, text: str, *, by: Person | None) -> bool:
        now = self.now()
        return await self._driver.write(lambda: write_summary(person, agent, text, by, now))

    async def enable(self, person: Person, agent: str, *, on: bool) -> None:
        now = self.now()
        await self._driver.write(lambda: enable(person, agent, now, on=on))
