"""Edits of messages that still wait, and rooms that have another id from now on."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, delete, or_, select, update

from runtime.contract import Address, Addressing, Amended, Moved, NewId, Outcome, Person, Signal, SignalId, Verdict
from runtime.domain.ids import digest
from runtime.store.common import LOCK_LANE, fact, in_room, put
from runtime.store.intake.inbox import ADD_SIGNAL, repeated, row, tell_once
from runtime.store.protocol import Taken
from runtime.store.protocol.intake import ignored
from runtime.store.schema import aliases, signals
from runtime.store.sql.driver import Op, is_word, micros

NOT_READ = "I don't read edits. Please send it again with your changes."

# An edit may be known by the natural key of the message it changes, or by its id in the room; its thread need not be
# told, since a platform may not know it any more when the mention that began it is gone.
STILL_WAITS = (
    select(signals.c.id, signals.c.session)
    .where(
        is_word(signals.c.state, "waiting"),
        signals.c.actor == bindparam("a"),
        in_room(signals.c.address),
        or_(
            (signals.c.message_id == bindparam("m")) & (signals.c.message_id != ""),
            signals.c.natural_key == bindparam("nk"),
        ),
    )
    .limit(1)
)
READ = (
    select(signals.c.id, signals.c.address)
    .where(
        is_word(signals.c.kind, "said"),
        ~is_word(signals.c.state, "refused"),
        signals.c.actor == bindparam("a"),
        signals.c.run_id.is_not(None),
        in_room(signals.c.address),
        or_(
            (signals.c.message_id == bindparam("m")) & (signals.c.message_id != ""),
            signals.c.natural_key == bindparam("nk"),
        ),
    )
    .limit(1)
)
AMEND = (
    update(signals)
    .where(signals.c.id == bindparam("signal"), is_word(signals.c.state, "waiting"))
    .values(text=bindparam("words"), words_hash=bindparam("hashed"))
    .returning(signals.c.id)
)

KNOWN_AS = select(aliases.c.room, aliases.c.moved_to).where(
    aliases.c.channel == bindparam("c"),
    aliases.c.account == bindparam("a"),
    or_(aliases.c.room == bindparam("old"), aliases.c.moved_to == bindparam("old")),
)
FOLLOW = put(aliases)
AT_HOME = delete(aliases).where(
    aliases.c.channel == bindparam("c"), aliases.c.account == bindparam("a"), aliases.c.room == bindparam("old")
)


def amend(signal: Signal, edit: Amended, who: Person, now: datetime, new_id: NewId) -> Op[Taken]:
    """If no run has the message yet, these are its words. Of the edit itself nothing is kept but that it came."""
    room = signal.address.whole_room
    known = {"a": signal.actor, "m": signal.message_id, "nk": signal.natural_key}
    waiting = yield STILL_WAITS, known | {"room": str(room)}
    read = () if waiting else (yield READ, known | {"room": str(room)})
    if not waiting and not read and signal.reach is Addressing.OVERHEARD:
        return ignored()
    signal_id = SignalId(new_id())
    if not (yield ADD_SIGNAL, row(signal, who, "decided", now, signal_id)):
        return (yield from repeated(signal))
    if read:
        message, address = read[0]
        return (yield from _unread(signal, signal_id, message, address, now, new_id))
    message, session = waiting[0] if waiting else ("", "")
    if not message or not (yield from _changed(message, session, edit)):
        return Taken(Verdict(Outcome.UNCHANGED, signal_id))
    yield from fact(now, "amended", signal.actor_name, message, str(signal.address))
    return Taken(Verdict(Outcome.DECIDED, signal_id))


def _unread(signal: Signal, signal_id: SignalId, message: str, address: str, now: datetime, new_id: NewId) -> Op[Taken]:
    """The words as they were are answered, or soon will be: its author is told so, once a message."""
    there = replace(signal, address=Address.parse(address))
    told = yield from tell_once(there, f"edit:{message}", NOT_READ, now, new_id)
    return Taken(Verdict(Outcome.UNCHANGED, signal_id), deliveries=told)


def _changed(message: str, session: str, edit: Amended) -> Op[bool]:
    yield LOCK_LANE, {"k": session}  # so that no run begins with the old words while they change
    return bool((yield AMEND, {"signal": message, "words": edit.text, "hashed": digest(edit.text)}))


def move_room(signal: Signal, to: Moved, now: datetime, new_id: NewId) -> Op[Taken]:
    """The room has another id at the platform. Rows keep the first one, so a second move changes the same alias."""
    signal_id = SignalId(new_id())
    if not (yield ADD_SIGNAL, row(signal, None, "decided", now, signal_id)):
        return (yield from repeated(signal))
    old, account = signal.address.room, {"c": signal.address.channel, "a": signal.address.account}
    known: dict[str, str] = dict((yield KNOWN_AS, account | {"old": old}))
    rooms = [room for room, newest in known.items() if newest == old] or [old]
    if all(known.get(room, room) == to.room for room in rooms):
        return Taken(Verdict(Outcome.UNCHANGED, signal_id))
    for room in rooms:
        yield from _follow(signal, room, to.room, now)
    yield from fact(now, "room moved", signal.actor, str(signal.address), to.room)
    return Taken(Verdict(Outcome.DECIDED, signal_id), deliveries=(signal.address,))


def _follow(signal: Signal, room: str, to: str, now: datetime) -> Op[None]:
    channel, account = signal.address.channel, signal.address.account
    if room == to:  # it came back
        yield AT_HOME, {"c": channel, "a": account, "old": room}
    else:
        yield FOLLOW, {"channel": channel, "account": account, "room": room, "moved_to": to, "at": micros(now)}
