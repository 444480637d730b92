"""Statements of a plain message, from its arrival until its answer is shown, to be compiled before the first one comes.

Compiling takes half a millisecond each, which is a third of what the first answer takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Executable

from runtime.store.common import ADD_DELIVERY, LOCK_LANE, OPEN_LANE, OWNED_LANE
from runtime.store.delivery.enqueue import ADD_PART, ANSWER, ANSWERED, OPEN_HERE
from runtime.store.delivery.moves import DELIVERY, LOCK_DELIVERY, PART, SET_DELIVERY, SET_PART
from runtime.store.delivery.open_deliveries import OPEN_AT
from runtime.store.delivery.outbox import LEFT_BESIDE, SHOWN_AT
from runtime.store.intake.inbox import ADD_SIGNAL, SEEN
from runtime.store.intake.messages import TWIN
from runtime.store.intake.signals import MET, NOTE_ROOM
from runtime.store.memory.overview import ANY_KEPT
from runtime.store.runs.claims import GOING_ON, TAKE_LANE
from runtime.store.runs.run_begin import ADD_RUN, ASKER, CONSUME, LESS_WAITING, WAITING_SIGNALS
from runtime.store.runs.run_end import END_RUN, GIVE_LANE
from runtime.store.runs.steps import ADD_STEP, ADD_USAGE, OPEN_STEPS, RUN_FACTS
from runtime.store.runs.turns import ADD_TURN, TURNS_SINCE
from runtime.store.shelf.work_behind import RAN_IN

FIRST_MESSAGE: Final[Sequence[Executable]] = (
    *(SEEN, MET, NOTE_ROOM, LOCK_LANE, TWIN, OPEN_LANE, ADD_SIGNAL),
    *(TAKE_LANE, GOING_ON, WAITING_SIGNALS, ADD_RUN, CONSUME, ADD_TURN, LESS_WAITING, ASKER, TURNS_SINCE, ANY_KEPT),
    *(OWNED_LANE, RUN_FACTS, OPEN_STEPS, ADD_STEP, ADD_USAGE, END_RUN, GIVE_LANE),
    *(OPEN_HERE, ADD_DELIVERY, ADD_PART, ANSWERED, ANSWER, RAN_IN),
    *(LOCK_DELIVERY, DELIVERY, PART, LEFT_BESIDE, SET_PART, SHOWN_AT, SET_DELIVERY, OPEN_AT),
)
"""As it is taken in, begun, ended and shown."""
