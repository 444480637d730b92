"""Absences: people who are not asked until they are back."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, select

from runtime.contract import Person, PersonId
from runtime.markup.moments import FORM
from runtime.store.common import fact, put
from runtime.store.schema import absences
from runtime.store.sql.driver import Op, micros, moment

AWAY_UNTIL = select(absences.c.until).where(
    absences.c.person_id == bindparam("who"), absences.c.until > bindparam("now")
)
SET_ABSENCE = put(absences)
COME_BACK = delete(absences).where(absences.c.person_id == bindparam("who")).returning(absences.c.until)
OVER_ABSENCES = delete(absences).where(absences.c.until <= bindparam("now"))


def away_until(who: PersonId, now: datetime) -> Op[datetime | None]:
    """Time an absent person is back, in UTC; None for one who is here."""
    rows = yield AWAY_UNTIL, {"who": who, "now": micros(now)}
    return moment(rows[0][0]) if rows else None


def set_away(who: Person, until: datetime, now: datetime) -> Op[None]:
    yield OVER_ABSENCES, {"now": micros(now)}
    yield SET_ABSENCE, {"person_id": who.id, "until": micros(until), "set_at": micros(now)}
    yield from fact(now, "away", who.name, who.id, f"until {until:{FORM}} UTC")


def come_back(who: Person, now: datetime) -> Op[bool]:
    """End an absence; False if there was none."""
    rows = yield COME_BACK, {"who": who.id}
    if not rows or moment(rows[0][0]) <= now:
        return False
    yield from fact(now, "back", who.name, who.id)
    return True
