"""Carries out `/model`: the model of a conversation, by its name or as usual."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select, update

from runtime.chat import models as words
from runtime.contract import Commanded, Person, Role, Signal
from runtime.store.common import fact, session_key
from runtime.store.protocol import Gate
from runtime.store.schema import sessions
from runtime.store.sql.driver import Op
from runtime.text.words import say

CHOSEN = select(sessions.c.model).where(sessions.c.key == bindparam("k"))
CHOOSE = (
    update(sessions).where(sessions.c.key == bindparam("k")).values(model=bindparam("chosen")).returning(sessions.c.key)
)


def modelled(signal: Signal, command: Commanded, who: Person, gate: Gate, now: datetime) -> Op[tuple[str, bool]]:
    """Answer to `/model`, and whether everybody in the room is to read it."""
    key, wanted, mark = session_key(gate.agent, signal.address), command.argument.strip(), signal.command_mark
    if not wanted:
        rows = yield CHOSEN, {"k": key}
        return words.told(gate.model, rows[0][0] if rows else "", gate.models, mark), False
    if who.role < Role.OPERATOR:
        return say(words.FOR_OPERATORS), False
    if wanted not in (words.DEFAULT, *gate.models):
        return words.unknown(gate.models, mark), False
    chosen = "" if wanted == words.DEFAULT else wanted
    if not (yield CHOOSE, {"k": key, "chosen": chosen}):
        return say(words.NOTHING_SAID), False
    yield from fact(now, "model chosen", who.name, str(signal.address), wanted)
    return words.chosen(who.name, chosen, gate.model), True
