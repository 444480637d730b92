"""Deciding approvals: one transaction checks everything, records the vote and lets the run go on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from runtime.chat.cards import open_cards, verdicts
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Choice,
    Clicked,
    NewId,
    Person,
    RunId,
    SessionKey,
)
from runtime.domain.approvals import (
    APPROVAL_MOVES,
    EVENT_OF,
    KEPT_FROM_HOME,
    NEED_QUORUM,
    Approval,
    ApprovalEvent,
    ApprovalState,
    Rights,
    Voter,
    asked_about,
    objection,
)
from runtime.domain.ids import digest
from runtime.domain.machines import move
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.trigger import EventKind
from runtime.store.approvals import newcomers
from runtime.store.approvals.quorum import voted
from runtime.store.approvals.rulings import (
    APPROVAL_COLUMNS,
    approval_of,
    changed_words,
    edit_cards,
    record,
    refresh,
    standing,
)
from runtime.store.approvals.undo_offers import press
from runtime.store.common import fact, moved, put
from runtime.store.delegation.showing import show_change
from runtime.store.protocol import Decided
from runtime.store.runs.turns import SET_TURN
from runtime.store.runs.waiting.waits import settled
from runtime.store.schema import approvals, sessions, steps, votes
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.triggers.firing import happened
from runtime.text.naming import listed
from runtime.text.words import marked

CLICK_REFUSED = "click refused"
NOBODY = marked("I can't find this question.")
MEANWHILE = marked("The call has changed in the meantime. Please look at the card again.")
OTHER_CALL: Final = marked("This isn't the call I asked about, so your answer doesn't count.")
COUNTED_BEFORE: Final = marked("You've approved this already: {given} of {needed} so far.")
COUNTED_NOW: Final = marked("Your approval is counted: {given} of {needed} so far.")
Change = Callable[[Approval, Voter, Rights, datetime], Op[Approval | str]]
"""Changes what a question is about, or tells why it does not."""

BY_ID = select(*APPROVAL_COLUMNS).where(approvals.c.id == bindparam("id"))
BY_ID_LOCKED = BY_ID.with_for_update()
LOCK_LANE_OF = (
    select(sessions.c.key)
    .where(sessions.c.key == select(approvals.c.session).where(approvals.c.id == bindparam("id")).scalar_subquery())
    .with_for_update()
)
OF_RUN = select(*APPROVAL_COLUMNS).where(approvals.c.run_id == bindparam("run"), is_word(approvals.c.state, "pending"))
EXPIRED_A_LOOK: Final = 100
EXPIRED_AT_ONCE: Final = 10
"""Questions that one transaction ends, and what else is overdue in their runs: each takes many statements, and an operation that
takes longer than a database may be silent is cut off, so that of too many none would ever end."""
OVERDUE = (
    select(approvals.c.id, approvals.c.run_id)
    .where(is_word(approvals.c.state, "pending"), approvals.c.expires_at <= bindparam("now"))
    .order_by(approvals.c.expires_at)
    .limit(EXPIRED_A_LOOK)
)
SET_VOTE = put(votes)
STEP = select(steps.c.arguments_hash, steps.c.turn).where(
    steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n")
)
REOPEN_STEP = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"), is_word(steps.c.state, "asked"))
    .values(state="open")
)
CLOSE_STEP = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"), is_word(steps.c.state, "asked"))
    .values(state="done", result=bindparam("text"), ended_at=bindparam("at"))
)


def decide(
    click: Clicked,
    voter: Voter,
    rights: Rights,
    now: datetime,
    new_id: NewId,
    change: Change | None = None,
    *,
    alone: bool = False,
) -> Op[Decided]:
    """A click: it counts, or it changes nothing and says why. `change` is made first, and what it leaves is approved.

    `alone`: it is about no other call of the same card.
    """
    approval_id, choice, reason = asked_about(click.approval_id), click.choice, click.reason
    approval = yield from locked(approval_id)
    if approval is None:
        return (yield from _refused(click.approval_id, voter, NOBODY, now))
    if approval.lead and not alone and change is None:
        from runtime.store.approvals.listed import decide_listed  # which needs this module

        return (yield from decide_listed(approval, click, voter, rights, now, new_id))
    is_home = voter.address.whole_room == approval.address.whole_room and KEPT_FROM_HOME not in approval.card
    copies = [] if is_home else (yield from standing(approval.lead or approval.id))[0][1:]
    if choice is Choice.UNDO:
        return (yield from press(approval, voter, rights, [at for _, at in copies], now, new_id))
    against = objection(approval, voter, choice, rights, now, [at for _, at in copies], reason)
    if against is None and not (yield from is_frozen(approval)):
        against = OTHER_CALL
    if against is None and click.approval_id != approval.as_shown:
        against = MEANWHILE
    if against is None and change is not None:
        made, choice = (yield from change(approval, voter, rights, now)), Choice.APPROVE
        against, approval = (made, approval) if isinstance(made, str) else (None, made)
    if against:
        yield from moved(now, approval.run_id, None, CLICK_REFUSED, f"{voter.person.name}: {against}")
        return (yield from _refused(approval.id, voter, against, now))
    if choice is Choice.OTHER:
        asks = partial(open_cards.stranger, approval.id, approval.arguments, open_cards.ROLES)
        return Decided(approval=approval, deliveries=(yield from edit_cards(approval, lambda _: asks(), now, new_id)))
    return (yield from _answered(approval, voter, choice, reason, rights, now, new_id))


def _answered(
    approval: Approval, voter: Voter, choice: Choice, reason: str, rights: Rights, now: datetime, new_id: NewId
) -> Op[Decided]:
    """Record the vote, and decide by it unless more people are needed."""
    vote = {"approval_id": approval.id, "person_id": voter.person.id, "choice": choice.value, "reason": reason}
    if choice in NEED_QUORUM and approval.terms.quorum > 1:
        before = yield from voted(approval, choice, rights)
        yield SET_VOTE, vote | {"at": micros(now)}
        so_far = [*before, *[voter.person] * (voter.person not in before)]
        if len(so_far) < approval.terms.quorum:
            return (yield from _counted(approval, voter, before, so_far, now, new_id))
        name = listed([one.name for one in so_far])
    else:
        yield SET_VOTE, vote | {"at": micros(now)}
        name = voter.person.name
    ruled = replace(
        approval,
        state=move(APPROVAL_MOVES, approval.state, EVENT_OF[choice]),
        decided_by=voter.person.id,
        decided_name=name,
        decided_at=now,
        choice=choice,
        reason=reason,
    )
    return (yield from _rule(ruled, now, new_id, rights.given))


def _counted(
    approval: Approval, voter: Voter, before: Sequence[Person], so_far: Sequence[Person], now: datetime, new_id: NewId
) -> Op[Decided]:
    """A vote that does not settle it yet stands on every card; the same one again changes nothing."""
    count = {"given": len(so_far), "needed": approval.terms.quorum}
    if voter.person in before:
        return (yield from _refused(approval.id, voter, COUNTED_BEFORE.format(**count), now))
    yield from fact(now, "approval vote", voter.person.name, approval.id, "{given} of {needed}".format(**count))
    names = [one.name for one in so_far]
    rooms: tuple[Address, ...] = ()
    if approval.lead is None:
        rooms = yield from edit_cards(
            approval,
            lambda copy: open_cards.pending(approval, now, home=copy is None, voted=names, at=copy),
            now,
            new_id,
        )
    return Decided(approval=approval, deliveries=rooms, notice=COUNTED_NOW.format(**count))


def expire(now: datetime, new_id: NewId) -> Op[list[Decided]]:
    """Settle what nobody answered in time, the longest overdue first: EXPIRED_AT_ONCE of them, where there are so many."""
    overdue = yield OVERDUE, {"now": micros(now)}
    decided = []
    for approval_id in _some_of(overdue):
        approval = yield from locked(ApprovalId(approval_id))
        if approval is not None and approval.state is ApprovalState.PENDING:
            one = yield from _end(approval, ApprovalEvent.EXPIRE, "nobody answered in time", now, new_id)
            began = yield from happened(_expired(approval), now, new_id)
            decided.append(replace(one, lane_ready=one.lane_ready or began))
    rooms = yield from _refreshed([one.approval for one in decided if one.approval], now, new_id)
    return [*decided[:-1], replace(decided[-1], deliveries=(*decided[-1].deliveries, *rooms))] if rooms else decided


def _some_of(overdue: Sequence[Sequence[Any]]) -> list[str]:
    """Questions of so many runs as it takes; those of one run stay together, since they may share a card."""
    by_run: dict[str, list[str]] = {}
    for approval, run in overdue:
        by_run.setdefault(run or approval, []).append(approval)  # one about a stranger is of no run
    taken: list[str] = []
    for questions in by_run.values():
        if len(taken) < EXPIRED_AT_ONCE:
            taken += questions
    return taken


def _expired(approval: Approval) -> Happening:
    """The event for triggers."""
    told = f"{approval.tool}: {approval.arguments}"
    run = RunId(approval.run_id) if approval.run_id else None
    return Happening(EventKind.APPROVAL_EXPIRED, approval.id, approval.address, told, approval.tool, run)


def _refreshed(ended: Sequence[Approval], now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Cards that list several calls tell once that those ended; where a courier is to look."""
    rooms: tuple[Address, ...] = ()
    for run in dict.fromkeys(one.run_id for one in ended if one.lead):
        leads = [one.lead for one in ended if one.lead and one.run_id == run]
        rooms += yield from refresh(run, leads, now, new_id)
    return rooms


def withdraw(run: RunId, reason: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Void every open question of a run that ends; the cards follow. The run itself is the caller's."""
    rows = yield OF_RUN, {"run": run}
    addresses: list[Address] = []
    every = [_ended(approval_of(row), ApprovalEvent.VOID, reason, now) for row in rows]
    for ended in every:
        addresses += yield from _record(ended, now, new_id)
    return (*addresses, *(yield from _refreshed(every, now, new_id)))


def locked(approval_id: ApprovalId) -> Op[Approval | None]:
    # The lane is locked before the approval, as every owner's write does it, so that two writers never wait in a ring.
    # A question about a stranger has no lane: there its own row is what two clicks wait for.
    yield LOCK_LANE_OF, {"id": approval_id}
    rows = yield BY_ID_LOCKED, {"id": approval_id}
    return approval_of(rows[0]) if rows else None


def is_frozen(approval: Approval) -> Op[bool]:
    """True if the call is still the one that was asked about."""
    if approval.kind is ApprovalKind.PERSON:
        return approval.arguments_hash == digest(approval.arguments)
    rows = yield STEP, {"run": approval.run_id, "n": approval.step}
    return bool(rows) and rows[0][0] == approval.arguments_hash == digest(approval.arguments)


def _refused(approval_id: ApprovalId, voter: Voter, against: str, now: datetime) -> Op[Decided]:
    yield from fact(now, "click refused", voter.person.name, approval_id, against)
    return Decided(objection=against)


def _ended(approval: Approval, event: ApprovalEvent, reason: str, now: datetime) -> Approval:
    return replace(approval, state=move(APPROVAL_MOVES, approval.state, event), decided_at=now, reason=reason)


def _end(approval: Approval, event: ApprovalEvent, reason: str, now: datetime, new_id: NewId) -> Op[Decided]:
    return (yield from _rule(_ended(approval, event, reason, now), now, new_id))


def _rule(ruled: Approval, now: datetime, new_id: NewId, given: Collection[str] = ()) -> Op[Decided]:
    """Record the ruling; a run that waited for it may go on."""
    rooms, session = (yield from _record(ruled, now, new_id, given)), SessionKey(ruled.session)
    if ruled.kind is ApprovalKind.PERSON:
        return Decided(None, ruled, session, deliveries=rooms)
    ready = yield from settled(session, ruled.run_id, now)
    told = yield from show_change(ruled.run_id, session, now, new_id)
    return Decided(None, ruled, session, ready, (*rooms, *told))


def _record(ruled: Approval, now: datetime, new_id: NewId, given: Collection[str] = ()) -> Op[tuple[Address, ...]]:
    """The ruling, and what follows from it at once; where a courier is to look."""
    rooms = yield from record(ruled, now, new_id)
    if ruled.kind is ApprovalKind.PERSON:
        return (*rooms, *(yield from newcomers.answered(ruled, given, now, new_id)))
    key = {"run": ruled.run_id, "n": ruled.step}
    if ruled.choice in NEED_QUORUM:  # the call runs
        yield REOPEN_STEP, key
        return rooms
    text = verdicts.result_of(ruled) + (yield from changed_words(ruled))
    yield CLOSE_STEP, {**key, "text": text, "at": micros(now)}
    rows = yield STEP, key
    yield SET_TURN, {"s": ruled.session, "n": rows[0][1], "new_text": text}
    return rooms
