"""`/children`: what is handed on for somebody in a room, read in the transaction of the command."""

from __future__ import annotations

from datetime import datetime

from runtime.chat.views.handed_on import handed_on
from runtime.contract import Commanded, NewId, Person, Signal, SignalId
from runtime.store.delegation.trees import trees_of
from runtime.store.intake.inbox import answered
from runtime.store.protocol import Gate, Taken
from runtime.store.sql.driver import Op


def children_listed(
    signal: Signal, _command: Commanded, signal_id: SignalId, who: Person, _gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """To the sender alone where that can be."""
    found = yield from trees_of(who.id, signal.address)
    text = handed_on(found, now, signal.command_mark)
    return (yield from answered(signal, signal_id, text, now, new_id))
