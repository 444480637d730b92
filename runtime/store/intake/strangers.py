"""Words for people who may not speak, or not here, and how strangers come in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select

from runtime.chat import pairing
from runtime.contract import (
    Addressing,
    Clicked,
    Commanded,
    NewId,
    Outcome,
    Person,
    Role,
    Signal,
    Stopped,
)
from runtime.store.approvals import newcomers
from runtime.store.common import ADD_IDENTITY, fact, moved, new_person, web_identity
from runtime.store.intake.inbox import answer, asks_alone, is_written, refuse, tell_once
from runtime.store.intake.pairings import invite
from runtime.store.protocol import Gate, Taken
from runtime.store.protocol.intake import ignored
from runtime.store.schema import moves
from runtime.store.sql.driver import Op
from runtime.text.words import say

STRANGER: Final = "I don't know you yet. Ask this bot's owner to add you."
READER: Final = "You can read here, but you can't ask me for things. An owner can change that."
BARRED: Final = "I'm not set up to answer you here. An owner can change that."

TOLD_ALREADY = select(moves.c.number).where(moves.c.subject == bindparam("subject")).limit(1)


def turned_away(signal: Signal, who: Person | None, now: datetime, new_id: NewId) -> Op[Taken]:
    """Somebody who is blocked, or is none of those for whom the room is."""
    if signal.reach is Addressing.OVERHEARD:
        return ignored()
    return (yield from refuse(signal, who, BARRED, now, new_id, notice=BARRED))


def only_reads(signal: Signal, who: Person, now: datetime, new_id: NewId) -> Op[Taken]:
    """Somebody who may read, and not do this."""
    if signal.reach is Addressing.OVERHEARD:
        return ignored()
    taken = yield from refuse(signal, who, READER, now, new_id, notice=READER)
    return (yield from _told_once(signal, taken, f"reader:{who.id}", READER, now, new_id))


def welcome(signal: Signal, now: datetime, new_id: NewId) -> Op[Person]:
    # The identity is part of the name, since two strangers may call themselves the same.
    who = yield from new_person(f"{newcomers.own(signal.actor_name)} ({signal.actor})", Role.USER, now, new_id)
    alone = str(signal.address.whole_room) if asks_alone(signal) else None
    for identity, room in ((signal.actor, alone), (web_identity(who), None)):
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id, "room": room}
    yield from fact(now, "person added", signal.actor, who.name, f"{who.role.word}, by writing to {signal.address}")
    return who


# ------------------------------------------------------------------------------------------------------------ strangers


def stranger(signal: Signal, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    """Nobody we know: told so, once, where they write to the agent alone, and in a private answer; in a room nothing."""
    if signal.reach is Addressing.OVERHEARD:
        return ignored()
    if gate.pairs and asks_alone(signal):
        return (yield from _invited(signal, gate, now, new_id))
    notice: str | None = say(pairing.UNPAIRED) if gate.pairs else STRANGER
    if not _is_pressed(signal) and (signal.reach is Addressing.DIRECT or not (yield from _is_first_word(signal, now))):
        notice = None
    taken = yield from refuse(signal, None, STRANGER, now, new_id, notice=notice)
    return (yield from _told_once(signal, taken, f"stranger:{signal.actor}", STRANGER, now, new_id))


def _is_pressed(signal: Signal) -> bool:
    """True if its sender waits for an answer that no message is: a button, or a command of the platform's own."""
    return isinstance(signal.body, Clicked | Stopped | Commanded) and not is_written(signal)


def _is_first_word(signal: Signal, now: datetime) -> Op[bool]:
    """True if this stranger reads a private line in this room for the first time, from now on not any more."""
    about = {"subject": f"stranger:{signal.actor}@{replace(signal.address, thread='')}"}
    if (yield TOLD_ALREADY, about):
        return False
    yield from moved(now, about["subject"], None, "told", "a private line to a stranger")
    return True


def _told_once(signal: Signal, taken: Taken, origin: str, text: str, now: datetime, new_id: NewId) -> Op[Taken]:
    """Tell whoever wrote to the agent alone why it does not answer: a message has no private answer."""
    alone = signal.reach is Addressing.DIRECT and is_written(signal)
    if taken.verdict.outcome is not Outcome.REFUSED or not alone:
        return taken
    told = yield from tell_once(signal, origin, text, now, new_id)
    return replace(taken, verdict=replace(taken.verdict, notice=None), deliveries=told)


def _invited(signal: Signal, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    """A code for a stranger, and a card for those who may let them in; neither for one who was turned away today."""
    notice = None if is_written(signal) else say(pairing.UNPAIRED)
    taken = yield from refuse(signal, None, STRANGER, now, new_id, notice=notice)
    if taken.verdict.outcome is not Outcome.REFUSED or (yield from newcomers.turned_away(signal.actor, now)):
        return taken
    code = yield from invite(signal, now)
    if code is None:
        return taken
    if not code:
        told = yield from tell_once(signal, f"crowded:{signal.actor}:{now:%Y-%m-%d}", say(pairing.CROWDED), now, new_id)
        return replace(taken, deliveries=told)
    yield from fact(now, "pairing offered", signal.actor, str(signal.address))
    asked = yield from newcomers.ask(signal, gate.rooms.named, gate.rights.given, now, new_id)
    text = pairing.invitation(code, asked=asked is not None)
    told = yield from answer(signal, taken.verdict.signal_id, text, now, new_id)
    return replace(taken, deliveries=(*told, *(asked or ())))
