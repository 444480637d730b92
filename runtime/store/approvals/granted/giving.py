"""Answers that let a call run, and calls like it later: decided as any other, with a grant in the same transaction."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from runtime.calendar import WhenError, zone_named
from runtime.chat.views.grants import given
from runtime.chat.views.schedules import room_of
from runtime.contract import Choice, Clicked, NewId, Role
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, asked_about, objection
from runtime.policy.grants import Asked, Wish, wished
from runtime.store.approvals.decisions import CLICK_REFUSED, decide, locked
from runtime.store.approvals.granted.rows import give
from runtime.store.approvals.rulings import standing
from runtime.store.common import fact
from runtime.store.protocol import Decided
from runtime.store.schedules.book import zones_of
from runtime.store.sql.driver import Op


def decide_granting(click: Clicked, voter: Voter, rights: Rights, now: datetime, new_id: NewId) -> Op[Decided]:
    """A click on “This conversation”, or the form behind “Always…” as it was sent."""
    wish = (yield from _wish(click, voter, rights, now)) if click.choice is Choice.ALWAYS else None
    if isinstance(wish, str):
        yield from fact(now, CLICK_REFUSED, voter.person.name, asked_about(click.approval_id), wish)
        return Decided(objection=wish, form_stays=True)
    decided = yield from decide(replace(click, reason=given(wish) if wish else ""), voter, rights, now, new_id)
    if decided.objection is None and decided.approval and decided.approval.state is ApprovalState.APPROVED:
        yield from give(decided.approval, wish, now, new_id)
    return decided


def _wish(click: Clicked, voter: Voter, rights: Rights, now: datetime) -> Op[Wish | str | None]:
    """The grant that was filled in, or all that is wrong with it. None where the click itself does not count."""
    asked = yield from locked(asked_about(click.approval_id))
    if asked is None:
        return None
    copies, _ = yield from standing(asked.id)
    if objection(asked, voter, Choice.ALWAYS, rights, now, [at for _, at in copies[1:]]):
        return None
    arguments, by_owner = json.loads(asked.arguments or "{}"), voter.person.role >= Role.OWNER
    requester = asked.requester_name if asked.requester else ""
    call = Asked(asked.tool, asked.effect, arguments, by_owner, requester)
    return wished(click.values, call, now, (yield from _clocks(voter, asked)))


def _clocks(voter: Voter, asked: Approval) -> Op[tzinfo]:
    """Time zone in which a named day ends: the voter's, else the room's."""
    room = room_of(asked.address)
    zones = yield from zones_of(voter.person.id, room)
    try:
        return zone_named(zones.get(voter.person.id) or zones.get(room) or "UTC")
    except WhenError:
        return UTC
