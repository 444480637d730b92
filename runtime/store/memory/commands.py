"""`/memory` and `/forget`: what is kept, told and changed in the transaction of the command.

In a group nothing of a person is read or removed: the reader there has no person, whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, select

from runtime.chat.views import memories as views
from runtime.contract import Commanded, NewId, Person, Role, RunId, SessionKey, Signal, SignalId
from runtime.contract.memory.facts import Memory, MemoryActor, Reader, Scope, ScopeKind
from runtime.domain.approvals import Rights
from runtime.domain.memory.scopes import reach_of
from runtime.store.common import session_key
from runtime.store.intake.inbox import answered
from runtime.store.memory.accepting import accept, pin
from runtime.store.memory.forgetting import forget, forget_own
from runtime.store.memory.listed import readable
from runtime.store.memory.readers import reader_at
from runtime.store.memory.summaries import enable, summary_of, write_summary
from runtime.store.memory.why import why
from runtime.store.protocol import Gate, Taken
from runtime.store.schema import memories, turns
from runtime.store.sql.driver import Op, is_word
from runtime.text.words import count, say

LOOKED_THROUGH: Final = 200
"""Rows that a list is made of."""
MAY_NOT_CHANGE: Final = "Only people with the role user or higher can change what is kept."
FORGET_ALL: Final = "all"
FORGET_ALL_SURELY: Final = "all yes"
LAST_RUN = (
    select(turns.c.run_id)
    .where(turns.c.session == bindparam("s"), is_word(turns.c.role, "assistant"))
    .order_by(turns.c.number.desc())
    .limit(1)
)

OWN_COUNT = select(func.count()).select_from(memories).where(memories.c.reach == bindparam("reach"))


def remembered(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Carry out `/memory`."""
    argument = command.argument.strip()
    text = yield from _memory(signal, argument, _actor(signal, signal_id, who, gate), gate.rights, now)
    taken = yield from answered(signal, signal_id, text, now, new_id)
    return replace(taken, remembers=bool(argument))  # a summary may be on now, where nothing was read before


def forgetting(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Carry out `/forget`."""
    text = yield from _forget(signal, command.argument.strip(), _actor(signal, signal_id, who, gate), now)
    return (yield from answered(signal, signal_id, text, now, new_id))


def _actor(signal: Signal, signal_id: SignalId, who: Person, gate: Gate) -> MemoryActor:
    return MemoryActor(gate.agent, signal.address, who, session_key(gate.agent, signal.address), key=signal_id)


def _memory(signal: Signal, argument: str, by: MemoryActor, rights: Rights, now: datetime) -> Op[str]:
    verb, _, rest = argument.partition(" ")
    verb, rest, mark = verb.lower(), rest.strip(), signal.command_mark
    if not verb:
        reader = yield from _reader(by)
        return views.listed((yield from readable(reader, None, False, LOOKED_THROUGH, now)), reader, mark)
    if verb == "why":
        return (yield from _why(by, now))
    if verb == "summary":
        return (yield from _summary(rest, by, mark, now))
    if verb not in ("accept", "pin", "unpin") or not rest:
        return say(views.HOW_TO, mark=mark)
    if by.person is None or by.person.role < Role.USER:
        return MAY_NOT_CHANGE
    if verb == "accept":
        return _worded((yield from accept(rest, by, rights, now)), views.accepted)
    return _worded((yield from pin(rest, by, now, on=verb == "pin")), views.pinned)


def _why(by: MemoryActor, now: datetime) -> Op[str]:
    """Rows of the last run here that may be read here, and the reasons of the others."""
    rows = yield LAST_RUN, {"s": by.session or SessionKey("")}
    if not rows:
        return say(views.NO_ANSWER_YET)
    told = yield from why(RunId(rows[0][0]), by, now)
    used = [(one.memory, one.how) for one in told.used]
    return views.why(used, [(one.memory, one.reason.value) for one in told.unused], told.elsewhere)


def _worded(found: Memory | str, words: Callable[[Memory], str]) -> str:
    return found if isinstance(found, str) else words(found)


def _summary(wanted: str, by: MemoryActor, mark: str, now: datetime) -> Op[str]:
    """Tell of a person's summary, turn it on or off, or set it: in a private room of theirs alone."""
    reader, person = (yield from _reader(by)), by.person
    if reader.person is None or person is None:
        return say(views.SUMMARY_IN_PRIVATE)
    if wanted.lower() in ("on", "off"):
        yield from enable(person, by.agent, now, on=wanted.lower() == "on")
        return say(views.SUMMARY_TURNED_ON, mark=mark) if wanted.lower() == "on" else say(views.SUMMARY_TURNED_OFF)
    if len(wanted) > views.SUMMARY_MAX_CHARS:
        return say(views.SUMMARY_TOO_LONG, number=count(views.SUMMARY_MAX_CHARS))
    if wanted:
        written = yield from write_summary(person, by.agent, wanted, person, now)
        return say(views.SUMMARY_SET) if written else say(views.SUMMARY_OFF, mark=mark)
    found = yield from summary_of(person.id, by.agent)
    is_on = bool(found and found.is_enabled)
    return views.summary(found.text if found else "", is_on=is_on, mark=mark)


def _forget(signal: Signal, words: str, by: MemoryActor, now: datetime) -> Op[str]:
    mark, wanted = signal.command_mark, " ".join(words.lower().split())
    if not words:
        return say(views.HOW_TO_FORGET, mark=mark)
    if wanted not in (FORGET_ALL, FORGET_ALL_SURELY):
        return _worded_all((yield from forget(words, by, now)))
    reader = yield from _reader(by)
    if reader.person is None:
        return say(views.FORGOTTEN_IN_PRIVATE)
    if wanted == FORGET_ALL_SURELY:
        return views.all_forgotten((yield from forget_own(by, now)))
    rows = yield OWN_COUNT, {"reach": reach_of(by.agent, Scope(ScopeKind.PERSON, reader.person))}
    kept = int(rows[0][0])
    return say(views.ALL_FIRST, count=views.counted(kept), mark=mark) if kept else say(views.NOTHING_OWN)


def _worded_all(found: list[Memory] | str) -> str:
    return found if isinstance(found, str) else views.forgotten(found)


def _reader(by: MemoryActor) -> Op[Reader]:
    return (yield from reader_at(by.agent, by.room, by.person.id if by.person else None))


MEMORY_COMMANDS: Final = {"memory": remembered, "forget": forgetting}
"""Both, by name."""
