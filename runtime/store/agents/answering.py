"""Finds the agent that a signal is for, in the transaction that takes it in. Asked only where there are several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, select

from runtime.chat import agents as words
from runtime.contract import Address, Amended, Clicked, Commanded, NewId, Person, Role, Said, Signal, SignalId, Stopped
from runtime.domain.agents.binding import Asked, bound
from runtime.domain.agents.lifecycle import AgentState
from runtime.domain.agents.manifest import MAIN, Manifest
from runtime.domain.agents.naming import ASK, named_in, words_of
from runtime.domain.routing import Decision
from runtime.store.agents.held_back import HeldBack, held_back
from runtime.store.common import add, put, session_key, whom
from runtime.store.intake.inbox import tell_once
from runtime.store.protocol import Gate
from runtime.store.schema import agent_rooms, sessions, signals
from runtime.store.sql.driver import Op, micros

CHOSEN = select(agent_rooms.c.address, agent_rooms.c.agent).where(
    agent_rooms.c.address.in_([bindparam("here"), bindparam("room")])
)
CHOOSE = put(agent_rooms)
CHOOSE_FIRST = add(agent_rooms).on_conflict_do_nothing()
CHOOSE_NO_MORE = delete(agent_rooms).where(agent_rooms.c.address == bindparam("here")).returning(agent_rooms.c.address)
ENDED_HERE = delete(agent_rooms).where(
    agent_rooms.c.address.in_([bindparam("here"), bindparam("room")]), agent_rooms.c.agent == bindparam("gone")
)
AGENT_OF = (
    select(sessions.c.agent)
    .join(signals, signals.c.session == sessions.c.key)
    .where(
        signals.c.id == bindparam("old"), signals.c.address == bindparam("here"), signals.c.actor == bindparam("who")
    )
)
UNSET: Final = "it's no longer in the settings"

SESSION_KNOWN = select(sessions.c.key).where(sessions.c.key == bindparam("k"))


Heard = Said | Clicked | Amended | Stopped | Commanded
"""Whatever comes from a person."""


@dataclass(frozen=True, slots=True)
class Answering:
    """The agent for a place, and how it was found; `known` are all that may be named there.

    `ended` is the one who answered there before, and never will again.
    """

    agent: str
    known: frozenset[str]
    chosen: bool = False
    in_thread: bool = False
    ended: HeldBack | None = None


def addressed(
    signal: Signal, body: Heard, who: Person, gate: Gate, course: Decision, now: datetime, new_id: NewId
) -> Op[tuple[Heard, Gate]]:
    """The body without words that name an agent, and `gate` with the agent that it is for.

    A press and an edit are about something whose session is known.
    """
    if isinstance(body, Clicked | Amended):
        return body, gate
    if signal.agent:
        return body, replace(gate, agent=signal.agent)
    found = yield from answering(signal, who, gate)
    named, heard = naming(body, [agent for agent in gate.agents if agent.name in found.known])
    if named and course is not Decision.OBSERVE and who.role >= Role.USER:
        yield from _stay(signal, named, who, found, now)
    if found.ended and not named:
        yield from _told_of_end(signal, found.ended, found.agent, now, new_id)
    if not named and isinstance(body, Said) and body.replaces:
        named = yield from _answered_by(body.replaces, signal, found.known)
    return heard, replace(gate, agent=named or found.agent)


def _answered_by(old: SignalId, signal: Signal, known: frozenset[str]) -> Op[str]:
    """The agent of the message that is replaced: its words as they were kept name none any more."""
    rows = yield AGENT_OF, {"old": old, "here": str(signal.address), "who": signal.actor}
    return next((agent for (agent,) in rows if agent in known), "")


def gate_beside(signal: Signal, named: str, gate: Gate) -> Op[Gate]:
    """`gate` with the agent that is named, or that answers there, for what is read beside the transaction."""
    if signal.agent or named:
        return replace(gate, agent=signal.agent or named)
    return replace(gate, agent=(yield from answering(signal, (yield from whom(signal.actor)), gate)).agent)


def answering(signal: Signal, who: Person | None, gate: Gate) -> Op[Answering]:
    """The agent that people chose for this thread or room, else the one that is bound to it."""
    here, room = str(signal.address), str(signal.address.whole_room)
    rows: Mapping[str, str] = dict((yield CHOSEN, {"here": here, "room": room}))
    held = yield from held_back()
    ended = {name: one for name, one in held.items() if one.state is AgentState.TERMINATED}
    known = frozenset([MAIN, *(agent.name for agent in gate.agents)]) - set(ended)
    chosen = rows.get(here) or rows.get(room, "")
    if chosen in known:
        return Answering(chosen, known, chosen=True, in_thread=here in rows and here != room)
    asked = _asked(signal, who, gate)
    wanted = bound(gate.bindings, asked)
    usual = wanted if wanted in known else bound([one for one in gate.bindings if one.agent in known], asked)
    gone = (
        ended.get(chosen)
        or ended.get(wanted)
        or (HeldBack(chosen, AgentState.TERMINATED, UNSET, 0) if chosen else None)
    )
    return Answering(usual, known, ended=gone)


def _asked(signal: Signal, who: Person | None, gate: Gate) -> Asked:
    room = gate.rooms.named(signal.address.whole_room)
    names = {signal.actor, who.name, who.id} if who else {signal.actor}
    role = who.role.word if who else ""
    account = room.partition("/")[0]
    return Asked(room=room, names=frozenset(names), role=role, account=account, channel=signal.address.channel)


def naming(body: Heard, agents: Iterable[Manifest]) -> tuple[str, Heard]:
    """The one of `agents` that a message names, and the message without its name. Pure."""
    match body:
        case Said(text):
            said = body
        case Commanded(name, argument) if name.lower() == ASK and argument.strip():
            text, said = f"/{ASK} {argument}", Said("")
        case _:
            return "", body
    agent, rest = named_in(text, words_of(agents)) or ("", text)
    if not agent and isinstance(body, Commanded):
        rest = body.argument.strip()
    return agent, replace(said, text=rest)


def _stay(signal: Signal, agent: str, who: Person, found: Answering, now: datetime) -> Op[None]:
    """A thread that begins with an agent's name stays with it."""
    if not signal.address.thread or (found.chosen and found.in_thread):
        return
    if not (yield SESSION_KNOWN, {"k": session_key(found.agent, signal.address)}):
        yield CHOOSE_FIRST, choice_row(signal.address, agent, who, now)


def choice_row(address: Address, agent: str, who: Person, now: datetime) -> dict[str, object]:
    return {"address": str(address), "agent": agent, "set_by": who.id, "set_at": micros(now)}


def _told_of_end(signal: Signal, gone: HeldBack, usual: str, now: datetime, new_id: NewId) -> Op[None]:
    """Each room is told once that another answers now. The choice of one that other nodes may still have stays."""
    if gone.changed_at:
        yield ENDED_HERE, {"here": str(signal.address), "room": str(signal.address.whole_room), "gone": gone.name}
    text = words.ended(gone.name, gone.reason, usual)
    yield from tell_once(signal, end_origin(gone.name, gone.changed_at, signal.address), text, now, new_id)


def end_origin(agent: str, changed_at: int, address: Address) -> str:
    """Under which a room is told of an agent's end."""
    return f"agent-ended:{agent}:{changed_at}:{address.whole_room}"
