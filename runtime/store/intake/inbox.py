"""The row of a signal: each event once, whatever became of it. Of what is refused its keys and times alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, or_, select

from runtime.contract import (
    Address,
    Addressing,
    Amended,
    Clicked,
    Commanded,
    Content,
    DeliveryId,
    Kind,
    NewId,
    Outcome,
    Person,
    Said,
    Signal,
    SignalId,
    Stopped,
    Verdict,
)
from runtime.store.common import ADD_DELIVERY, add, delivery_row, fact, moved
from runtime.store.delivery.outbox import enqueue
from runtime.store.protocol import NewDelivery, Taken
from runtime.store.schema import signals
from runtime.store.sql.driver import Op, micros

SEEN = select(signals.c.id).where(
    or_(
        (signals.c.platform == bindparam("p")) & signals.c.dedupe_key.in_([bindparam("d"), bindparam("e")]),
        (signals.c.platform == bindparam("p")) & (signals.c.natural_key == bindparam("nk")),
    )
)
ADD_SIGNAL = add(signals, without=("chain",)).on_conflict_do_nothing().returning(signals.c.id)
"""Returns nothing where another node was faster with the same event."""


def keys(signal: Signal) -> Mapping[str, object]:
    """The names of an event for `SEEN`. The natural key of an edit names the message that it changes."""
    natural = None if isinstance(signal.body, Amended) else signal.natural_key
    earlier = signal.earlier_key or signal.dedupe_key
    return {"p": signal.platform, "d": signal.dedupe_key, "e": earlier, "nk": natural}


def repeated(signal: Signal) -> Op[Taken]:
    """This event was taken in before, perhaps by another node between our first look and our write."""
    rows = yield SEEN, keys(signal)
    return Taken(Verdict(Outcome.DUPLICATE, SignalId(rows[0][0])))


def row(signal: Signal, who: Person | None, state: str, now: datetime, signal_id: str) -> dict[str, object]:
    """A tombstone; what is worth keeping is added by the caller."""
    return {
        "id": signal_id,
        "platform": signal.platform,
        "dedupe_key": signal.dedupe_key,
        "natural_key": None if isinstance(signal.body, Amended) else signal.natural_key,
        "kind": type(signal.body).__name__.lower(),
        "urgency": signal.urgency.value,
        "actor": signal.actor,
        "actor_name": signal.actor_name,
        "person_id": who.id if who else None,
        "address": str(signal.address),
        "text": "",
        "files": "[]",
        "words_hash": "",
        "session": None,
        "seq": None,
        "state": state,
        "run_id": None,
        "merged_into": None,
        "received_at": micros(signal.received_at),
        "accepted_at": micros(now),
        "answered_at": None,
        "node": None,
        "message_id": signal.message_id,
        "by_program": int(signal.by_bot),
        "trigger": signal.trigger.value,
        "replaces": "",
    }


def refuse(
    signal: Signal, who: Person | None, reason: str, now: datetime, new_id: NewId, *, notice: str | None = None
) -> Op[Taken]:
    """A tombstone, and why. `notice` is what the sender reads of it."""
    signal_id = SignalId(new_id())
    if not (yield ADD_SIGNAL, row(signal, who, "refused", now, signal_id)):
        return (yield from repeated(signal))
    subject = signal.body.approval_id if isinstance(signal.body, Clicked) else str(signal.address)
    yield from fact(now, "refused", signal.actor, subject, reason)
    yield from moved(now, signal_id, None, Outcome.REFUSED, reason)
    return Taken(Verdict(Outcome.REFUSED, signal_id, notice))


def answer(
    signal: Signal, signal_id: SignalId, text: str, now: datetime, new_id: NewId, *, folded: str = ""
) -> Op[tuple[Address, ...]]:
    """Answer of the sink itself to a message, in its room: where its courier is to look."""
    origin, fresh, content = f"signal:{signal_id}", DeliveryId(new_id()), Content(text, folded=folded)
    new = NewDelivery(fresh, origin, 0, Kind.FINAL, signal.address, content, reply_to=signal.message_id)
    yield ADD_DELIVERY, delivery_row(new, now)
    return (signal.address,)


def is_written(signal: Signal) -> bool:
    """True if it stands in its room as a message, which no platform answers in private; else it was a button or the like."""
    match signal.body:
        case Said():
            return True
        case Stopped() | Commanded():
            return bool(signal.message_id)
        case _:
            return False


def asks_alone(signal: Signal) -> bool:
    """True if an answer is read by its sender alone. Of clicks and edits adapters need not know it."""
    return signal.reach is Addressing.DIRECT and (is_written(signal) or isinstance(signal.body, Commanded))


def replied(signal: Signal, verdict: Verdict, now: datetime, new_id: NewId) -> Op[Taken]:
    """To a message its notice is an answer in its room; else it stays a notice."""
    if not is_written(signal) or verdict.notice is None:
        return Taken(verdict)
    told = yield from answer(signal, verdict.signal_id, verdict.notice, now, new_id)
    return Taken(replace(verdict, notice=None), deliveries=told)


def tell_once(signal: Signal, origin: str, text: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Tell something once for an origin, however often it comes up."""
    fresh = DeliveryId(new_id())
    new = NewDelivery(fresh, origin, 0, Kind.FINAL, signal.address, Content(text), reply_to=signal.message_id)
    return (signal.address,) if (yield from enqueue(new, now)) else ()
