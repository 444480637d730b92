"""Settles what a restore leaves in doubt, in the transaction that restores.

Between the backup and now the old life went on, and nothing here knows of it. So whatever was about to happen then may
have happened: what was not on screen may be, a question may have been answered, an allowed call may have run. Each of
them goes the way that a kill in the middle of it would have taken, or is asked about again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, exists, func, select, update

from runtime.chat import inbox
from runtime.chat.cards import listing, open_cards, settled_cards
from runtime.chat.cards.exchanges import without_open
from runtime.contract import Address, ApprovalId, ApprovalKind, Content, DeliveryId, Kind, NewId
from runtime.domain.approvals import APPROVAL_MOVES, Approval, ApprovalEvent
from runtime.domain.deliveries import DELIVERY_MOVES, DeliveryEvent, DeliveryState, PartEvent, PartState
from runtime.domain.machines import move
from runtime.domain.runs import STEP_MOVES, StepEvent, StepState
from runtime.policy.modes import Mode
from runtime.store.approvals.granted.rows import end_all
from runtime.store.approvals.rulings import ADD_APPROVAL, APPROVAL_COLUMNS, CARDS, SETTLE, approval_of, edit_cards
from runtime.store.approvals.waiting.full_chats import DEFERRED, OPEN_LINES, OVER, defer, is_full
from runtime.store.common import ADD_DELIVERY, delivery_row, fact, moved
from runtime.store.delivery.outbox import doubt_parts
from runtime.store.forgetting.beginning import forget_again
from runtime.store.memory.ending.restoring import leave_out
from runtime.store.protocol import NewDelivery
from runtime.store.runs.waiting.waits import wait_for_answers
from runtime.store.schema import (
    approvals,
    cooldowns,
    deliveries,
    invitations,
    modes,
    nodes,
    parts,
    pings,
    roles,
    runs,
    sessions,
    steps,
    undos,
)
from runtime.store.sql.driver import Op, is_word, micros

NOTHING_FORGOTTEN: Final[Mapping[str, int]] = {}
LIVES: Final = 1_000_000
"""More fences than one life ever uses: none of the lost life is given out again."""
WITHDRAWN: Final = "It was asked again after a restore."
GRANT_ENDED: Final = "a backup was restored, and it may have been revoked since"
FORGOTTEN: Final = "A backup has been restored since. They can write again."


@dataclass(frozen=True, slots=True)
class Origin:
    """The backup that was restored. `program` is the version that made it."""

    id: str
    taken_at: datetime
    program: str


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Numbers of what was in doubt: deliveries to look for, questions asked again, runs that go on; grants that ended,
    memories that people had forgotten since, and people who were forgotten themselves."""

    deliveries: int
    questions: int
    runs: int
    grants: int = 0
    forgotten: int = 0
    people: int = 0


def after_restore(
    origin: Origin,
    actor: str,
    now: datetime,
    new_id: NewId,
    forgotten: Mapping[str, int] = NOTHING_FORGOTTEN,
    people: Collection[str] = (),
) -> Op[Aftermath]:
    """Everything that follows from the restore of a backup, as one operation. `forgotten`: ids of memories, and when;
    `people`: digests of those who were."""
    yield from _end_the_old_life(now)
    in_doubt = yield IN_DOUBT, {}
    asked = yield from _ask_again(origin, actor, now, new_id)
    for delivery, state in in_doubt:
        yield from _doubt_delivery(DeliveryId(delivery), state, origin, now)
    yield MARK_STEPS, {}
    yield MARK_UNDOS, {"at": micros(now)}
    ended = yield from end_all(actor, GRANT_ENDED, now)
    yield END_TRUSTS, {"at": micros(now)}
    resumed = yield OPEN_RUNS, {}
    for (run,) in resumed:
        yield from moved(now, run, None, PartEvent.RESTORE, _whence(origin))
    yield from fact(now, "restored", actor, origin.id, f"{_whence(origin)}, made by signalbox {origin.program}")
    left_out = yield from leave_out(forgotten, actor, now)
    gone = yield from forget_again(people, actor, now, new_id)
    return Aftermath(len(in_doubt), asked, len(resumed), ended, left_out, gone)


def _whence(origin: Origin) -> str:
    return f"from a backup of {origin.taken_at:%Y-%m-%d %H:%M:%S} UTC"


# --------------------------------------------------------------------------------------------------- nodes and lanes

BURY = update(nodes).values(state="dead", fence=nodes.c.fence + LIVES)
FORGET_PINGS = delete(pings)
FORGET_COOLDOWNS = delete(cooldowns)
FREE_ROLES = update(roles).values(node=None, fence=roles.c.fence + LIVES)
NEW_FENCES = update(sessions).values(fence=sessions.c.fence + LIVES)
# A link that was used since would work a second time, for whoever finds it.
REVOKE_INVITATIONS = (
    update(invitations).where(invitations.c.ended_at.is_(None)).values(ending="revoked", ended_at=bindparam("at"))
)
FREE_LANES = (
    update(sessions)
    .where(is_word(sessions.c.state, "running"))
    .values(state="ready", owner=None, ready_at=bindparam("at"))
)


def _end_the_old_life(now: datetime) -> Op[None]:
    yield BURY, {}
    yield FREE_ROLES, {}
    yield FORGET_PINGS, {}
    yield FORGET_COOLDOWNS, {}
    yield NEW_FENCES, {}
    yield FREE_LANES, {"at": micros(now)}
    yield REVOKE_INVITATIONS, {"at": micros(now)}


# -------------------------------------------------------------------------------------------------------- deliveries

IN_DOUBT = (
    select(deliveries.c.id, deliveries.c.state)
    .where(is_word(deliveries.c.state, "queued", "open"))
    .order_by(deliveries.c.number)
)
# Rank 0: it is looked for before anything else goes to its room.
DOUBT = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("d"), is_word(deliveries.c.state, "queued", "open"))
    .values(doubted_at=bindparam("since"), rank=0, not_before=bindparam("at"), reason="a backup was restored")
    .returning(deliveries.c.id)
)


def _doubt_delivery(delivery: DeliveryId, state: str, origin: Origin, now: datetime) -> Op[None]:
    """One that has parts is looked for; the parts of one that has none yet are in doubt as soon as they are made."""
    since = micros(origin.taken_at)
    if not (yield DOUBT, {"d": delivery, "since": since, "at": micros(now)}):
        return  # the card of a question that was withdrawn
    if state == DeliveryState.OPEN:
        yield from doubt_parts(delivery, since)
    yield from moved(now, delivery, None, PartEvent.RESTORE, f"{_whence(origin)}; looked for before it is sent")


# --------------------------------------------------------------------------------------------------------- questions

PENDING_APPROVALS = select(*APPROVAL_COLUMNS).where(is_word(approvals.c.state, "pending")).order_by(approvals.c.id)
ON_SCREEN = (
    select(func.count())
    .select_from(parts)
    .where(
        parts.c.delivery_id == bindparam("d"),
        is_word(parts.c.state, PartState.SHOWN, PartState.MARKED, PartState.UNSETTLED),
    )
)
STATE_OF = select(deliveries.c.state).where(deliveries.c.id == bindparam("d"))
DISCARD = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("d"))
    .values(state=bindparam("after"), settled_at=bindparam("at"))
)


def _ask_again(origin: Origin, actor: str, now: datetime, new_id: NewId) -> Op[int]:
    """Every open question is void, and asked once more under an id of its own: old buttons decide nothing."""
    rows = yield PENDING_APPROVALS, {}
    for row in rows:
        yield from _withdraw(approval_of(row), actor, now, new_id)
    yield from _withdraw_lines(now, new_id)
    for row in rows:
        approval = approval_of(row)
        if approval.kind is not ApprovalKind.PERSON:  # who still wants to come in writes again
            yield from _ask(row, approval, origin, now, new_id)
            yield from wait_for_answers(approval.run_id)
    return len(rows)


def _withdraw(approval: Approval, actor: str, now: datetime, new_id: NewId) -> Op[None]:
    after = move(APPROVAL_MOVES, approval.state, ApprovalEvent.VOID)
    nobody = {"by": None, "by_name": "", "picked": None}
    why = FORGOTTEN if approval.kind is ApprovalKind.PERSON else WITHDRAWN
    yield SETTLE, {"id_": approval.id, "new_state": after.value, "at": micros(now), "why": why, "came": "", **nobody}
    yield from _withdraw_cards(replace(approval, state=after, decided_at=now, reason=why), now, new_id)
    yield from fact(now, f"approval {after.value}", actor, approval.id, why)


def _withdraw_cards(approval: Approval, now: datetime, new_id: NewId) -> Op[None]:
    """Edit all cards where a copy is on screen, or was being sent; if none ever left, none need leave any more."""
    found = yield CARDS, {"o": f"approval:{approval.id}"}
    copies = [DeliveryId(card) for card, _, edits in found if edits is None]
    for card in copies:
        if (yield ON_SCREEN, {"d": card})[0][0]:
            yield from edit_cards(
                approval, lambda copy: settled_cards.settled(approval, home=copy is None), now, new_id
            )
            return
    for card in copies:
        yield from _discard(card, now)


def _withdraw_lines(now: datetime, new_id: NewId) -> Op[None]:
    """Lines of full private chats end as the cards do; the new questions that find no room have a line of their own."""
    for found, at in (yield OPEN_LINES, {}):
        line = DeliveryId(found)
        if not (yield ON_SCREEN, {"d": line})[0][0]:
            yield from _discard(line, now)
            continue
        said, room = Content(inbox.ASKED_AGAIN), Address.parse(at)
        edit = NewDelivery(DeliveryId(new_id()), f"{OVER}{line}", 0, Kind.APPROVAL, room, said, line)
        yield ADD_DELIVERY, delivery_row(edit, now)


def _discard(card: DeliveryId, now: datetime) -> Op[None]:
    states = yield STATE_OF, {"d": card}
    state = DeliveryState(states[0][0])
    if (state, DeliveryEvent.DISCARD) in DELIVERY_MOVES:
        after = move(DELIVERY_MOVES, state, DeliveryEvent.DISCARD)
        yield DISCARD, {"d": card, "after": after.value, "at": micros(now)}


def _ask(row: tuple[Any, ...], old: Approval, origin: Origin, now: datetime, new_id: NewId) -> Op[None]:
    fresh = ApprovalId(new_id())
    caution = "\n\n".join(filter(None, [old.caution, _warning(origin)]))
    expires = now + (old.expires_at - old.asked_at)
    shown = without_open(listing.unlisted(old.card))
    again = replace(old, id=fresh, caution=caution, asked_at=now, expires_at=expires, calls=0, card=shown)
    values = dict(zip((column.name for column in APPROVAL_COLUMNS), row, strict=True))
    changed = {
        "id": fresh,
        "caution": caution,
        "asked_at": micros(now),
        "expires_at": micros(expires),
        "calls": 0,
        "card": shown,
    }
    next_call = {"next_call_at": again.next_call_at and micros(again.next_call_at)}
    yield ADD_APPROVAL, values | changed | next_call
    copies = [
        Address.parse(at) for _, at, edits in (yield CARDS, {"o": f"approval:{old.lead or old.id}"}) if edits is None
    ]
    copies += [Address.parse(at) for _, at, _ in (yield CARDS, {"o": f"{DEFERRED}{old.lead or old.id}"})]
    named = (*old.terms.to, *old.terms.escalate_to)
    for ordinal, room in enumerate(dict.fromkeys((old.address, *copies))):
        if room != old.address and str(room) not in named and (yield from is_full(room)):
            yield from defer(fresh, inbox.newest(old.requester_name, old.tool, 1), room, None, now, new_id)
            continue
        content = open_cards.pending(again, now, home=room == old.address)
        card = NewDelivery(DeliveryId(new_id()), f"approval:{fresh}", ordinal, Kind.APPROVAL, room, content)
        yield ADD_DELIVERY, delivery_row(card, now, old.run_id)
    yield from fact(
        now, "approval asked", old.requester or "", fresh, f"{old.tool} {old.arguments_hash[:12]}, instead of {old.id}"
    )


def _warning(origin: Origin) -> str:
    return f"Asked again after a restore {_whence(origin)}. It may already have been answered, and even done."


# ------------------------------------------------------------------------------------------------------------- calls

# Wanted, and not begun as far as we know: not begun again, and told as one that was cut off.
MARK_UNDOS = update(undos).where(undos.c.undone_by != "", undos.c.undone_at.is_(None)).values(undone_at=bindparam("at"))
# Somebody may have ended it since, and it spares questions.
END_TRUSTS = update(modes).where(is_word(modes.c.mode, Mode.TRUSTED)).values(until=bindparam("at"))
OPEN_RUNS = select(runs.c.id).where(is_word(runs.c.state, "running", "parked", "ready")).order_by(runs.c.id)
# Allowed, and not begun as far as we know. Whoever resumes repeats what only reads, and asks about the rest.
MARK_STEPS = (
    update(steps)
    .where(
        is_word(steps.c.state, StepState.OPEN),
        exists().where(runs.c.id == steps.c.run_id, is_word(runs.c.state, "running", "parked", "ready")),
    )
    .values(state=move(STEP_MOVES, StepState.OPEN, StepEvent.MARK).value)
)
