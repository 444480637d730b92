"""`/docs QUESTION`: the best passages of the packs that are open in a room, read in the transaction of the command."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from runtime.chat.views import documents as views
from runtime.contract import Commanded, NewId, Person, Signal, SignalId
from runtime.store.intake.inbox import answered
from runtime.store.knowledge.searching import passages
from runtime.store.protocol import Gate, Taken
from runtime.store.sql.driver import Op
from runtime.text.words import say


def searched(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Search the documents, and answer whoever asks: alone where that can be."""
    text = yield from _found(signal, command.argument.strip(), gate)
    return (yield from answered(signal, signal_id, text, now, new_id))


def _found(signal: Signal, question: str, gate: Gate) -> Op[str]:
    packs = gate.packs(gate.agent, signal.address)
    if not packs:
        return say(views.NO_PACKS)
    if not question:
        return views.how_to(packs, signal.command_mark)
    return views.passages((yield from passages(question, packs, views.PASSAGES_MAX)))


DOCS_COMMANDS: Final = {"docs": searched}
"""By name."""
