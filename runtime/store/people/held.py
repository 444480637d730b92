"""Lists of what is held about one person, which they themselves may read."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Integer, bindparam, func, literal_column, select

from runtime.contract import Address, PersonId
from runtime.domain.events.feedback import Rating
from runtime.store.protocol.people import GivenRating, HeldData, SpokenRoom
from runtime.store.schema import (
    approvals,
    feedback,
    grants,
    identities,
    push_subscriptions,
    room_marks,
    schedules,
    signals,
    tasks,
    triggers,
    zones,
)
from runtime.store.sql.driver import Op, is_word, moment

HELD_LIST_MAX: Final = 200
"""Rows of a list on the page of one's own data; the export has all."""

ROOMS_SPOKEN = (
    select(signals.c.address, func.count(), func.max(signals.c.accepted_at))
    .where(
        signals.c.actor.in_(select(identities.c.identity).where(identities.c.person_id == bindparam("who"))),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),
    )
    .group_by(signals.c.address)
    .order_by(func.max(signals.c.accepted_at).desc(), signals.c.address)
    .limit(bindparam("n", type_=Integer))
)
TITLES_GIVEN = select(room_marks.c.address, room_marks.c.title).where(
    room_marks.c.owner.in_(select(identities.c.identity).where(identities.c.person_id == bindparam("who"))),
    room_marks.c.title != literal_column("''"),
)
RATINGS_GIVEN = (
    select(feedback.c.address, feedback.c.value, feedback.c.words, feedback.c.at)
    .where(feedback.c.person_id == bindparam("who"))
    .order_by(feedback.c.at.desc(), feedback.c.delivery_id)
    .limit(bindparam("n", type_=Integer))
)
BROWSERS_TOLD = (
    select(push_subscriptions.c.id, push_subscriptions.c.made_at)
    .where(push_subscriptions.c.person_id == bindparam("who"))
    .order_by(push_subscriptions.c.made_at.desc(), push_subscriptions.c.id)
)
ZONE_OF = select(zones.c.zone).where(zones.c.subject == bindparam("who"))
HELD_COUNTS: Final = {
    "schedules": select(func.count())
    .select_from(schedules)
    .where(schedules.c.owner == bindparam("who"), is_word(schedules.c.state, "active", "paused")),
    "triggers": select(func.count()).select_from(triggers).where(triggers.c.owner == bindparam("who")),
    "tasks": select(func.count()).select_from(tasks).where(tasks.c.posted_by == bindparam("who")),
    "grants": select(func.count()).select_from(grants).where(grants.c.by == bindparam("who")),
    "questions": select(func.count()).select_from(approvals).where(approvals.c.requester == bindparam("who")),
}


def held_of(who: PersonId) -> Op[HeldData]:
    given = {"who": who, "n": HELD_LIST_MAX}
    rooms = yield ROOMS_SPOKEN, given
    titles: dict[str, str] = dict((yield TITLES_GIVEN, {"who": who}))
    ratings = yield RATINGS_GIVEN, given
    browsers = yield BROWSERS_TOLD, {"who": who}
    zone = yield ZONE_OF, {"who": who}
    counts: dict[str, int] = {}
    for what, statement in HELD_COUNTS.items():
        counts[what] = (yield statement, {"who": who})[0][0]
    return HeldData(
        rooms=tuple(SpokenRoom(Address.parse(row[0]), row[1], moment(row[2]), titles.get(row[0], "")) for row in rooms),
        ratings=tuple(GivenRating(Address.parse(row[0]), Rating(row[1]), row[2], moment(row[3])) for row in ratings),
        browsers_told={row[0]: moment(row[1]) for row in browsers},
        zone=zone[0][0] if zone else "",
        counts=counts,
    )
