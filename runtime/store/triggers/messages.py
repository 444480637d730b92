"""Messages for which triggers wait: found without a statement, fired in the transaction that takes the message in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from runtime.contract import NewId, Outcome, Person, Said, Signal, Trigger
from runtime.domain.triggers.firing import Happening
from runtime.domain.triggers.matching import MessageTriggers
from runtime.domain.triggers.trigger import EventKind, EventTrigger
from runtime.store.protocol import Taken
from runtime.store.sql.driver import Op
from runtime.store.triggers.firing import fire_all

TAKEN_IN: Final = (Outcome.ACCEPTED, Outcome.OBSERVED)
"""A repeat fires nothing, nor do the same words that somebody sends twice in a moment."""
OF_PEOPLE: Final = (EventKind.WORDS,)
WITH_FILES: Final = (EventKind.WORDS, EventKind.FILE_ARRIVED)
OF_HOOKS: Final = (EventKind.WEBHOOK,)


def waited_for(signal: Signal, message: Said, triggers: MessageTriggers) -> Sequence[EventTrigger]:
    """Triggers that a message is for."""
    kinds = OF_HOOKS if signal.trigger is Trigger.HOOK else WITH_FILES if message.files else OF_PEOPLE
    thread = str(signal.address)
    room = str(signal.address.whole_room) if signal.address.thread else thread
    return triggers.found(room, thread, message.text, kinds)


def watched(
    signal: Signal, message: Said, who: Person, triggers: MessageTriggers, taken: Taken, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Fire the triggers that a message is for, once it is taken in."""
    if taken.verdict.outcome not in TAKEN_IN or not (found := waited_for(signal, message, triggers)):
        return taken
    kinds = {one.on for one in found}
    began = False
    for kind in sorted(kinds):
        event = Happening(kind, taken.verdict.signal_id, signal.address, message.text, signal.actor_name, person=who.id)
        began |= yield from fire_all([one for one in found if one.on is kind], event, now, new_id)
    return replace(taken, lane_ready=taken.lane_ready or began, fired=began)
