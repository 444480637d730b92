"""Who may come in: the room's rules, threads that were joined, people who are known, and what strangers are told."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, literal_column, select

from runtime.chat import pairing
from runtime.contract import (
    Addressing,
    Clicked,
    Commanded,
    NewId,
    Outcome,
    Person,
    Role,
    Said,
    Signal,
    Stopped,
)
from runtime.domain.routing import BY_URGENCY, Decision
from runtime.store.approvals import newcomers
from runtime.store.common import ADD_IDENTITY, WHO, fact, moved, new_person, person
from runtime.store.intake.inbox import answer, is_written, refuse, tell_once
from runtime.store.intake.pairings import invite
from runtime.store.people.people import web_identity
from runtime.store.protocol import Gate, Taken
from runtime.store.protocol.intake import ignored
from runtime.store.schema import identities, moves, participation, signals
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.sql.upsert import insert

STRANGER: Final = "I don't know you. Ask the owner of this bot to add you."
READER: Final = "You may read here, but not ask. An owner can change that."
CLOSED: Final = "I do not answer in this room."
BARRED: Final = "I do not answer you here."

MET = WHO.add_columns(identities.c.room)
JOINED = select(participation.c.address).where(participation.c.address == bindparam("room"))
JOIN = insert(participation).values({c.name: bindparam(c.name) for c in participation.columns}).on_conflict_do_nothing()
TOLD_ALREADY = select(moves.c.number).where(moves.c.subject == bindparam("subject")).limit(1)
LAST_SPEAKERS = (
    select(signals.c.actor)
    .where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),
    )
    .order_by(signals.c.accepted_at.desc())
    .limit(bindparam("n", type_=Integer))
)


def course_of(signal: Signal, gate: Gate) -> Op[Decision]:
    """What becomes of a signal as far as its room decides."""
    course = gate.rooms.course(signal)
    if course is Decision.IF_JOINED:
        course = Decision.RUN if (yield JOINED, {"room": str(signal.address)}) else Decision.IGNORE
    talks = signal.by_bot and signal.actor not in gate.rooms.sources
    if course is Decision.RUN and talks and (yield from _alone_with_bots(signal, gate)):
        return Decision.IGNORE
    return BY_URGENCY[signal.urgency] if course is Decision.RUN and isinstance(signal.body, Said) else course


def _alone_with_bots(signal: Signal, gate: Gate) -> Op[bool]:
    """Whether bots alone were answered in this conversation for too long: two of them would never end."""
    rows = yield LAST_SPEAKERS, {"room": str(signal.address), "n": gate.bots_in_a_row}
    return len(rows) == gate.bots_in_a_row and all(actor in gate.rooms.bots for (actor,) in rows)


def join(signal: Signal, gate: Gate, now: datetime) -> Op[None]:
    """A mention makes the agent part of the thread: what follows there needs none, also after a restart."""
    if gate.rooms.joins(signal):
        yield JOIN, {"address": str(signal.address), "joined_at": micros(now)}


def admitted(signal: Signal, gate: Gate, course: Decision, now: datetime, new_id: NewId) -> Op[Person | Taken]:
    """Who sent it, if they may speak there; else what became of it."""
    if course is Decision.REFUSE:
        return (yield from refuse(signal, None, CLOSED, now, new_id, notice=CLOSED))
    who, room = yield from _met(signal)
    if gate.rooms.bars(signal, who):
        return (yield from _turned_away(signal, who, now, new_id))
    if who is None and (gate.open_to_all or signal.by_bot):
        return (yield from _welcome(signal, now, new_id))
    if who is None:
        return (yield from _stranger(signal, gate, now, new_id))
    if _asks_alone(signal) and signal.actor != web_identity(who):  # on the page a person has many rooms
        yield from newcomers.note_room(signal, room)
    return who


def _met(signal: Signal) -> Op[tuple[Person | None, str | None]]:
    """The person who sent it, and the room in which they wrote to the agent alone before."""
    rows = yield MET, {"identity": signal.actor}
    return (person(rows[0][:3]), rows[0][3]) if rows else (None, None)


def _turned_away(signal: Signal, who: Person | None, now: datetime, new_id: NewId) -> Op[Taken]:
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


def _welcome(signal: Signal, now: datetime, new_id: NewId) -> Op[Person]:
    # The identity is part of the name, since two strangers may call themselves the same.
    who = yield from new_person(f"{newcomers.own(signal.actor_name)} ({signal.actor})", Role.USER, now, new_id)
    for identity in (signal.actor, web_identity(who)):
        yield ADD_IDENTITY, {"identity": identity, "person_id": who.id, "room": None}
    yield from fact(now, "person added", signal.actor, who.name, f"{who.role.word}, by writing to {signal.address}")
    return who


# ------------------------------------------------------------------------------------------------------------ strangers


def _stranger(signal: Signal, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    """Nobody we know: told so, once, where they write to the agent alone, and in a private answer; in a room nothing."""
    if signal.reach is Addressing.OVERHEARD:
        return ignored()
    if gate.pairs and _asks_alone(signal):
        return (yield from _invited(signal, gate, now, new_id))
    notice: str | None = pairing.UNPAIRED if gate.pairs else STRANGER
    if not _is_pressed(signal) and (signal.reach is Addressing.DIRECT or not (yield from _is_first_word(signal, now))):
        notice = None
    taken = yield from refuse(signal, None, STRANGER, now, new_id, notice=notice)
    return (yield from _told_once(signal, taken, f"stranger:{signal.actor}", STRANGER, now, new_id))


def _is_pressed(signal: Signal) -> bool:
    """Whether its sender waits for an answer that no message is: a button, or a command of the platform's own."""
    return isinstance(signal.body, Clicked | Stopped | Commanded) and not is_written(signal)


def _is_first_word(signal: Signal, now: datetime) -> Op[bool]:
    """Whether this stranger reads a private line in this room for the first time, from now on not any more."""
    about = {"subject": f"stranger:{signal.actor}@{replace(signal.address, thread='')}"}
    if (yield TOLD_ALREADY, about):
        return False
    yield from moved(now, about["subject"], None, "told", "a private line to a stranger")
    return True


def _asks_alone(signal: Signal) -> bool:
    """Whether an answer is read by its sender alone. Of clicks and edits adapters need not know it."""
    return signal.reach is Addressing.DIRECT and (is_written(signal) or isinstance(signal.body, Commanded))


def _told_once(signal: Signal, taken: Taken, origin: str, text: str, now: datetime, new_id: NewId) -> Op[Taken]:
    """Whoever wrote to the agent alone reads there why it does not answer: a message has no private answer."""
    alone = signal.reach is Addressing.DIRECT and is_written(signal)
    if taken.verdict.outcome is not Outcome.REFUSED or not alone:
        return taken
    told = yield from tell_once(signal, origin, text, now, new_id)
    return replace(taken, verdict=replace(taken.verdict, notice=None), deliveries=told)


def _invited(signal: Signal, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    """A code for a stranger, and a card for those who may let them in; neither for one who was turned away today."""
    notice = None if is_written(signal) else pairing.UNPAIRED
    taken = yield from refuse(signal, None, STRANGER, now, new_id, notice=notice)
    if taken.verdict.outcome is not Outcome.REFUSED or (yield from newcomers.turned_away(signal.actor, now)):
        return taken
    code = yield from invite(signal, now)
    if code is None:
        return taken
    if not code:
        told = yield from tell_once(signal, f"crowded:{signal.actor}:{now:%Y-%m-%d}", pairing.CROWDED, now, new_id)
        return replace(taken, deliveries=told)
    yield from fact(now, "pairing offered", signal.actor, str(signal.address))
    asked = yield from newcomers.ask(signal, gate.rooms.named, gate.rights.given, now, new_id)
    text = pairing.invitation(code, asked=asked is not None)
    told = yield from answer(signal, taken.verdict.signal_id, text, now, new_id)
    return replace(taken, deliveries=(*told, *(asked or ())))
